"""From results as they come in to evaluations of every expected check.

Given its gate, a status of 0 may become 1, never the reverse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.session import marks
from pytest_reflex.session.items import first_line, skip_reason
from pytest_reflex.session.marks import SESSION
from pytest_reflex.session.plan import PlannedTarget, SessionPlan
from pytest_reflex.session.results import ReportedResult, worse
from pytest_reflex.verdict.gate import Gate, JudgedTarget, NotRun, NotRunCause
from pytest_reflex.verdict.score import judge

CRASHED = "???"  # the phase of the report that xdist makes for the item a dead worker was at

Key = tuple[str, str, int]  # target, rule, number of the check


class ResultTally:
    """What has been reported, by node id and by the check that it was reported for.

    `digests` are the digests under which each target's artifact was read: more than one means that
    it changed. By node id: `lost`, items at which a worker died; `skipped`, with the reason.
    """

    def __init__(self) -> None:
        self.results: dict[str, dict[Key, CheckResult]] = defaultdict(dict)
        self.digests: dict[str, set[str]] = defaultdict(set)
        self.lost: set[str] = set()
        self.skipped: dict[str, str] = {}

    def result(self, node_id: str, target: str, rule: str, index: int) -> CheckResult | None:
        """Return what an item reported, if it is the one that this check was expected of."""
        return self.results.get(node_id, {}).get((target, rule, index))

    def add(self, report: Any, found: ReportedResult | None) -> None:
        """Take in one report and the result that was recorded for it; reruns do not count."""
        if report.outcome == "rerun":
            return
        if report.when == CRASHED:
            self.lost |= {report.nodeid, report.nodeid.rpartition("@")[0]}  # "@" as xdist groups
        if report.skipped and (found is None or found.result.outcome is Outcome.PASS):
            self.skipped[found.node_id if found else report.nodeid] = skip_reason(report)
            return
        if found is None:
            return
        if found.target == SESSION and found.result.outcome is Outcome.NOT_MEASURED:
            self.skipped[found.node_id] = found.result.message
            return
        results, key = self.results[found.node_id], (found.target, found.rule, found.index)
        results[key] = worse(results.get(key), _final(report, found.result))
        self.digests[found.target].add(found.sha256)


def _final(report: Any, result: CheckResult) -> CheckResult:
    """Return the result of a report, unless its final outcome is worse."""
    if not report.failed:
        return result
    if report.when != "call":
        message = f"error in {report.when}: {first_line(report)}"
        return CheckResult(outcome=Outcome.ERROR, message=message)
    if result.outcome is Outcome.PASS:
        return CheckResult(
            outcome=Outcome.FAIL, message=first_line(report), duration=result.duration
        )
    return result


_QUIET = (Outcome.PASS, Outcome.NOT_APPLICABLE)
CHANGED = "the artifact changed during the evaluation"

_OPEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_OF_COLLECTION = (*_OPEN, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTarget:
    """One target with the node id of each of its checks."""

    id: str
    planned: PlannedTarget
    checks: dict[str, tuple[str, int]]


def expected_targets(plan: SessionPlan, root: Path) -> Iterator[ExpectedTarget]:
    """Yield all targets of a plan; the marked tests together are the last one."""
    for target_id, planned in plan.targets.items():
        yield ExpectedTarget(
            id=target_id, planned=planned, checks=dict(planned.check_ids(target_id))
        )
    if plan.marked:
        target = marks.session_target(plan.marked, root)
        planned = PlannedTarget(target, marks.digest_of_tests(plan.marked, root))
        yield ExpectedTarget(
            id=marks.SESSION, planned=planned, checks=marks.number_checks(plan.marked)
        )


def conclude(
    one: ExpectedTarget, plan: SessionPlan, tally: ResultTally, *, partial: bool
) -> Conclusion:
    """Judge one target by what was reported; what was not is named with its reason.

    With `partial`, rules that did not run because they were deselected are excused. The artifact is
    read again: a verdict on bytes that are no longer there must not pass.
    """
    artifact = _read_again(one)
    changed = _has_changed(one, tally, artifact)
    results: dict[tuple[str, int], CheckResult] = {}
    missing: list[NotRun] = []
    for node_id, (rule_id, index) in one.checks.items():
        result = tally.result(node_id, one.id, rule_id, index)
        if result is None or (result.outcome in _QUIET and _in_part(node_id, plan, tally)):
            row = _not_run(node_id, one.id, rule_id, plan, tally)
            result = CheckResult(outcome=Outcome.NOT_MEASURED, message=row.reason)
            missing.append(row)
        results[rule_id, index] = result
    narrowed = plan.narrowed if one.id == marks.SESSION else ""
    evaluation = judge(
        one.planned.target,
        results,
        sha256=one.planned.sha256,
        unsound=CHANGED if changed else _unsound(one, missing, narrowed),
        left_out=artifact.left_out if artifact else (),
    )
    excused = _find_excused(evaluation, missing) if partial else frozenset()
    partial = partial and bool(excused or narrowed) and not changed
    judged = JudgedTarget(
        evaluation=evaluation, id=one.id, narrowed=narrowed, partial=partial, excused=excused
    )
    return Conclusion(judged=judged, not_run=tuple(missing))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """One target's part of the decision."""

    judged: JudgedTarget
    not_run: tuple[NotRun, ...]


