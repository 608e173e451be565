"""When an iteration loop ends, by seed 004, its edge cases and SPEC 7."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.common.drive import Inputs
from pytest_reflex.drivers.iterate.decide import ENDINGS, apply, decide, end, exit_code
from pytest_reflex.drivers.iterate.model import Bounds, FailureCause, Iteration, State, Status
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.stop import StopReason

AT = "2026-02-06T10:00:00Z"
NEW = State(procedure_name="build", max_iterations=10, failure_threshold=3, started_at=AT)
TEN = Bounds(max_iterations=10)
ENDLESS = Bounds(max_iterations=0, wall_time=8 * 3600, unchanged=10, stop_unchanged=True)


def reason(
    state: State, bounds: Bounds, *, seconds: float = 0.0, unchanged: int = 0
) -> StopReason | None:
    """Return why a loop ends, None where it goes on."""
    stop = decide(state, bounds, Inputs(elapsed=seconds), unchanged=unchanged)
    return stop.reason if stop else None


def rounds(*causes: FailureCause | None) -> State:
    """Return the state behind iterations that came to these."""
    state = NEW
    for number, cause in enumerate(causes, 1):
        state = apply(state, Iteration(number=number, seconds=1.0, cause=cause), AT)
    return state


BAD, GOOD = FailureCause.EXIT, None


@pytest.mark.parametrize(
    ("state", "bounds", "ending"),
    [
        pytest.param(NEW, TEN, None, id="nothing done yet"),
        pytest.param(rounds(*[GOOD] * 9), TEN, None, id="one is left"),
        pytest.param(rounds(*[GOOD] * 10), TEN, StopReason.LIMIT, id="all are done"),
        pytest.param(rounds(*[GOOD] * 11), TEN, StopReason.LIMIT, id="more than all are done"),
        pytest.param(rounds(BAD, BAD), TEN, None, id="two failures"),
        pytest.param(rounds(BAD, BAD, BAD), TEN, StopReason.FAILURES, id="three failures"),
        pytest.param(rounds(BAD, BAD, GOOD, BAD, BAD), TEN, None, id="never three in a row"),
        pytest.param(
            rounds(FailureCause.GATE, BAD, FailureCause.EMPTY),
            TEN,
            StopReason.FAILURES,
            id="any cause",
        ),
    ],
)
def test_the_loop_ends_for_a_reason(
    state: State, bounds: Bounds, ending: StopReason | None
) -> None:
    assert reason(state, bounds) is ending


def test_max_iterations_0_is_no_limit() -> None:
    assert reason(rounds(*[GOOD] * 500), ENDLESS) is None
    assert reason(rounds(*[GOOD] * 500, BAD, BAD, BAD), ENDLESS) is StopReason.FAILURES


def test_max_iterations_1_is_a_single_iteration() -> None:
    one = Bounds(max_iterations=1)
    assert reason(NEW, one) is None
    assert reason(rounds(GOOD), one) is StopReason.LIMIT
    assert end(rounds(GOOD), StopReason.LIMIT).status is Status.COMPLETED


def test_a_nonzero_exit_counts_and_the_loop_goes_on() -> None:
    assert rounds(GOOD, BAD).consecutive_failures == 1
    assert reason(rounds(GOOD, BAD), TEN) is None


def test_3_consecutive_failures_abort() -> None:
    state = rounds(GOOD, BAD, BAD, BAD)
    assert reason(state, TEN) is StopReason.FAILURES
    assert end(state, StopReason.FAILURES).status is Status.ABORTED


def test_success_after_2_failures_resets_the_count() -> None:
    assert rounds(BAD, BAD, GOOD).consecutive_failures == 0


def test_a_failed_quality_gate_counts_once() -> None:
    assert rounds(GOOD, FailureCause.GATE, FailureCause.GATE).consecutive_failures == 2


def test_failures_are_looked_at_before_the_limit() -> None:
    assert reason(rounds(BAD, BAD, BAD), Bounds(max_iterations=3)) is StopReason.FAILURES


def test_a_promised_success_ends_the_loop_after_a_crash_too() -> None:
    state = apply(NEW, Iteration(number=1, seconds=1.0, promised_success=True), AT)
    assert (state.status, state.outcome) == (Status.RUNNING, "success")
    assert reason(state, TEN) is StopReason.SUCCESS


@pytest.mark.parametrize(
    ("seconds", "ending"), [(28_799.9, None), (28_800.0, StopReason.WALL_TIME)]
)
def test_wall_time_ends_a_sitting(seconds: float, ending: StopReason | None) -> None:
    assert reason(NEW, ENDLESS, seconds=seconds) is ending


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(wall_time=1),
        Bounds(unchanged=1, stop_unchanged=True),
        Bounds(wall_time=0, unchanged=0, stop_unchanged=True),
    ],
)
def test_a_sitting_that_has_just_begun_is_neither_long_nor_without_change(bounds: Bounds) -> None:
    assert reason(NEW, bounds) is None


@pytest.mark.parametrize(("unchanged", "ending"), [(9, None), (10, StopReason.UNCHANGED)])
def test_b074_rounds_without_a_change_end_an_endless_run(
    unchanged: int, ending: StopReason | None
) -> None:
    assert reason(NEW, ENDLESS, unchanged=unchanged) is ending


def test_unchanged_rounds_do_not_end_where_they_are_only_told() -> None:
    assert reason(NEW, replace(ENDLESS, stop_unchanged=False), unchanged=99) is None


@pytest.mark.parametrize(
    ("ending", "state", "code"),
    [
        (StopReason.LIMIT, rounds(GOOD), 0),
        (StopReason.LIMIT, rounds(GOOD, BAD), 6),
        (StopReason.SUCCESS, rounds(GOOD), 0),
        (StopReason.FAILURES, rounds(BAD, BAD, BAD), 16),
        (StopReason.UNCHANGED, rounds(GOOD), 7),
        (StopReason.WALL_TIME, rounds(GOOD), 8),
        (StopReason.BUDGET_EXCEEDED, rounds(GOOD), 8),
        (StopReason.USER_STOP, rounds(GOOD), 2),
        (StopReason.LIMIT, replace(rounds(GOOD), failing=("tests",)), 6),
        (StopReason.PERSON_NEEDED, rounds(FailureCause.PROMISED_FAILURE), 14),
        (StopReason.RATE_LIMIT, rounds(GOOD), 9),
    ],
    ids=lambda value: str(value) if isinstance(value, StopReason | int) else "",
)
def test_an_end_has_its_exit_status(ending: StopReason, state: State, code: int) -> None:
    assert exit_code(ending, state) == ExitCode(code)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.sampled_from([GOOD, BAD, FailureCause.GATE]), max_size=30),
    st.integers(0, 8),
    st.integers(1, 4),
)
def test_no_loop_goes_beyond_its_bounds(
    causes: list[FailureCause | None], limit: int, threshold: int
) -> None:
    state, bounds = NEW, Bounds(max_iterations=limit, failure_threshold=threshold)
    for cause in causes:
        if reason(state, bounds):
            break
        state = apply(state, Iteration(number=state.iteration + 1, seconds=0.1, cause=cause), AT)
    assert state.iteration == len(state.elapsed)
    assert not limit or state.iteration <= limit
    assert state.consecutive_failures <= threshold
    if state.iteration < len(causes):
        assert reason(state, bounds) in (StopReason.LIMIT, StopReason.FAILURES)


LEFT = {
    StopReason.SUCCESS: (Status.COMPLETED, "success"),
    StopReason.LIMIT: (Status.COMPLETED, "limit"),
    StopReason.FAILURES: (Status.ABORTED, ""),
    StopReason.USER_STOP: (Status.INTERRUPTED, ""),
    StopReason.BUDGET_EXCEEDED: (Status.INTERRUPTED, "budget"),
    StopReason.WALL_TIME: (Status.INTERRUPTED, ""),
    StopReason.UNCHANGED: (Status.INTERRUPTED, ""),
    StopReason.PERSON_NEEDED: (Status.INTERRUPTED, "person"),
    StopReason.RATE_LIMIT: (Status.INTERRUPTED, ""),
    StopReason.DENIED: (Status.INTERRUPTED, ""),
    StopReason.INTERRUPTED: (Status.INTERRUPTED, ""),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_each_end_leaves_the_state_that_its_resume_needs(ending: StopReason) -> None:
    state = end(rounds(GOOD), ending)
    assert (state.status, state.outcome) == (LEFT[ending][0], LEFT[ending][1])


@pytest.mark.parametrize("ending", [one for one in ENDINGS if LEFT[one][0] is not Status.COMPLETED])
def test_an_end_that_completes_nothing_keeps_a_promise_of_success(ending: StopReason) -> None:
    promised = replace(rounds(GOOD), outcome=StopReason.SUCCESS.value)
    assert end(promised, ending).outcome == StopReason.SUCCESS.value
