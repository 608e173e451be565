"""`tests`: the tests in a folder pass, by a pytest of their own; a single file has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.checks.code.sources import Found, Reading, Seen
from pytest_reflex.checks.code.tool import ToolError, module_command, run_module
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckCommand, CheckContext

_PASSED, _FAILED, _INTERRUPTED, _NONE = 0, 1, 2, 5
# Our own plugin would collect the suite that runs this very check.
_ARGUMENTS = (
    *("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:pytest_reflex", "--tb=line"),
    ".",
)


def command(params: Mapping[str, Any]) -> CheckCommand:
    """Return what is started for the settled parameters of a check, where a folder has tests."""
    cwd = "<the folder of the artifact>"
    return module_command("pytest", _ARGUMENTS, params, cwd=cwd, runs_artifact=True)


def judge(reading: Reading, context: CheckContext) -> Seen:
    """Find tests that fail; where there are none, nothing is found."""
    tests = [source for source in reading.sources if source.is_test]
    artifact = reading.artifact
    if not artifact.is_folder or not tests:
        return Seen(summary="there are no tests in it")
    try:
        finished = run_module("pytest", _ARGUMENTS, reading, context, artifact.path)
    except ToolError as error:
        return Seen(trouble=str(error))
    lines = finished.stdout.decode("utf-8", "replace").strip().splitlines()
    last = lines[-1].strip("= ") if lines else ""
    if finished.returncode == _PASSED:
        return Seen(summary=last)
    if finished.returncode in (_FAILED, _INTERRUPTED):
        named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return Seen([_told(line) for line in named] or [tests[0].told(Finding(last))])
    if finished.returncode == _NONE:
        return Seen([tests[0].told(Finding("pytest collects no test in it"))])
    return Seen(trouble=f"pytest could not judge: exit status {finished.returncode}")


def _told(line: str) -> Found:
    """Return a line of pytest's summary as a finding of the file that it names."""
    _, _, rest = line.partition(" ")
    file, _, name = rest.partition("::")
    return Found(file.partition(" - ")[0], Finding(name or rest))
