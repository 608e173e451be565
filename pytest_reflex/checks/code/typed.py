"""`types`: what mypy finds, without any configuration and without installed packages.

What mypy learns about the standard library is kept as long as this process lives, in a folder that
no other process writes to: a run of 1.3 seconds takes a fifth of it then.
"""

from __future__ import annotations

import ast
import atexit
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from threading import Lock
from typing import Any

from pytest_reflex.checks.code.sources import CodeInput, CodeReport, SourceFinding
from pytest_reflex.checks.code.tool import (
    ToolError,
    copy_sources,
    module_command,
    run_module,
)
from pytest_reflex.checks.finding import Finding, missing_extra
from pytest_reflex.model.json_fault import json_object
from pytest_reflex.model.targets import CheckCommand, CheckContext
from pytest_reflex.process.guard import make_folder, remove_folder

_OPTIONS = (
    *("--config-file=", "--output=json"),
    *("--no-site-packages", "--ignore-missing-imports", "--explicit-package-bases"),
    *("--namespace-packages", "--check-untyped-defs", "--no-error-summary"),
)


_PACKAGE = "around"
_MOST_LEVELS = 20
_ANYTHING = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"

_ALONE = Lock()
"""Two runs of mypy do not share a cache at the same time."""


def command(params: Mapping[str, Any]) -> CheckCommand:
    """Return what is started for the settled parameters of a check."""
    arguments = _arguments("<a folder of this process>", ["<the files>"])
    return module_command("mypy", arguments, params, environment=["MYPYPATH"])


def _arguments(cache: str, files: Sequence[str]) -> list[str]:
    return [*_OPTIONS, "--cache-dir", cache, "--", *files]


def judge(reading: CodeInput, context: CheckContext) -> CodeReport:
    """Find values that do not have the type that the code says; imports from outside are Any."""
    if lack := missing_extra("mypy"):
        return CodeReport(unmeasured=lack.unmeasured, needs=lack.needs)
    reading = _as_module(reading)
    below = _below(reading)
    files = [below + source.name for source in reading.sources]
    try:
        with copy_sources(reading, below) as folder:
            _make_packages(folder, below)
            environment = {"MYPYPATH": str(folder)}
            with _ALONE, _whole_cache() as cache:
                arguments = _arguments(str(cache), files)
                finished = run_module("mypy", arguments, reading, context, folder, environment)
            errors = [one for one in _entries(finished.stdout) if one.get("severity") == "error"]
            found = list(_read(errors, reading, below))
            # A Python that cannot start it ends with status 1 too, but reports nothing.
            judged = finished.returncode in ((0, 1) if errors else (0,))
            if not judged and not found:
                said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
                raise ToolError(
                    f"mypy could not check it: {said[-1] if said else 'no reason given'}"
                )
    except ToolError as error:
        return CodeReport(problem=str(error))
    return CodeReport(found, "mypy finds nothing")


@cache
def _learnt() -> Path:
    folder = make_folder("reflex-mypy-")
    atexit.register(remove_folder, folder)
    return folder


@contextmanager
def _whole_cache() -> Iterator[Path]:
    """Yield the cache folder of mypy; it is removed where a run was cut short."""
    folder = _learnt()
    try:
        yield folder
    except BaseException:
        _learnt.cache_clear()
        remove_folder(folder)
        raise


def _entries(output: bytes) -> Iterator[dict[str, Any]]:
    for line in output.decode("utf-8", "replace").split("\n"):
        entry = json_object(line)
        if entry is not None:  # else a word of mypy about itself
            yield entry


def _as_module(reading: CodeInput) -> CodeInput:
    """Return the reading; what a package says alone, its other modules left out, as a module."""
    if reading.artifact.is_folder or reading.sources[0].name != "__init__.py":
        return reading
    return replace(reading, sources=(replace(reading.sources[0], name=_PACKAGE + ".py"),))


def _below(reading: CodeInput) -> str:
    """Return the packages, as folders, that the files lie in by what they import."""
    missing_levels = max(
        (
            node.level - source.name.count("/")
            for source in reading.sources
            if source.tree
            for node in ast.walk(source.tree)
            if isinstance(node, ast.ImportFrom)
        ),
        default=0,
    )
    levels = max(missing_levels, _hides_a_library(reading))
    return f"{_PACKAGE}/" * min(levels, _MOST_LEVELS)


def _hides_a_library(reading: CodeInput) -> bool:
    """Return whether modules of a package, at the top, would stand for those of Python itself.

    What imports `types` means Python's, though a file of this name lies beside it in the package.
    """
    names = {PurePath(source.name).stem for source in reading.sources if "/" not in source.name}
    is_of_package = not reading.artifact.is_folder or "__init__" in names
    return is_of_package and not names.isdisjoint(sys.stdlib_module_names)


def _make_packages(folder: Path, below: str) -> None:
    """Make packages of these folders, of which everything may be imported, where they are none."""
    path = folder
    for name in filter(None, below.split("/")):
        path = path / name
        if not any((path / f"__init__{ending}").exists() for ending in (".py", ".pyi")):
            (path / "__init__.pyi").write_text(_ANYTHING)


def _read(
    errors: Sequence[Mapping[str, Any]], reading: CodeInput, below: str
) -> Iterator[SourceFinding]:
    by_name = {below + source.name: source for source in reading.sources}
    for entry in errors:
        source = by_name.get(entry.get("file", ""))
        if source is not None:
            column = entry["column"] + 1 if entry.get("column", -1) >= 0 else 0
            message = f"{entry['message']} ({entry.get('code') or 'mypy'})"
            yield source.locate(Finding(message, max(entry.get("line", 0), 0), column))
