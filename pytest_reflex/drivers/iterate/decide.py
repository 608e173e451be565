"""Whether an iteration loop goes on, what a finished round changes, and what an end means: pure."""

from __future__ import annotations

from dataclasses import replace

from pytest_reflex.drivers.iterate.model import Bounds, Ending, Round, State, Status
from pytest_reflex.errors import ExitCode


def decide(
    state: State, bounds: Bounds, *, seconds: float = 0.0, unchanged: int = 0
) -> Ending | None:
    """Return why a loop ends before its next round, None where it goes on.

    `seconds` is how long this sitting has taken, `unchanged` how many rounds in a row have left the
    working tree as it was. Failures come before the limit: who failed to the end has not got there.
    """
    if state.outcome == Ending.SUCCESS:
        return Ending.SUCCESS
    if state.consecutive_failures >= bounds.failure_threshold:
        return Ending.FAILURES
    if bounds.max_iterations and state.iteration >= bounds.max_iterations:
        return Ending.LIMIT
    if bounds.wall_time and seconds >= bounds.wall_time:
        return Ending.WALL_TIME
    if bounds.stop_unchanged and bounds.unchanged and unchanged >= bounds.unchanged:
        return Ending.UNCHANGED
    return None


def counted(state: State, done: Round, at: str) -> State:
    """Return the state behind a finished round; `at` is the time of its end.

    A round that promised success is marked at once, so that it ends the loop after a crash too.
    """
    return replace(
        state,
        iteration=state.iteration + 1,
        consecutive_failures=state.consecutive_failures + 1 if done.failed else 0,
        last_iteration_at=at,
        elapsed=(*state.elapsed, done.seconds),
        outcome=Ending.SUCCESS.value if done.promised_success else "",
    )


def ended(state: State, ending: Ending) -> State:
    """Return the state in which a loop is left."""
    done = ending in (Ending.SUCCESS, Ending.LIMIT)
    aborted = ending is Ending.FAILURES
    status = Status.COMPLETED if done else Status.ABORTED if aborted else Status.INTERRUPTED
    return replace(state, status=status, outcome=ending.value if done else state.outcome)


def exit_code(ending: Ending, state: State) -> ExitCode:
    """Return the exit status of an end (SPEC section 9); that of a signal is its own."""
    if ending is Ending.LIMIT and state.consecutive_failures:
        return ExitCode.ITERATION_LIMIT
    return _EXIT_CODES[ending]


_EXIT_CODES = {
    Ending.SUCCESS: ExitCode.OK,
    Ending.LIMIT: ExitCode.OK,
    Ending.FAILURES: ExitCode.ABORTED,
    Ending.WALL_TIME: ExitCode.BUDGET_EXCEEDED,
    Ending.UNCHANGED: ExitCode.STAGNATION,
    Ending.INTERRUPTED: ExitCode.INTERRUPTED,
}
