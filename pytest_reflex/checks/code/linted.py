"""`bugs`, `errors`, `logging`, `conventions`, `input`: what ruff finds, by its own rule codes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from pytest_reflex.checks.code.doubtful import is_fault
from pytest_reflex.checks.code.sources import CodeInput, CodeReport, SourceFile, SourceFinding
from pytest_reflex.checks.code.tool import (
    ToolError,
    copy_sources,
    module_command,
    run_module,
)
from pytest_reflex.checks.finding import Finding, missing_extra
from pytest_reflex.model.extras import install_hint
from pytest_reflex.model.targets import CheckCommand, CheckContext
from pytest_reflex.process.run import Finished

SELECTED: dict[str, tuple[str, ...]] = {
    "bugs": (
        *("E9", "F", "PLE", "B002", "B003", "B005", "B006", "B012", "B014", "B015", "B016", "B018"),
        *("B021", "B023", "B025", "B029", "B030", "B031", "B032", "B033", "B035"),
        *("PLW0127", "PLW0128", "PLW0129", "PLW0131", "PLW0133", "PLW0711"),
        *("SIM220", "SIM221", "SIM222", "SIM223"),
    ),
    "errors": ("E722", "BLE001", "S110", "S112", "B904", "SIM115", "TRY002", "TRY203"),
    "logging": ("LOG", "G", "T20"),
    "conventions": ("E4", "E5", "E7", "W", "N", "F401", "F403", "F541", "F841"),
    "input": (
        *("S101", "S102", "S301", "S302", "S307", "S313", "S314", "S315", "S316", "S317", "S318"),
        *("S319", "S506", "S602", "S604", "S605", "S608", "S609", "S701", "S702"),
    ),
}
"""The rules of ruff that each aspect stands for."""

_ELSEWHERE = {
    "bugs": frozenset(
        {
            *("F401", "F403", "F541", "F841"),
            *("F405", "PLE0309", "PLE0605", "PLE0704", "PLE2502", "PLE2515"),
        }
    ),
    "conventions": frozenset({"N999"}),
}
"""Rules that a prefix brings along: another aspect has them, what they find in well-kept packages
is mostly right, or the name is not the user's.
"""

_AS_JSON = (
    *("check", "--isolated", "--no-cache", "--no-respect-gitignore", "--quiet"),
    *("--output-format", "json"),
)
_GIVEN = '["get_ipython", "reveal_type"]'
"""Names that a shell or a type checker gives."""

_NEWEST = ("py315", "py314", "py313")
_SHELLS, _CONSTANT = frozenset({"S602", "S604", "S605"}), "seems safe"
_IN_TESTS = frozenset({"S101", "T201", "T203"})
_IN_PROGRAMS = frozenset({"T201", "T203", "LOG015"})


def command(params: Mapping[str, Any]) -> CheckCommand:
    """Return what is started for the settled parameters of a check."""
    return module_command("ruff", _arguments(params), params)


def _arguments(params: Mapping[str, Any]) -> list[str]:
    length, selected = params["line_length"], ",".join(SELECTED[params["aspect"]])
    config = ["--config", f"line-length={length}", "--config", f"builtins={_GIVEN}"]
    return [*_AS_JSON, *config, "--select", selected, "."]


def judge(reading: CodeInput, context: CheckContext) -> CodeReport:
    """Find what ruff finds by the rules of the aspect, without any configuration of its own."""
    if lack := missing_extra("ruff"):
        return CodeReport(unmeasured=lack.unmeasured, needs=lack.needs)
    aspect = reading.params["aspect"]
    try:
        with copy_sources(reading) as folder:
            finished = run_module("ruff", _arguments(reading.params), reading, context, folder)
            entries = _entries(finished)
            found = list(_read(entries, str(folder.resolve()), reading, aspect))
    except ToolError as error:
        return CodeReport(problem=str(error))
    return CodeReport(found, f"ruff finds nothing ({aspect})")


def newer(reading: CodeInput, context: CheckContext) -> frozenset[str]:
    """Return the names of the files that the newest Python can read; none where ruff cannot say."""
    if install_hint("ruff"):
        return frozenset()
    try:
        with copy_sources(reading) as folder:
            for version in _NEWEST:
                arguments = [*_AS_JSON, "--select", "E9", "--target-version", version, "."]
                finished = run_module("ruff", arguments, reading, context, folder)
                if finished.returncode in (0, 1):
                    root = folder.resolve()
                    broken = {PurePath(e["filename"]) for e in _entries(finished)}
                    names = (s.name for s in reading.sources if root / s.name not in broken)
                    return frozenset(names)
    except ToolError:
        pass
    return frozenset()


def _entries(finished: Finished) -> list[dict[str, Any]]:
    """Return what ruff reports; raises ToolError where it has not done its work.

    A Python that cannot start it ends with status 1 too, but reports nothing.
    """
    said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    code = finished.returncode
    if code not in (0, 1):
        raise ToolError(f"ruff could not check it: {said[0] if said else 'no reason given'}")
    try:
        entries: list[dict[str, Any]] = json.loads(finished.stdout) if finished.stdout else []
    except ValueError:
        raise ToolError("ruff could not check it: what it wrote is not JSON") from None
    if bool(entries) != bool(code) or not finished.stdout:
        why = said[-1] if said else "it gives no report"
        raise ToolError(f"ruff could not check it: exit status {code}, {why}")
    return entries


def _read(
    entries: list[dict[str, Any]], folder: str, reading: CodeInput, aspect: str
) -> Iterator[SourceFinding]:
    by_name = {source.name: source for source in reading.sources}
    for entry in entries:
        path = PurePath(entry["filename"])
        name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
        source = by_name.get(name)
        code = entry.get("code") or "syntax"
        place = entry.get("location") or {}
        if source is None or code in _ELSEWHERE.get(aspect, ()):
            continue
        line, column = place.get("row", 0), place.get("column", 0)
        if _is_allowed(code, source, (line, column)):
            continue
        if code in _SHELLS and _CONSTANT in entry["message"]:
            continue  # nothing from outside comes into it
        finding = Finding(f"{entry['message']} ({code})", line, column)
        yield source.locate(finding)


def _is_allowed(code: str, source: SourceFile, place: tuple[int, int]) -> bool:
    """Tests assert, and programs talk."""
    if source.is_test and code in _IN_TESTS:
        return True
    return (source.is_program and code in _IN_PROGRAMS) or not is_fault(code, source, place)
