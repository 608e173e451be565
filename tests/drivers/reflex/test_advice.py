"""What a summary advises is what `loop extend` takes."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.reflex.extend import ExtendRequest, extend_limits
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import Limits, RunState, Spend
from pytest_reflex.reports.iteration import summary
from pytest_reflex.reports.lines import plain
from pytest_reflex.reports.run_lines import extend_command, next_line
from tests.drivers.reflex.histories import History


def ended(history: History, reason: str, kind: EventKind = EventKind.STOPPED) -> RunState:
    return history.add(kind, {"reason": reason, "passed": False, "detail": "why"}).state


@pytest.mark.parametrize("reason", ["user_stop", "stagnation", "budget_exceeded"])
def test_the_summary_of_a_stopped_run_names_the_command_that_goes_on(reason: str) -> None:
    text = plain(summary(ended(History().round("a.x.must"), reason)))
    assert "\nNext: pytest-reflex loop extend courses (fix artifact.md by hand first" in text


def test_at_the_last_iteration_more_are_asked_for() -> None:
    state = ended(History(limits=Limits(max_iterations=1)).round("a.x.must"), "iteration_limit")
    assert extend_command(state) == "pytest-reflex loop extend courses --max-iterations +2"


def test_a_run_without_an_artifact_names_none() -> None:
    state = ended(History(), "phase_error", EventKind.FAILED)
    told = "Next: pytest-reflex loop extend courses (--agent NAME takes another agent)"
    assert told in plain(summary(state))
    assert next_line(ended(History(), "tampered", EventKind.FAILED)).endswith("a new loop")


@given(
    limit=st.sampled_from([1, 3, 2.5, 0.1, 1_000_000]),
    times=st.floats(min_value=0, max_value=9),
    iterations=st.integers(1, 3),
)
@settings(deadline=None, max_examples=40)
def test_what_is_advised_is_accepted(limit: float, times: float, iterations: int) -> None:
    limits = Limits(max_iterations=iterations, budget={"usd": limit})
    state = ended(History(limits=limits).round("a.x.must"), "budget_exceeded")
    state = replace(state, spend=Spend(usd=limit * times))
    words = iter(shlex.split(extend_command(state))[4:])
    given = {flag: next(words) for flag in words}
    budget = (given["--budget"],) if "--budget" in given else ()
    after = extend_limits(
        state, ExtendRequest(max_iterations=given.get("--max-iterations"), budget=budget)
    )
    assert after.max_iterations == (3 if iterations == 1 else iterations)
