"""Whether an iteration loop goes on, what an iteration changes, and what an end means: pure.

Failures come before the limit: who failed to the end has not got there.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_reflex.drivers.common import limits
from pytest_reflex.drivers.common.drive import Inputs, Stop
from pytest_reflex.drivers.iterate.last import last_of
from pytest_reflex.drivers.iterate.model import Baseline, Bounds, Cause, Cut, Round, State, Status
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.stop import ENDS, RunStatus, StopReason

ENDINGS = (
    StopReason.SUCCESS,
    StopReason.FAILURES,
    StopReason.LIMIT,
    StopReason.USER_STOP,
    StopReason.BUDGET_EXCEEDED,
    StopReason.WALL_TIME,
    StopReason.UNCHANGED,
    StopReason.PERSON_NEEDED,
    StopReason.RATE_LIMIT,
    StopReason.DENIED,
    StopReason.INTERRUPTED,
)
"""The reasons for which an iteration loop ends or is left."""
BUDGET = "budget"
"""The `outcome` of a state whose budget was used up."""
PERSON = "person"
"""The `outcome` of a state that waits for what a person decides."""
_WAITS_FOR = {StopReason.BUDGET_EXCEEDED: BUDGET, StopReason.PERSON_NEEDED: PERSON}
_AT_WORK = (None, Cause.GATE, Cause.PROMISED_FAILURE)
_STATUS = {
    RunStatus.COMPLETED: Status.COMPLETED,
    RunStatus.FAILED: Status.ABORTED,
    RunStatus.STOPPED: Status.INTERRUPTED,
}


def decide(
    state: State,
    bounds: Bounds,
    inputs: Inputs | None = None,
    *,
    unchanged: int = 0,
    person: str | None = None,
    refused: str = "",
    denied: str = "",
) -> Stop | None:
    """Return why a loop ends before its next iteration, None where it goes on.

    `unchanged` is how many iterations in a row have left the working tree as it was; `person` is
    for what the last one needs a person, `refused` the notice of a limit that stayed in its way,
    `denied` what its tool was not allowed to do.
    """
    inputs = inputs or Inputs()
    if person is not None:
        return Stop(StopReason.PERSON_NEEDED, person)
    if reason := _ended_by_itself(state, bounds):
        return Stop(reason)
    if refused:
        return Stop(StopReason.RATE_LIMIT, refused)
    if denied:
        return Stop(StopReason.DENIED, denied)
    if stop := limits.reached(inputs, bounds.budget, state.spend, bounds.wall_time):
        return stop
    if bounds.stop_unchanged and bounds.unchanged and unchanged >= bounds.unchanged:
        return Stop(StopReason.UNCHANGED)
    return None


def _ended_by_itself(state: State, bounds: Bounds) -> StopReason | None:
    if state.outcome == StopReason.SUCCESS:
        return StopReason.SUCCESS
    if state.consecutive_failures >= bounds.failure_threshold:
        return StopReason.FAILURES
    if bounds.max_iterations and state.iteration >= bounds.max_iterations:
        return StopReason.LIMIT
    return None


def is_complete(state: State) -> bool:
    """Return whether there is no next iteration, nor one in a resume."""
    bounds = Bounds(max_iterations=state.max_iterations, failure_threshold=state.failure_threshold)
    return _ended_by_itself(state, bounds) in (StopReason.SUCCESS, StopReason.LIMIT)


def apply(state: State, done: Round | Cut | Baseline, at: str) -> State:
    """Return the state behind an iteration that is finished, or was cut short; `at` is its end.

    One that promised success is marked at once, so that it ends the loop after a crash too. One
    that was cut short was paid for, and does not count. What a person said was heard where the tool
    did its work.
    """
    spend = state.spend.plus(done.cost)
    if isinstance(done, Cut):
        return replace(state, spend=spend)
    if isinstance(done, Baseline):
        return replace(state, spend=spend, known_failures=done.known, last=done.last)
    return replace(
        state,
        iteration=state.iteration + 1,
        consecutive_failures=state.consecutive_failures + 1 if done.failed else 0,
        last_iteration_at=at,
        elapsed=(*state.elapsed, done.seconds),
        outcome=StopReason.SUCCESS.value if done.promised_success else "",
        spend=spend,
        feedback={} if done.cause in _AT_WORK else state.feedback,
        last=last_of(done),
        failing=done.failing,
        known_failures=done.known or state.known_failures,
    )


def ended(state: State, reason: StopReason) -> State:
    """Return the state in which a loop is left."""
    status = _STATUS[ENDS[reason].status]
    outcome = state.outcome
    if status is Status.COMPLETED:
        outcome = reason.value
    elif reason in _WAITS_FOR:
        outcome = state.outcome or _WAITS_FOR[reason]
    return replace(state, status=status, outcome=outcome)


def has_failed(state: State) -> bool:
    """Return whether the last iteration failed, or made progress only: a gate fails still."""
    return bool(state.consecutive_failures or state.failing)


def exit_code(reason: StopReason, state: State) -> ExitCode:
    """Return the exit status of an end (SPEC section 9); that of a signal is its own."""
    if reason is StopReason.LIMIT and has_failed(state):
        return ExitCode.ITERATION_LIMIT
    return ENDS[reason].exit_code
