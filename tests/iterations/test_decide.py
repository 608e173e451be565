"""When an iteration loop ends, by seed 004, its edge cases and SPEC 7."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import ExitCode
from pytest_reflex.iterations.decide import counted, decide, ended, exit_code
from pytest_reflex.iterations.model import Bounds, Cause, Ending, Round, State, Status

AT = "2026-02-06T10:00:00Z"
NEW = State(procedure_name="build", max_iterations=10, failure_threshold=3, started_at=AT)
TEN = Bounds(max_iterations=10)
ENDLESS = Bounds(max_iterations=0, wall_time=8 * 3600, unchanged=10, stop_unchanged=True)


def rounds(*causes: Cause | None) -> State:
    """Return the state behind rounds that came to these."""
    state = NEW
    for number, cause in enumerate(causes, 1):
        state = counted(state, Round(number=number, seconds=1.0, cause=cause), AT)
    return state


BAD, GOOD = Cause.EXIT, None


@pytest.mark.parametrize(
    ("state", "bounds", "ending"),
    [
        pytest.param(NEW, TEN, None, id="nothing done yet"),
        pytest.param(rounds(*[GOOD] * 9), TEN, None, id="one is left"),
        pytest.param(rounds(*[GOOD] * 10), TEN, Ending.LIMIT, id="all are done"),
        pytest.param(rounds(*[GOOD] * 11), TEN, Ending.LIMIT, id="more than all are done"),
        pytest.param(rounds(BAD, BAD), TEN, None, id="two failures"),
        pytest.param(rounds(BAD, BAD, BAD), TEN, Ending.FAILURES, id="three failures"),
        pytest.param(rounds(BAD, BAD, GOOD, BAD, BAD), TEN, None, id="never three in a row"),
        pytest.param(rounds(Cause.GATE, BAD, Cause.EMPTY), TEN, Ending.FAILURES, id="any cause"),
    ],
)
def test_the_loop_ends_for_a_reason(state: State, bounds: Bounds, ending: Ending | None) -> None:
    assert decide(state, bounds) is ending


def test_max_iterations_0_is_no_limit() -> None:
    assert decide(rounds(*[GOOD] * 500), ENDLESS) is None
    assert decide(rounds(*[GOOD] * 500, BAD, BAD, BAD), ENDLESS) is Ending.FAILURES


def test_max_iterations_1_is_a_single_iteration() -> None:
    one = Bounds(max_iterations=1)
    assert decide(NEW, one) is None
    assert decide(rounds(GOOD), one) is Ending.LIMIT
    assert ended(rounds(GOOD), Ending.LIMIT).status is Status.COMPLETED


def test_a_nonzero_exit_counts_and_the_loop_goes_on() -> None:
    assert rounds(GOOD, BAD).consecutive_failures == 1
    assert decide(rounds(GOOD, BAD), TEN) is None


def test_3_consecutive_failures_abort() -> None:
    state = rounds(GOOD, BAD, BAD, BAD)
    assert decide(state, TEN) is Ending.FAILURES
    assert ended(state, Ending.FAILURES).status is Status.ABORTED


def test_success_after_2_failures_resets_the_count() -> None:
    assert rounds(BAD, BAD, GOOD).consecutive_failures == 0


def test_a_failed_quality_gate_counts_once() -> None:
    assert rounds(GOOD, Cause.GATE, Cause.GATE).consecutive_failures == 2


def test_failures_are_looked_at_before_the_limit() -> None:
    assert decide(rounds(BAD, BAD, BAD), Bounds(max_iterations=3)) is Ending.FAILURES


def test_a_promised_success_ends_the_loop_after_a_crash_too() -> None:
    state = counted(NEW, Round(number=1, seconds=1.0, promised_success=True), AT)
    assert (state.status, state.outcome) == (Status.RUNNING, "success")
    assert decide(state, TEN) is Ending.SUCCESS


@pytest.mark.parametrize(("seconds", "ending"), [(28_799.9, None), (28_800.0, Ending.WALL_TIME)])
def test_wall_time_ends_a_sitting(seconds: float, ending: Ending | None) -> None:
    assert decide(NEW, ENDLESS, seconds=seconds) is ending


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(wall_time=1),
        Bounds(unchanged=1, stop_unchanged=True),
        Bounds(wall_time=0, unchanged=0, stop_unchanged=True),
    ],
)
def test_a_sitting_that_has_just_begun_is_neither_long_nor_without_change(bounds: Bounds) -> None:
    assert decide(NEW, bounds) is None


@pytest.mark.parametrize(("unchanged", "ending"), [(9, None), (10, Ending.UNCHANGED)])
def test_b074_rounds_without_a_change_end_an_endless_run(
    unchanged: int, ending: Ending | None
) -> None:
    assert decide(NEW, ENDLESS, unchanged=unchanged) is ending


def test_unchanged_rounds_do_not_end_where_they_are_only_told() -> None:
    assert decide(NEW, replace(ENDLESS, stop_unchanged=False), unchanged=99) is None


@pytest.mark.parametrize(
    ("ending", "state", "code"),
    [
        (Ending.LIMIT, rounds(GOOD), 0),
        (Ending.LIMIT, rounds(GOOD, BAD), 6),
        (Ending.SUCCESS, rounds(GOOD), 0),
        (Ending.FAILURES, rounds(BAD, BAD, BAD), 16),
        (Ending.UNCHANGED, rounds(GOOD), 7),
        (Ending.WALL_TIME, rounds(GOOD), 8),
    ],
    ids=lambda value: str(value) if isinstance(value, Ending | int) else "",
)
def test_an_end_has_its_exit_status(ending: Ending, state: State, code: int) -> None:
    assert exit_code(ending, state) == ExitCode(code)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.sampled_from([GOOD, BAD, Cause.GATE]), max_size=30),
    st.integers(0, 8),
    st.integers(1, 4),
)
def test_no_loop_goes_beyond_its_bounds(
    causes: list[Cause | None], limit: int, threshold: int
) -> None:
    state, bounds = NEW, Bounds(max_iterations=limit, failure_threshold=threshold)
    for cause in causes:
        if decide(state, bounds):
            break
        state = counted(state, Round(number=state.iteration + 1, seconds=0.1, cause=cause), AT)
    assert state.iteration == len(state.elapsed)
    assert not limit or state.iteration <= limit
    assert state.consecutive_failures <= threshold
    if state.iteration < len(causes):
        assert decide(state, bounds) in (Ending.LIMIT, Ending.FAILURES)


LEFT = {
    Ending.SUCCESS: (Status.COMPLETED, "success"),
    Ending.LIMIT: (Status.COMPLETED, "limit"),
    Ending.FAILURES: (Status.ABORTED, ""),
    Ending.WALL_TIME: (Status.INTERRUPTED, ""),
    Ending.UNCHANGED: (Status.INTERRUPTED, ""),
    Ending.INTERRUPTED: (Status.INTERRUPTED, ""),
}


@pytest.mark.parametrize("ending", list(Ending))
def test_each_end_leaves_the_state_that_its_resume_needs(ending: Ending) -> None:
    state = ended(rounds(GOOD), ending)
    assert (state.status, state.outcome) == (LEFT[ending][0], LEFT[ending][1])


@pytest.mark.parametrize("ending", [one for one in Ending if one not in LEFT or not LEFT[one][1]])
def test_an_end_that_completes_nothing_keeps_a_promise_of_success(ending: Ending) -> None:
    promised = replace(rounds(GOOD), outcome=Ending.SUCCESS.value)
    assert ended(promised, ending).outcome == Ending.SUCCESS.value
