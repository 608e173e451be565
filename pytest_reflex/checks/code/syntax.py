"""`compiles`: every Python file compiles, and there is something in it."""

from __future__ import annotations

from pytest_reflex.checks.code.sources import CodeInput, CodeReport
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckContext


def judge(reading: CodeInput, context: CheckContext) -> CodeReport:
    """Find an artifact without a statement; what does not compile is reported before."""
    if not any(source.tree and source.tree.body for source in reading.sources):
        return CodeReport([reading.sources[0].locate(Finding("there is no statement in it", 1))])
    count = len(reading.sources)
    return CodeReport(summary=f"{count} Python files compile" if count > 1 else "it compiles")
