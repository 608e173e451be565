"""`tests`: the tests in a folder pass, by a pytest of their own; a single file has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_reflex.checks.code.sources import CodeInput, CodeReport, SourceFinding
from pytest_reflex.checks.code.tool import ToolError, python_command, run_tool
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckCommand, CheckContext
from pytest_reflex.process.guard import temporary_folder

_PASSED, _FAILED, _INTERRUPTED, _NONE = 0, 1, 2, 5
# Byte code that lies in the artifact may be of another text of one size and second. The prefix
# looks past it; it is set behind pytest's own imports, whose byte code is good and saves a second.
_START = "import sys, pytest; sys.pycache_prefix = sys.argv.pop(1); sys.exit(pytest.main())"
_TIME = re.compile(r" in \d[\d.]*s( \([\d:]+\))?$")
"""What differs between two runs of the same tests."""
# Our own plugin would collect the suite that runs this very check.
_ARGUMENTS = (
    *("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:pytest_reflex", "--tb=line"),
    ".",
)


def command(params: Mapping[str, Any]) -> CheckCommand:
    """Return what is started for the settled parameters of a check, where a folder has tests."""
    return _command(params, "<an empty folder>")


def _command(params: Mapping[str, Any], byte_code: str) -> CheckCommand:
    arguments = ("-c", _START, byte_code, *_ARGUMENTS)
    return python_command(arguments, params, cwd="<the folder of the artifact>", runs_artifact=True)


def judge(reading: CodeInput, context: CheckContext) -> CodeReport:
    """Find tests that fail; where there are none, nothing is found."""
    tests = [source for source in reading.sources if source.is_test]
    artifact = reading.artifact
    if not artifact.is_folder or not tests:
        return CodeReport(summary="there are no tests in it")
    try:
        with temporary_folder("reflex-code-") as empty:
            command = _command(reading.params, str(empty))
            finished = run_tool("pytest", command, context, artifact.path)
    except ToolError as error:
        return CodeReport(problem=str(error))
    lines = finished.stdout.decode("utf-8", "replace").strip().splitlines()
    last = _TIME.sub("", lines[-1].strip("= ")) if lines else ""
    if finished.returncode == _PASSED:
        return CodeReport(summary=last)
    if finished.returncode in (_FAILED, _INTERRUPTED):
        named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return CodeReport(
            [_parse_failure(line) for line in named] or [tests[0].locate(Finding(last))]
        )
    if finished.returncode == _NONE:
        return CodeReport([tests[0].locate(Finding("pytest collects no test in it"))])
    return CodeReport(problem=f"pytest could not check it: exit status {finished.returncode}")


def _parse_failure(line: str) -> SourceFinding:
    """Return a line of pytest's summary as a finding of the file that it names."""
    _, _, rest = line.partition(" ")
    file, _, name = rest.partition("::")
    return SourceFinding(file.partition(" - ")[0], Finding(name or rest))
