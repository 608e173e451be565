"""What follows from each step of a goal, as pure functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.goal import transitions
from pytest_reflex.drivers.goal.model import (
    Criterion,
    GoalState,
    Reversibility,
    Shape,
    VerificationPlan,
    Workflow,
)
from pytest_reflex.drivers.goal.run_state import (
    CallResult,
    Claim,
    GateAnswer,
    Goal,
    GoalStep,
    Pause,
)
from pytest_reflex.model.stop import StopReason

STATE = GoalState(
    spec="do it",
    criteria=(Criterion(text="a", plan=VerificationPlan(command="true")), Criterion(text="b")),
    steps=("one", "b"),
    remaining_steps=("one", "b"),
)
GOAL = Goal(
    state=STATE,
    shape=Shape.TOOL,
    workflow=Workflow.BUILD,
    reversibility=Reversibility.FAST,
    rubric={"total": 9},
    at=GoalStep.G1,
)
COLLEAGUE = replace(GOAL, shape=Shape.COLLEAGUE)
RUN = {"met": True, "verification": "execution output", "evidence": "exit status 0"}
SEEN = {"met": True, "verification": "observation", "evidence": "a.png"}


def verified(goal: Goal, **found: Any) -> Goal:
    outcome = {"criteria": found, "broken": [], "error": ""}
    return transitions.after(replace(goal, at=GoalStep.VERIFY), outcome)


@pytest.mark.parametrize(
    ("goal", "at"),
    [
        (GOAL, GoalStep.WORK),
        (replace(GOAL, reversibility=Reversibility.CHECKPOINTED), GoalStep.CHECKPOINT),
        (COLLEAGUE, GoalStep.G1),
        (replace(COLLEAGUE, is_confirmed=True), GoalStep.WORK),
    ],
)
def test_where_a_goal_begins(goal: Goal, at: GoalStep) -> None:
    assert transitions.first(goal).at is at


@pytest.mark.parametrize("gate", [GoalStep.G1, GoalStep.G2])
@pytest.mark.parametrize(
    ("answer", "at", "confirmed", "paused"),
    [
        (GateAnswer.YES, GoalStep.WORK, False, False),
        (GateAnswer.ALL, GoalStep.WORK, True, False),
        (GateAnswer.NO, None, False, True),
        (GateAnswer.NONE, None, False, True),
    ],
)
def test_what_follows_from_an_answer(
    gate: GoalStep, answer: GateAnswer, at: GoalStep | None, confirmed: bool, paused: bool
) -> None:
    found = transitions.after(replace(COLLEAGUE, at=gate), {"answer": answer.value})
    assert found.at is (at or gate)
    assert found.is_confirmed is confirmed
    assert (found.pause is not None) is paused


def test_an_end_that_is_not_confirmed_is_worked_on() -> None:
    done = verified(replace(COLLEAGUE, work=CallResult(exit_signal=True)), a=RUN, b=SEEN)
    assert (done.at, done.state.exit_signal) == (GoalStep.G3, True)
    refused = transitions.after(done, {"answer": "no"})
    assert (refused.at, refused.state.exit_signal) == (GoalStep.WORK, False)
    assert transitions.next_step(refused) == Stop(
        StopReason.PERSON_NEEDED, "G3 was answered with no"
    )
    assert transitions.reopen(refused, is_asked=False).at is GoalStep.WORK
    assert transitions.after(done, {"answer": "yes"}).verdict == "SHIP"


def test_a_gate_that_waited_is_asked_again_where_somebody_is_there() -> None:
    waits = transitions.after(transitions.first(COLLEAGUE), {"answer": "none"})
    assert transitions.reopen(waits, is_asked=True).at is GoalStep.G1
    assert transitions.reopen(waits, is_asked=False).at is GoalStep.WORK


def test_what_must_not_be_counts_before_the_end() -> None:
    goal = replace(GOAL, at=GoalStep.VERIFY, work=CallResult(exit_signal=True))
    outcome = {"criteria": {"a": RUN, "b": SEEN}, "broken": ["it leaks"], "error": ""}
    found = transitions.after(goal, outcome)
    assert found.pause == Pause(StopReason.CIRCUIT_BREAKER, "must not become true: it leaks")
    assert (found.verdict, found.state.exit_signal) == ("", False)


def test_steps_are_never_lost_and_those_that_are_criteria_are_measured() -> None:
    lost = verified(replace(GOAL, work=CallResult(completed=("b",), remaining=("new",))), a=RUN)
    assert lost.state.completed_steps == ()
    assert lost.state.remaining_steps == ("new", "one", "b")
    done = verified(replace(GOAL, work=CallResult(completed=("one",))), b=SEEN)
    assert done.state.completed_steps == ("one", "b")
    assert done.step == "a"


@pytest.mark.parametrize("said", ["completed", "remaining", "both"])
def test_any_number_of_steps_is_taken(said: str) -> None:
    """An agent may name as many as a state file holds: what compares each with each never ends."""
    many = tuple(f"step {number}" for number in range(100_000))
    work = CallResult(
        completed=many if said != "remaining" else (),
        remaining=tuple(reversed(many)) if said != "completed" else (),
    )
    state = verified(replace(GOAL, work=work)).state
    assert {*STATE.steps} <= {*state.completed_steps, *state.remaining_steps}
    assert not {*state.completed_steps} & {*state.remaining_steps}


@pytest.mark.parametrize(
    ("claims", "texts"),
    [({}, ["a", "b"]), ({"b": Claim(met=True)}, ["b"]), ({"a": Claim(met=False)}, ["a"])],
)
def test_what_is_verified_is_what_was_claimed(claims: Any, texts: list[str]) -> None:
    goal = replace(GOAL, work=CallResult(claims=claims))
    assert [one.text for one in transitions.criteria_to_verify(goal)] == texts


def test_a_goal_is_json_and_read_back_as_it_was() -> None:
    goal = replace(
        verified(GOAL, a=RUN),
        pause=Pause(StopReason.CIRCUIT_BREAKER, "x"),
        work=CallResult(claims={"a": Claim(met=True)}, edits={"f": 2}, undone=("spec",)),
    )
    assert Goal.from_json(goal.to_json()) == goal
