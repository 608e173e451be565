"""What a Reflex loop does next: a pure function of its state (SPEC section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_reflex.drivers.common import drive
from pytest_reflex.drivers.common.drive import Inputs
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import BY_EVALUATION, RunStatus, StopReason
from pytest_reflex.verdict import progress

MAX_TRIES = 2
ENDINGS = (
    StopReason.THRESHOLD_REACHED,
    StopReason.NO_MAJOR_ISSUES,
    StopReason.USER_STOP,
    StopReason.STAGNATION,
    StopReason.BUDGET_EXCEEDED,
    StopReason.ITERATION_LIMIT,
    StopReason.PHASE_ERROR,
    StopReason.TAMPERED,
)
"""The reasons for which a Reflex loop ends."""
# An artifact that something else changes again and again would be judged for ever.
MOST_JUDGED = 5


class Action(StrEnum):
    """What the driver performs."""

    STEP = "step"
    VERIFY = "verify"
    SWITCH = "switch"
    ADVANCE = "advance"
    STOP = "stop"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """An act, with the step to run or the reason to stop."""

    act: Action
    step: Step | None = None
    reason: StopReason | None = None
    detail: str = ""

    @property
    def interruptible(self) -> bool:
        """Whether an agent works that a person may end; not EVALUATE, which forks."""
        return self.step not in (None, Step.EVALUATE)


def decide(
    state: RunState,
    *,
    stop_requested: str | None = None,
    tampering: str = "",
    elapsed: float = 0.0,
    unverified: bool = False,
) -> Decision:
    """Return what comes next.

    `stop_requested` is the reason that a person gave, None for no request; `tampering` says what
    was done to the rules, or to the code that judges, empty where nothing was; `elapsed` is how
    many seconds the run has been driven in this sitting; `unverified` says that the evaluation that
    stands was found on the disk. EVALUATE is free: before a run stops, an artifact that nothing has
    judged is, and before an evaluation from the disk counts it is verified.
    """
    if state.status is not RunStatus.RUNNING:
        return Decision(Action.NOTHING)
    if tampering:
        return _stop(StopReason.TAMPERED, tampering)
    decision = _next(state, stop_requested, elapsed, unverified)
    if unverified and _counts(state, decision):
        return Decision(Action.VERIFY, Step.EVALUATE)
    return decision


def _next(
    state: RunState, stop_requested: str | None, elapsed: float, unverified: bool
) -> Decision:
    """Return what comes next in a run that goes on and was not tampered with."""
    due = _stop_after_failures(state, unverified) or _find_requested_stop(
        state, stop_requested, elapsed
    )
    if due:
        return Decision(Action.STEP, Step.EVALUATE) if _needs_evaluation(state) else due
    if not state.evaluated and _count_evaluations(state) >= MOST_JUDGED:
        why = f"artifact.md was changed from outside {MOST_JUDGED} times in one iteration"
        return _stop(StopReason.STAGNATION, why)
    if not (state.prepared and state.evaluated) or state.critiqued:
        return Decision(Action.ADVANCE) if state.refined else Decision(Action.STEP, state.step)
    return _after_evaluate(state)


def _counts(state: RunState, decision: Decision) -> bool:
    """Return whether a decision rests on the evaluation that stands, or would record its pass."""
    if decision.reason in BY_EVALUATION or decision.act is Action.SWITCH:
        return state.evaluated
    if decision.act is not Action.STOP or state.errors.get(Step.EVALUATE):
        return False
    judged = state.evaluation if state.artifact_status == "evaluated" else None
    return bool(judged and judged.passed)


def _stop_after_failures(state: RunState, unverified: bool) -> Decision | None:
    """Return the stop for a step that cannot be done, unless no step is needed any more."""
    judged = state.prepared and state.evaluated and not state.critiqued and not unverified
    if judged and state.marks[-1].passed and is_last(state, state.level):
        return None
    for step, messages in state.errors.items():
        if len(messages) >= MAX_TRIES:
            return _stop(StopReason.PHASE_ERROR, f"{step} failed twice: {messages[-1]}")
    return None


def is_last(state: RunState, level: Level) -> bool:
    """Return whether a level is the one at which a run is done."""
    return level is Level.B or not state.criteria.has(Level.B)


def _needs_evaluation(state: RunState) -> bool:
    """Return whether there is an artifact without a verdict, and no problem in the way of one."""
    if state.errors.get(Step.EVALUATE) or _count_evaluations(state) >= MOST_JUDGED:
        return False
    return state.artifact_status in ("unevaluated", "stale")


def _find_requested_stop(
    state: RunState, stop_requested: str | None, elapsed: float
) -> Decision | None:
    bounds, inputs = state.limits, Inputs(stop=stop_requested, elapsed=elapsed)
    stop = drive.find_reached(inputs, bounds.budget, state.spend, bounds.wall_time)
    if stop is None:
        return None
    is_time = stop.reason is StopReason.WALL_TIME  # to a loop that is a budget, too
    return _stop(StopReason.BUDGET_EXCEEDED if is_time else stop.reason, stop.detail)


def _after_evaluate(state: RunState) -> Decision:
    """Decide on a fresh evaluation, in the order of SPEC section 4."""
    mark, bounds = state.marks[-1], state.limits
    if mark.passed and state.level is Level.A and state.criteria.has(Level.B):
        return Decision(Action.SWITCH)
    if mark.passed:
        return _stop(StopReason.THRESHOLD_REACHED)
    at_b = state.level is Level.B and bounds.no_major_issues == "B"
    if at_b and not mark.blockers and not (state.evaluation and state.evaluation.unsound):
        return _stop(StopReason.NO_MAJOR_ISSUES, "only warnings remain, below the threshold")
    stuck = _stagnation(state)
    if stuck:
        return _stop(StopReason.STAGNATION, stuck)
    if state.iteration >= bounds.max_iterations:
        return _stop(StopReason.ITERATION_LIMIT)
    return Decision(Action.STEP, Step.CRITIQUE)


def _count_evaluations(state: RunState) -> int:
    """Return how often this phase of this iteration was judged: once, and after each change."""
    here = (state.iteration, state.level)
    return sum((mark.iteration, mark.level) == here for mark in state.recent)


def _stagnation(state: RunState) -> str:
    if state.stagnation_count >= progress.STAGNATION_LIMIT:
        return f"the score rose by less than 0.02 {state.stagnation_count} times in a row"
    if progress.stuck_on_blockers(state.recent, state.limits.blocker_stagnation):
        return f"the same rules blocked {state.limits.blocker_stagnation} evaluations in a row"
    if state.limits.oscillation and progress.oscillates(state.recent):
        return "the artifact went back to an earlier state (oscillation)"
    return ""


def seconds_left(state: RunState) -> float | None:
    """Return what is left of the budget in seconds, None where there is no such limit."""
    return drive.seconds_left(state.limits.budget, state.spend)


def calls_left(state: RunState) -> float:
    """Return how many calls the budget still allows."""
    return drive.budget_left(state.limits.budget, state.spend).get("calls", float("inf"))


def _stop(reason: StopReason, detail: str = "") -> Decision:
    return Decision(Action.STOP, reason=reason, detail=detail)
