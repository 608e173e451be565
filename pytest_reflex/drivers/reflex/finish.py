"""How a run ends: its recorded evaluation is verified, and the best artifact stands.

Promises: no agent is asked for a vote that is recorded; an evaluation that holds leaves no event.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.checks.judged import NOT_RECORDED
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.reflex.decide import is_last
from pytest_reflex.drivers.reflex.evaluate_step import evaluate, evaluate_free
from pytest_reflex.drivers.reflex.history import (
    RecordedRun,
    artifact_with,
    at_evaluation,
    evaluation_key,
    evaluation_of,
    read_events,
)
from pytest_reflex.drivers.reflex.project_watch import ProjectWatch, format_changes
from pytest_reflex.drivers.reflex.run_integrity import IntegrityWatch, watch_again
from pytest_reflex.drivers.reflex.run_status import RunOverview
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, HISTORY, is_of_session
from pytest_reflex.drivers.reflex.steps import StepOutcome, phase_error
from pytest_reflex.errors import LockedError, PausedError, StepError, TamperedError, UsageError
from pytest_reflex.model.enums import Level, Outcome, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import Evaluation, evaluation_from_json
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import BY_EVALUATION, ENDS, RunStatus, StopReason
from pytest_reflex.storage.journal import read_journal
from pytest_reflex.verdict.formatting import format_score
from pytest_reflex.verdict.progress import best


def end_run(
    state: RunState,
    stop: Stop,
    past: Sequence[Event],
    verified: Collection[tuple[str, Level]] = (),
) -> StepOutcome:
    """Return the last event of a run; where it was not success, the best artifact is restored.

    `verified` has the hash and the level of each artifact that this process evaluated: nothing else
    has passed. Where something was tampered with no evaluation is to be relied on, and all stays
    as it is.
    """
    status = ENDS[stop.reason].status
    current = state.evaluation if state.artifact_status == "evaluated" else None
    sound = stop.reason is not StopReason.TAMPERED
    own = bool(current and evaluation_key(current) in verified)
    payload: dict[str, Any] = {
        "reason": stop.reason.value,
        "detail": stop.detail,
        "passed": sound
        and bool(own and current and current.passed and is_last(state, current.level)),
    }
    kind = EventKind.FAILED if status is RunStatus.FAILED else EventKind.STOPPED
    step = Step.EVALUATE if stop.reason in BY_EVALUATION else state.step
    top = best(state.marks)
    restores = status is not RunStatus.COMPLETED and sound
    if not restores or top is None or top.sha256 == state.artifact_sha256:
        return StepOutcome(kind=kind, step=step, payload=payload)
    payload |= {
        "passed": (top.sha256, top.level) in verified and top.passed and is_last(state, top.level),
        "restored_from": {"iteration": top.iteration, "phase": top.level.value},
        "sha256": top.sha256,
        "evaluation": evaluation_of(past, top),
        "by": "restore",
    }
    text = artifact_with(past, top.sha256)
    return StepOutcome(kind=kind, step=step, payload=payload, artifact=text)


Verified = set[tuple[str, Level]]
"""Hash and level of each artifact that this process evaluated."""


def evaluate_again(
    files: RunFiles,
    hooks: Any,
    project: Path,
    watch: ProjectWatch,
    notice: Callable[[str], object] = lambda text: None,
) -> Iterator[StepOutcome]:
    """Evaluate what is recorded as evaluated; yield the event of an evaluation that differs.

    Agents are asked for votes only where some are not recorded. What differs replaces
    what was recorded, and `notice` gets a line about it. Raises PausedError where the project is
    not as it was.
    """
    watch.refuse_changes(files.alias)
    recorded, done = files.state.evaluation, evaluate_free(files, hooks, project)
    refused, accepted = watch.after_evaluation()
    if refused:
        yield phase_error(Step.EVALUATE, refused)
        return
    done = replace(done, payload={**done.payload, **accepted})
    found = _evaluation_in(done, files.state)
    if found is not None and _lacks_votes(found):
        done = evaluate(files, hooks, project, watch, again=True)
    elif found is not None and recorded is not None and _is_same(recorded, found):
        return
    found = _evaluation_in(done, files.state)
    if found is not None and recorded is not None and not _is_same(recorded, found):
        notice(f"The recorded evaluation does not hold: {difference(recorded, found)}")
    yield done


def _evaluation_in(done: StepOutcome, state: RunState) -> Evaluation | None:
    wire = done.payload.get("evaluation")
    rules = {rule.id: rule for rule in state.criteria.rules}
    return evaluation_from_json(wire, rules) if wire else None


def _lacks_votes(evaluation: Evaluation) -> bool:
    return any(v.error == NOT_RECORDED for b in evaluation.ballots for v in b.votes)


def _is_same(one: Evaluation, other: Evaluation) -> bool:
    """Return whether two evaluations are one verdict on one artifact, rule by rule."""
    return _verdict(one) == _verdict(other)


def _verdict(one: Evaluation) -> tuple[object, ...]:
    rows = [(row.rule.id, row.outcome) for row in one.results]
    bar = (one.threshold, bool(one.unsound))
    return (evaluation_key(one), one.score, one.passed, bar, rows)


def difference(recorded: Evaluation, found: Evaluation) -> str:
    """Return in words what two evaluations say of one artifact."""
    return f"recorded {_describe(recorded)}, now {_describe(found)}{_rules(recorded, found)}"


def _describe(one: Evaluation) -> str:
    return f"{format_score(one.score)} {'passed' if one.passed else 'not passed'}"


def _rules(recorded: Evaluation, found: Evaluation) -> str:
    before = {row.rule.id: row.outcome for row in recorded.results}
    changed = [
        f"{row.rule.id} {before.get(row.rule.id, Outcome.NOT_MEASURED).value} -> "
        f"{row.outcome.value}"
        for row in found.results
        if before.get(row.rule.id) is not row.outcome
    ]
    return f" ({', '.join(changed)})" if changed else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationResult:
    """What came of evaluating a run's artifact again; `problem` says why its verdict cannot hold.

    `recorded` is what the history has, `found` what came of it now, None where nothing was
    evaluated.
    """

    state: RunState
    recorded: Evaluation
    found: Evaluation | None = None
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether the recorded verdict is that of the artifact, and the run ended as it says."""
        return not self.problem

    @property
    def passed(self) -> bool:
        """Whether the artifact passes, or completed the run with warnings only."""
        if self.found is None or self.problem:
            return False
        if not is_last(self.state, self.found.level):
            return False
        return self.found.passed or _is_completed(self.state, self.found)

    def to_json(self) -> dict[str, Any]:
        return {
            "alias": self.state.alias,
            "run_id": self.state.run_id,
            "holds": self.holds,
            "passed": self.passed,
            "problem": self.problem,
            "recorded": self.recorded.to_json(),
            "found": self.found.to_json() if self.found else None,
        }


