"""The gate over several evaluations at once: what a session or a command line exits by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.words import Outcome, Severity
from pytest_reflex.verdict.figures import plain, shown_score


class GateStatus(StrEnum):
    """What a gate came to; only `passed` passes, and `partial` alone is not enforced."""

    PASSED = "passed"
    PARTIAL = "partial"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    ERROR = "error"


_MILD_TO_GRAVE = tuple(GateStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An evaluation as a gate takes it; `excused` are rules that were left out on purpose."""

    evaluation: Evaluation
    excused: frozenset[str] = frozenset()

    @property
    def status(self) -> GateStatus:
        if self.evaluation.passed:
            return GateStatus.PASSED
        if self.excused:
            return self._partial()
        return GateStatus.FAILED if self.evaluation.complete else GateStatus.INCOMPLETE

    def _partial(self) -> GateStatus:
        """What was measured still counts: a blocker blocks, a lost rule is a lost rule."""
        rows = [row for row in self.evaluation.results if row.rule.id not in self.excused]
        if any(_blocks(row) for row in rows):
            return GateStatus.FAILED
        lost = any(row.outcome is Outcome.NOT_MEASURED for row in rows)
        return GateStatus.INCOMPLETE if lost else GateStatus.PARTIAL

    @property
    def reason(self) -> str:
        """Why it did not pass, in one line; "" where it did."""
        words = {
            GateStatus.PASSED: lambda: "",
            GateStatus.PARTIAL: lambda: f"{len(self.excused)} rules were deselected",
            GateStatus.INCOMPLETE: lambda: incomplete_reason(self.evaluation),
            GateStatus.FAILED: lambda: failed_reason(self.evaluation),
        }[self.status]()
        return f"{self.evaluation.artifact}: {words}" if words else ""


def _blocks(row: RuleResult) -> bool:
    judged = row.outcome in (Outcome.FAIL, Outcome.ERROR)
    return judged and row.rule.severity is Severity.FAIL


def incomplete_reason(evaluation: Evaluation) -> str:
    reported = sum(row.outcome is not Outcome.NOT_MEASURED for row in evaluation.results)
    return f"only {reported} of {len(evaluation.results)} rules were measured"


def failed_reason(evaluation: Evaluation) -> str:
    """Return why a complete evaluation did not pass: blockers, score, or what made it unsound."""
    found = [evaluation.unsound] if evaluation.unsound else []
    if evaluation.failed:
        found.append("blocked by " + ", ".join(row.rule.id for row in evaluation.failed))
    if evaluation.score < evaluation.threshold:
        score = shown_score(evaluation.score, evaluation.threshold)
        found.append(f"score {score} is below {plain(evaluation.threshold)}")
    return "; ".join(found) or "no rule is active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The decision over everything that was judged, and why."""

    status: GateStatus
    reasons: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.status is GateStatus.PASSED

    @property
    def blocks(self) -> bool:
        """Whether whoever asked must be told by an exit status."""
        return self.status not in (GateStatus.PASSED, GateStatus.PARTIAL)


def gate_over(judged: Sequence[Judged], problems: Iterable[object] = ()) -> Gate:
    """Return the gate that needs every evaluation; a problem is something that kept one away."""
    reasons = [*(str(problem) for problem in problems)]
    statuses = [GateStatus.ERROR] if reasons else []
    statuses += [one.status for one in judged]
    reasons += [one.reason for one in judged if one.reason]
    status = max(statuses, key=_MILD_TO_GRAVE.index, default=GateStatus.ERROR)
    return Gate(status=status, reasons=tuple(reasons or ([] if statuses else ["nothing judged"])))