def _in_part(node_id: str, plan: SessionPlan, tally: ResultTally) -> bool:
    """Return whether a check that passed was also left out, lost or skipped: a subtest, a copy.

    So it is with one that is not applicable.
    """
    return node_id in plan.left_out or node_id in tally.lost or node_id in tally.skipped


def _not_run(
    node_id: str, target_id: str, rule_id: str, plan: SessionPlan, tally: ResultTally
) -> NotRun:
    if node_id in plan.left_out:
        cause = NotRunCause.DESELECTED
    elif node_id in tally.lost:
        cause = NotRunCause.LOST
    else:
        cause = NotRunCause.SKIPPED if node_id in tally.skipped else NotRunCause.CUT_OFF
    reason = (
        tally.skipped.get(node_id, cause.value) if cause is NotRunCause.SKIPPED else cause.value
    )
    return NotRun(node_id=node_id, target_id=target_id, rule_id=rule_id, cause=cause, reason=reason)


def _unsound(one: ExpectedTarget, missing: Sequence[NotRun], narrowed: str) -> str:
    """Return why this evaluation must not pass whatever its score; "" where it may."""
    if missing:
        return f"{len(missing)} of {len(one.checks)} checks did not run"
    return narrowed


def _read_again(one: ExpectedTarget) -> Artifact | None:
    """Return the artifact as it is now; None for marked tests, and where it cannot be read."""
    target = one.planned.target
    if one.id == marks.SESSION:
        return None
    try:
        return read_artifact(
            target.artifact,
            limit=one.planned.limit,
            base=target.link_base,
            outside=target.outside,
        )
    except ArtifactError:
        return None


def _has_changed(one: ExpectedTarget, tally: ResultTally, artifact: Artifact | None) -> bool:
    digests = set(tally.digests.get(one.id, ()))
    if one.id != marks.SESSION:
        if artifact is None or artifact.unread != one.planned.unread:
            return True
        digests.add(artifact.sha256)
    return bool(digests - {one.planned.sha256})


def _find_excused(evaluation: Evaluation, missing: Sequence[NotRun]) -> frozenset[str]:
    deselected = {row.rule_id for row in missing if row.cause is NotRunCause.DESELECTED}
    lost = {row.rule_id for row in missing if row.cause is not NotRunCause.DESELECTED}
    unmeasured = {r.rule.id for r in evaluation.results if r.outcome is Outcome.NOT_MEASURED}
    return frozenset((deselected - lost) & unmeasured)


def exit_status(
    current: int, gate: Gate | None, *, criteria_faults: bool, refused: bool = False
) -> int:
    """Return the status to leave with.

    `criteria_faults` is True where faulty criteria are all that kept the collection from success:
    that is 4, plain and with workers, or 1 where each of these is an artifact that was `refused`:
    nothing is wrong with the criteria, and the gate is not passed. An interrupt, an internal error
    and a usage error stay.
    """
    if criteria_faults and current in _OF_COLLECTION:
        return int(pytest.ExitCode.TESTS_FAILED if refused else pytest.ExitCode.USAGE_ERROR)
    if gate is not None and gate.blocks and current in _OPEN:
        return int(pytest.ExitCode.TESTS_FAILED)
    return int(current)