def _is_completed(state: RunState, found: Evaluation) -> bool:
    """Return whether an evaluation below the threshold ends a run as completed."""
    wanted = state.stop.reason is StopReason.NO_MAJOR_ISSUES
    return wanted and found.level is Level.B and not found.failed and not found.unsound


def verify(
    run: RunOverview, hooks: Any, project: Path, *, accept_changes: bool = False
) -> VerificationResult:
    """Evaluate the artifact of a run again as its history says; nothing of the run is written.

    Raises UsageError where there is nothing to verify, LockedError where a process drives the run,
    TamperedError where its rules are not as they were, PausedError where the project is not, unless
    these changes are accepted, and StepError where nothing can judge.
    """
    refuse_unverifiable(run)
    path = run.folder / HISTORY
    events, state = read_events(path, read_journal(path).records)
    then = at_evaluation(RecordedRun(run.folder, events, state))
    recorded = state.evaluation
    if recorded is None or then is None:
        raise UsageError(f"loop {run.alias!r} has no evaluation that could be verified")
    if run.state.artifact_sha256 != recorded.artifact_sha256:
        problem = f"{ARTIFACT} is not the artifact that was evaluated"
        return VerificationResult(state=state, recorded=recorded, problem=problem)
    if changed := IntegrityWatch(events[0].payload, project).find_tampering():
        raise TamperedError(
            f"the verdict of {run.alias!r} cannot be verified: {changed}",
            hint="put it back; or evaluate the artifact again with `pytest-reflex evaluate`",
        )
    changes = watch_again(RecordedRun(run.folder, events, state), project).find_undeclared()
    if changes and not accept_changes:
        raise PausedError(
            f"the verdict of {run.alias!r} cannot be verified: {format_changes(changes)}",
            hint="check the changes, then add --accept-changes to verify with the project as it is",
        )
    done = evaluate_free(then, hooks, project)
    found = _evaluation_in(done, state)
    if found is None:
        raise StepError(f"{run.alias!r} could not be evaluated again: {done.payload['message']}")
    return VerificationResult(
        state=state, recorded=recorded, found=found, problem=_problem(state, recorded, found)
    )


def refuse_unverifiable(run: RunOverview) -> None:
    """Raise LockedError for a run that is driven, UsageError for one that pytest has to judge."""
    if run.alive:
        raise LockedError(f"another process is running {run.alias}", hint="wait until it has ended")
    if is_of_session(run.state):
        arguments = " ".join(run.state.setup["session"]["arguments"])
        raise UsageError(
            f"the loop {run.alias!r} is over a pytest session",
            hint=f"run the session to verify it: `{' '.join(f'pytest {arguments}'.split())}`",
        )


def _problem(state: RunState, recorded: Evaluation, found: Evaluation) -> str:
    if not _is_same(recorded, found):
        return difference(recorded, found)
    if state.status is RunStatus.COMPLETED or state.stop.passed:
        ends = found.passed and is_last(state, found.level)
        if not ends and not _is_completed(state, found):
            return "the run did not end with this evaluation"
    return ""
