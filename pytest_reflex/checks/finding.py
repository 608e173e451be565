"""What a structure check found wrong and where, and the result that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.words import Outcome

SHOWN = 5
LONGEST_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault in one line; `line` and `column` are 1-based, 0 where there is no place.

    `file` is the one of a folder that it is in.
    """

    message: str
    line: int = 0
    column: int = 0
    file: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a judge saw: faults, or none and a `summary` of what was looked at.

    `unmeasured` says why nothing could be judged at all; the outcome is then not_measured.
    """

    findings: Sequence[Finding] = ()
    summary: str = ""
    unmeasured: str = ""


def result_of(report: Report, artifact: Artifact, expected: str = "") -> CheckResult:
    """Return the outcome: fail where something was found, the first place as the location."""
    if report.unmeasured:
        return CheckResult(
            outcome=Outcome.NOT_MEASURED, message=report.unmeasured, expected=expected
        )
    if not report.findings:
        return CheckResult(outcome=Outcome.PASS, message=_cut(report.summary), expected=expected)
    placed = (found for found in report.findings if found.line or found.file)
    first = next(placed, report.findings[0])
    more = len(report.findings) - 1
    return CheckResult(
        outcome=Outcome.FAIL,
        message=_cut(report.findings[0].message) + (f" (and {more} more)" if more else ""),
        expected=expected,
        evidence=_listed(report.findings),
        location=_place(first, artifact),
    )


def _place(found: Finding, artifact: Artifact) -> Place:
    path = f"{artifact.name}/{found.file}" if found.file else artifact.name
    return Place(path, found.line, found.column)


def _listed(findings: Sequence[Finding]) -> str:
    lines = [
        (f"{found.file}: " if found.file else "")
        + (f"line {found.line}: " if found.line else "")
        + _cut(found.message)
        for found in findings[:SHOWN]
    ]
    if len(findings) > SHOWN:
        lines.append(f"... {len(findings) - SHOWN} more")
    return "\n".join(lines)


def _cut(message: str) -> str:
    return one_line(" ".join(message.split()), LONGEST_MESSAGE)
