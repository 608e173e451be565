"""The gate over several evaluations at once: what a session or a command line exits by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_reflex.errors import Problem
from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.plain import pluralize
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.verdict.formatting import format_score, plain


class GateStatus(StrEnum):
    """What a gate came to; only `passed` passes, and `partial` alone is not enforced."""

    PASSED = "passed"
    PARTIAL = "partial"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    ERROR = "error"


_MILD_TO_GRAVE = tuple(GateStatus)


class NotRunCause(StrEnum):
    """What kept an expected check from reporting."""

    DESELECTED = "deselected"
    SKIPPED = "skipped"
    LOST = "the worker died while it ran"
    CUT_OFF = "the session ended before it reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A check that was expected and did not report, and why."""

    node_id: str
    target_id: str
    rule_id: str
    cause: NotRunCause
    reason: str

    def to_json(self) -> dict[str, str]:
        return {"check": self.node_id, "rule": self.rule_id, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTarget:
    """An evaluation as a gate takes it; `id` is the node id of its target in a pytest session.

    `narrowed` says why it may not know all its rules. `partial` is True where what was left out on
    purpose is excused; `excused` are the rules that this concerns.
    """

    evaluation: Evaluation
    id: str = ""
    narrowed: str = ""
    partial: bool = False
    excused: frozenset[str] = frozenset()

    @property
    def status(self) -> GateStatus:
        if self.evaluation.passed:
            return GateStatus.PASSED
        if self.partial:
            return self._partial()
        known = self.evaluation.complete and not self.narrowed
        return GateStatus.FAILED if known else GateStatus.INCOMPLETE

    def _partial(self) -> GateStatus:
        """What was measured still counts: a blocker blocks, a lost rule is a lost rule."""
        rows = [row for row in self.evaluation.results if row.rule.id not in self.excused]
        if self.blockers:
            return GateStatus.FAILED
        lost = any(row.outcome is Outcome.NOT_MEASURED and not row.same_cause for row in rows)
        return GateStatus.INCOMPLETE if lost else GateStatus.PARTIAL

    @property
    def blockers(self) -> tuple[RuleResult, ...]:
        """The rules of severity fail that were judged and did not pass."""
        return tuple(row for row in self.evaluation.results if _blocks(row))

    @property
    def reason(self) -> str:
        """Why it did not pass, in one line; "" where it did."""
        match self.status:
            case GateStatus.PASSED:
                return ""
            case GateStatus.PARTIAL:
                words = self.narrowed or f"{pluralize(len(self.excused), 'rule')} deselected"
            case GateStatus.INCOMPLETE:
                words = incomplete_reason(self)
            case _ if self.partial:
                words = _format_failed(self.blockers)
            case _:
                words = failure_reason(self.evaluation)
        return f"{self.evaluation.artifact}: {words}"


def _blocks(row: RuleResult) -> bool:
    judged = row.outcome in (Outcome.FAIL, Outcome.ERROR)
    return judged and row.rule.severity is Severity.FAIL


def _format_failed(rows: Iterable[RuleResult]) -> str:
    return "failed rules: " + ", ".join(row.rule.id for row in rows)


def incomplete_reason(judged: JudgedTarget) -> str:
    """Return what is missing, and what blocks already."""
    rows = judged.evaluation.applicable
    reported = sum(row.outcome is not Outcome.NOT_MEASURED for row in rows)
    if reported < len(rows):
        found = [f"only {reported} of {len(rows)} rules were measured"]
    else:
        found = [judged.narrowed or judged.evaluation.unsound]
    return "; ".join(found + ([_format_failed(judged.blockers)] if judged.blockers else []))


def failure_reason(evaluation: Evaluation) -> str:
    """Return why a complete evaluation did not pass: what made it unsound, blockers, score."""
    found = [evaluation.unsound] if evaluation.unsound else []
    if blockers := evaluation.blockers:
        found.append(_format_failed(blockers))
    if evaluation.score < evaluation.threshold:
        score = format_score(evaluation.score)
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
        """Whether the exit status has to be non-zero."""
        return self.status not in (GateStatus.PASSED, GateStatus.PARTIAL)


def gate_over(
    judged: Sequence[JudgedTarget], problems: Iterable[object] = (), unread: Iterable[str] = ()
) -> Gate:
    """Return the gate that needs every evaluation.

    A problem is something that kept an evaluation away; `unread` names files whose rules are not
    even known.
    """
    reasons = [*(str(problem) for problem in problems)]
    statuses = [GateStatus.ERROR] if reasons else []
    statuses += [one.status for one in judged]
    reasons += [one.reason for one in judged if one.reason]
    if unread := tuple(unread):
        statuses.append(GateStatus.INCOMPLETE)
        reasons += unread
    status = max(statuses, key=_MILD_TO_GRAVE.index, default=GateStatus.ERROR)
    return Gate(
        status=status, reasons=tuple(reasons or ([] if statuses else ["nothing evaluated"]))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionVerdict:
    """Everything that a report of a session says: evaluations, gate, what did not run, problems."""

    judged: tuple[JudgedTarget, ...]
    gate: Gate
    exit_status: int
    not_run: tuple[NotRun, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def concerned(self) -> bool:
        """Whether there is anything to report: something was evaluated, or kept from it."""
        known = self.judged or self.problems or self.unread
        return bool(known) or self.gate.status is GateStatus.ERROR
