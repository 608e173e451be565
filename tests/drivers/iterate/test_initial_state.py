"""With which state a sitting begins, and which options a resume takes over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.initial_state import (
    IterateOptions,
    fresh,
    is_unfinished,
    resume_state,
)
from pytest_reflex.drivers.iterate.model import Bounds, Phase, State, Status
from pytest_reflex.errors import UsageError

AT = "2026-02-06T10:00:00Z"
LEFT = State(
    procedure_name="build",
    max_iterations=10,
    failure_threshold=3,
    started_at=AT,
    iteration=5,
    consecutive_failures=2,
    status=Status.INTERRUPTED,
    elapsed=(1.0,) * 5,
    others={"host": "a"},
)
NONE = IterateOptions()


@pytest.mark.parametrize(
    ("status", "unfinished"),
    [
        (Status.RUNNING, True),
        (Status.INTERRUPTED, True),
        (Status.ABORTED, False),
        (Status.COMPLETED, False),
    ],
)
def test_what_can_go_on_as_it_is(status: Status, unfinished: bool) -> None:
    assert is_unfinished(replace(LEFT, status=status)) is unfinished


def test_where_there_is_nothing_there_is_nothing_to_go_on_with() -> None:
    assert not is_unfinished(None)


def test_a_run_goes_on_with_its_counts_under_the_bounds_of_now() -> None:
    bounds = Bounds(max_iterations=20, failure_threshold=4)
    state = resume_state(LEFT, "build", bounds, NONE, reset_failures=False)
    assert state == replace(LEFT, status=Status.RUNNING, max_iterations=20, failure_threshold=4)


def test_failures_are_counted_from_0_where_that_is_said() -> None:
    state = resume_state(LEFT, "build", Bounds(max_iterations=9), NONE, reset_failures=True)
    assert (state.consecutive_failures, state.iteration) == (0, 5)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (None, "nothing to resume for build"),
        (replace(LEFT, status=Status.COMPLETED), "nothing to resume for build"),
        (replace(LEFT, status=Status.ABORTED), r"aborted after 2 failures .*--reset-failures"),
    ],
)
def test_what_cannot_go_on_is_refused(found: State | None, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        resume_state(found, "build", Bounds(), NONE, reset_failures=False)


def test_b083_an_aborted_run_goes_on_where_its_failures_are_reset() -> None:
    aborted = replace(LEFT, status=Status.ABORTED)
    state = resume_state(aborted, "build", Bounds(max_iterations=9), NONE, reset_failures=True)
    assert (state.status, state.consecutive_failures) == (Status.RUNNING, 0)


def test_failures_are_not_forgotten_where_no_iteration_is_left() -> None:
    bounds = Bounds(max_iterations=5)
    with pytest.raises(UsageError, match=r"no iteration left of 5.*--max-iterations 6"):
        resume_state(LEFT, "build", bounds, NONE, reset_failures=True)
    succeeded = replace(LEFT, consecutive_failures=0)
    assert resume_state(succeeded, "build", bounds, NONE, reset_failures=True).iteration == 5


WORDS = st.text(min_size=1).filter(lambda word: word.strip() and "\0" not in word)
OPTIONS = st.builds(
    IterateOptions,
    agent=st.none() | WORDS,
    timeout=st.none() | st.integers(1, 999),
    contexts=st.lists(st.text(min_size=1)).map(tuple),
    phases=st.dictionaries(
        st.sampled_from(Phase), st.lists(st.text(min_size=1), min_size=1).map(tuple)
    ),
    no_caps=st.booleans(),
    unchanged=st.none() | st.integers(0, 999),
    stop_unchanged=st.booleans(),
)


@settings(deadline=None, max_examples=40)
@given(OPTIONS)
def test_options_come_back_as_they_were(options: IterateOptions) -> None:
    assert IterateOptions.from_json(fresh("build", Bounds(), options, AT).options) == options
    assert NONE.over(options) == options == options.over(NONE)


def test_a_tool_that_is_named_replaces_one_that_was_a_command() -> None:
    before = IterateOptions(ai_command="cat", contexts=("a",))
    assert IterateOptions(agent="claude").over(before) == IterateOptions(
        agent="claude", contexts=("a",)
    )


def test_a_tool_that_was_a_command_is_kept_as_one() -> None:
    options = IterateOptions(ai_command="cat", timeout=5)
    assert IterateOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize(
    ("wire", "word"),
    [
        ({"timeout": -5}, "timeout of the state is -5: expected a whole number >= 1"),
        ({"timeout": True}, "timeout of the state is True: expected a whole number >= 1"),
        ({"unchanged": "2"}, "unchanged of the state is '2': expected a whole number >= 0"),
        ({"stop_unchanged": 1}, "stop_unchanged of the state is 1: expected true or false"),
        ({"no_caps": "yes"}, "no_caps of the state is 'yes': expected true or false"),
        ({"agent": 1}, "agent of the state is 1: expected a non-empty string"),
        ({"ai_cmd": []}, r"ai_cmd of the state is \[\]: expected a non-empty string"),
        ({"context": "ab"}, "context of the state is 'ab': expected a list of texts"),
        ({"observe": {"a": 1}}, "observe of the state is .*: expected a list of texts"),
        ({"agent": "a", "ai_cmd": "b"}, "agent and ai_cmd cannot be combined"),
    ],
)
def test_options_that_no_flag_takes_are_refused(wire: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=f"{word}.*--fresh"):
        IterateOptions.from_json(wire)


def test_options_of_another_program_count_as_not_said() -> None:
    assert IterateOptions.from_json({"colour": "red", "agent": None}) == NONE
