"""The state file of a goal: the seed's form, that of other programs, and what nobody can use."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal.model import (
    Criterion,
    GoalState,
    GoalStatus,
    MustNot,
    Verification,
    VerificationPlan,
)
from pytest_reflex.drivers.goal.statefile import dump, load
from pytest_reflex.errors import StateError

SEED = {
    "spec": "original user request verbatim",
    "criteria": ["tests pass", "all routes refactored", "no lint errors"],
    "criteriaStatus": {"tests pass": False, "all routes refactored": False, "no lint errors": True},
    "exit_signal": False,
    "steps": ["step1", "step2", "step3"],
    "completedSteps": ["step1"],
    "remainingSteps": ["step2", "step3"],
    "iteration": 2,
    "status": "in_progress",
    "circuitBreaker": {"stuckCount": 0, "lastUnmet": "tests pass"},
}


def read(wire: Any) -> GoalState:
    return load(json.dumps(wire).encode())


def test_the_state_of_the_seed_is_read_and_written_with_its_keys_in_order() -> None:
    state = read(SEED)
    assert [one.met for one in state.criteria] == [False, False, True]
    assert state.criteria[2].verification is Verification.CLAIM
    assert state.unmet == ("tests pass",)
    again = json.loads(dump(state))
    assert again.pop("circuitBreaker") == {
        "stuckCount": 0, "lastUnmet": "tests pass", "unmet": ["tests pass"],
    }  # fmt: skip
    assert list(again) == [key for key in SEED if key != "circuitBreaker"]
    assert again == {key: value for key, value in SEED.items() if key != "circuitBreaker"}


@pytest.mark.parametrize(
    "status",
    [{}, True, [], "all met", 7, None, {"a": "true"}, {"a": 1}, {"a": None}, {"a": []},
     {"a": {"met": 1}}, {"a": {"met": "yes"}}, {"a": {}}],
    ids=str,
)  # fmt: skip
def test_an_empty_or_malformed_status_is_never_met(status: Any) -> None:
    assert not read({"spec": "s", "criteria": ["a"], "criteriaStatus": status}).all_met
    assert not read({"spec": "s", "criteriaStatus": status}).all_met


def test_an_assumption_is_not_met() -> None:
    wire = {"criteriaStatus": {"a": {"met": True, "verification": "assumption"}}}
    assert not read(wire).all_met


@pytest.mark.parametrize(
    ("entry", "plan", "verification"),
    [
        (
            {"met": False, "verification": "execution output"},
            VerificationPlan(required=Verification.EXECUTION_OUTPUT),
            Verification.EXECUTION_OUTPUT,
        ),
        ({"met": True, "verification": "manual QA"}, VerificationPlan(), Verification.CLAIM),
        ({"met": True, "verification": ["x"]}, VerificationPlan(), Verification.CLAIM),
        ({"met": False, "command": "make test"}, VerificationPlan(command="make test"), None),
        (
            {"met": False, "verification": "observation", "required": "measurement"},
            VerificationPlan(required=Verification.MEASUREMENT),
            Verification.OBSERVATION,
        ),
    ],
)
def test_an_entry_may_say_how_its_criterion_is_verified(
    entry: dict[str, Any], plan: VerificationPlan, verification: Verification | None
) -> None:
    (one,) = read({"criteriaStatus": {"a": entry}}).criteria
    assert (one.plan, one.verification) == (plan, verification)


def test_keys_of_other_programs_are_kept() -> None:
    wire = {
        "spec": "s",
        "criteriaStatus": {"a": {"met": False, "owner": "me"}},
        "circuitBreaker": {"stuckCount": 1, "lastUnmet": "a", "since": 3},
        "tool": {"version": 1},
    }
    again = json.loads(dump(read(wire)))
    assert again["tool"] == {"version": 1}
    assert again["criteriaStatus"]["a"] == {"met": False, "owner": "me"}
    assert again["circuitBreaker"]["since"] == 3


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "state.json:1:1"),
        (b"[]", "no JSON object"),
        (b"\xff", "it is not JSON"),
        (b'{"spec": ' + b"[" * 100_000, "nested too deep"),
        (b'{"spec": 1}', "`spec`"),
        (b'{"exit_signal": "true"}', "`exit_signal`"),
        (b'{"iteration": -1}', "`iteration`"),
        (b'{"iteration": true}', "`iteration`"),
        (b'{"status": "finished"}', '"finished"'),
        (b'{"steps": 3}', "`steps`"),
        (b'{"circuitBreaker": {"stuckCount": "5"}}', "`circuitBreaker.stuckCount`"),
        (b'{"mustNot": [{"command": "x"}]}', "`mustNot`"),
        (b'{"goal": {"plans": {"a": {"command": 1}}}, "criteria": ["a"]}', "`command` of 'a'"),
        (b'{"spec": "a", "spec": "b"}', "spec"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_named_with_file_and_key(data: bytes, named: str) -> None:
    with pytest.raises(StateError) as caught:
        load(data)
    assert named in str(caught.value)
    assert str(caught.value).startswith("state.json")


words = st.text(min_size=1, max_size=6)
verifications = st.sampled_from([None, *Verification])
plans = st.builds(
    VerificationPlan,
    command=st.sampled_from(["", "make"]), compare=st.sampled_from(["", "p95 < 1"]),
    required=verifications,
)  # fmt: skip
states = st.builds(
    GoalState,
    spec=st.text(max_size=9),
    criteria=st.lists(
        st.builds(
            Criterion, text=words, plan=plans, met=st.booleans(), evidence=st.text(max_size=5)
        ),
        unique_by=lambda one: one.text,
        max_size=4,
    ).map(tuple),
    exit_signal=st.booleans(),
    steps=st.lists(words, max_size=3).map(tuple),
    iteration=st.integers(0, 60),
    status=st.sampled_from(list(GoalStatus)),
    stuck_count=st.integers(0, 9),
    unmet=st.lists(words, max_size=3).map(tuple),
    pause_reason=st.text(max_size=5),
    must_not=st.lists(st.builds(MustNot, text=words, plan=plans), max_size=2).map(tuple),
    id=st.text(max_size=4),
    hook=st.dictionaries(words, st.integers()),
    own=st.dictionaries(words.filter(lambda key: key != "plans"), st.integers()),
)


@pytest.mark.long
@given(state=states, verification=verifications)
def test_what_was_written_is_read_again(
    state: GoalState, verification: Verification | None
) -> None:
    proven = tuple(
        replace(one, verification=verification or (Verification.CLAIM if one.met else None))
        for one in state.criteria
    )
    state = replace(state, criteria=proven)
    assert load(dump(state)) == state
