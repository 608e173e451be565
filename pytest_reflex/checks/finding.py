"""What a structure check found wrong and where, and the result that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_reflex.errors import ArtifactError, Place
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult, PlacedFinding

SHOWN = 5
MOST_FINDINGS = 100
"""Findings of one check that are kept with their places; the rest is counted."""
LONGEST_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem in one line; `line` and `column` are 1-based, 0 where there is no place.

    `pointer` is the JSON Pointer of a value in data. `file` is the one of a folder that it is in.
    `pattern` is the pattern that the message is about; it is no part of the message.
    """

    message: str
    line: int = 0
    column: int = 0
    pointer: str = ""
    file: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a judge saw: problems, or none and a `summary` of what was looked at.

    `unmeasured` says why nothing could be judged at all; the outcome is then not_measured.
    `reading` is what the artifact could not be read as ("YAML"), where the findings, or
    `unmeasured`, say that of it: every check that has to read it so reports the same. `needs` is
    the distribution that is not installed, where that is why nothing could be judged.
    """

    findings: Sequence[Finding] = ()
    summary: str = ""
    unmeasured: str = ""
    reading: str = ""
    needs: str = ""

    def without_verdict(self) -> Report:
        """Return it as not measured: another check fails where the artifact cannot be read."""
        return replace(self, unmeasured=self.unmeasured or self.findings[0].message)


def result_of(report: Report, artifact: Artifact, expected: str = "") -> CheckResult:
    """Return the outcome: fail where something was found, the first place as the location."""
    findings = report.findings
    if not findings and not report.unmeasured:
        return CheckResult(outcome=Outcome.PASS, message=_cut(report.summary), expected=expected)
    result = CheckResult(
        outcome=Outcome.NOT_MEASURED if report.unmeasured else Outcome.FAIL,
        message=report.unmeasured or _cut(findings[0].message) + format_more(findings),
        expected=expected,
        cause=f"{artifact.name} as {report.reading}" if report.reading else "",
        needs=report.needs,
    )
    if not findings or (report.unmeasured and not report.reading):
        return result
    first = next((found for found in findings if found.line or found.file), findings[0])
    return replace(
        result,
        pattern=findings[0].pattern,
        evidence=format_findings(findings),
        location=_place(first, artifact),
        **locate_findings(findings, artifact),
    )


def missing_extra(module: str) -> Report | None:
    """Return the report where a part of an extra is not installed; None where it is."""
    from pytest_reflex.model.extras import distribution_of, install_hint

    why = install_hint(module)
    return Report(unmeasured=why, needs=distribution_of(module)) if why else None


def unread(error: Exception, artifact: Artifact) -> CheckResult:
    """Return the result of a check that could not read the artifact, or could not judge it."""
    cause = ""
    findings: tuple[PlacedFinding, ...] = ()
    if isinstance(error, ArtifactError) and error.reading:
        cause = f"{error.file or artifact.name} as {error.reading}"
        findings = (PlacedFinding(message=str(error)),)
    return CheckResult(outcome=Outcome.ERROR, message=str(error), findings=findings, cause=cause)


def locate_findings(findings: Sequence[Finding], artifact: Artifact) -> dict[str, Any]:
    """Return the findings with their places, for a result, and how many more there are."""
    kept = tuple(
        PlacedFinding(
            message=_cut(found.message),
            location=_place(found, artifact) if found.line or found.file else None,
            pointer=found.pointer,
            pattern=found.pattern,
        )
        for found in findings[:MOST_FINDINGS]
    )
    return {"findings": kept, "more_findings": len(findings) - len(kept)}


def format_more(findings: Sequence[Finding]) -> str:
    """Return how a message about the first of some findings ends."""
    return f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""


def _place(found: Finding, artifact: Artifact) -> Place:
    path = f"{artifact.name}/{found.file}" if found.file else artifact.name
    return Place(path, found.line, found.column)


def format_findings(findings: Sequence[Finding]) -> str:
    """Return the first findings, a line each."""
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
