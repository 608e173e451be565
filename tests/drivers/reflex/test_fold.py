"""State is a fold of history."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.reflex.decide import MAX_TRIES, Action, decide
from pytest_reflex.drivers.reflex.fold import fold
from pytest_reflex.drivers.reflex.statefile import run_json
from pytest_reflex.errors import StateError
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.stop import RunStatus
from tests.drivers.reflex.histories import History

RULES = ("a.x.must", "a.x.should", "b.x.must", "b.x.should")


def test_an_empty_history_is_an_error() -> None:
    with pytest.raises(StateError, match="history is empty"):
        fold([])


def test_a_history_without_its_start_is_an_error() -> None:
    with pytest.raises(StateError, match="starts with plan_created"):
        fold(History().planned().events[1:])


def test_run_json_keeps_the_shape_of_the_seed() -> None:
    wire = run_json(History().round("a.x.must").state)
    assert list(wire)[1:] == [
        "run_id", "task_alias", "status", "iteration", "max_iterations", "phase", "current_step",
        "task", "criteria", "plan", "prepared_checks", "evaluation", "critique", "stop",
        "last_score", "last_score_exact", "stagnation_count", "artifact", "proofs", "feedback",
        "limits", "setup", "spend", "seal", "created_at", "updated_at", "last_seq",
    ]  # fmt: skip
    assert wire["criteria"]["phase"]["B"] == {"threshold": 0.9, "active_levels": ["A", "B"]}
    assert wire["stop"] == {"passed": False, "reason": ""}


def test_the_stop_event_ends_the_run() -> None:
    history = History().round()
    history.add(EventKind.STOPPED, {"reason": "iteration_limit", "passed": False, "detail": ""})
    assert history.state.status is RunStatus.STOPPED


def test_a_restored_artifact_brings_its_evaluation() -> None:
    history = History().round("a.x.must", sha="1").refined("2").advanced()
    first = history.events[4].payload["evaluation"]
    history.round("a.x.must", "a.x.should", sha="2")
    restored = {"iteration": 1, "phase": "A"}
    payload = {"reason": "iteration_limit", "passed": False, "restored_from": restored}
    history.add(EventKind.STOPPED, {**payload, "after": "1" * 64, "evaluation": first})
    assert history.state.artifact_status == "evaluated"
    assert history.state.evaluation.to_json() == first  # type: ignore[union-attr]


ARTIFACT_STATUS = {
    "not_created": lambda h: h.planned(),
    "unevaluated": lambda h: h.planned().produced(),
    "evaluated": lambda h: h.round(),
    "stale": lambda h: h.round("a.x.must").produced("2", by="hand"),
}


@pytest.mark.parametrize("status", ARTIFACT_STATUS)
def test_artifact_status(status: str) -> None:
    assert ARTIFACT_STATUS[status](History()).state.artifact_status == status


@pytest.mark.long
@given(st.lists(st.tuples(st.sets(st.sampled_from(RULES)), st.sampled_from("123")), max_size=6))
@settings(deadline=None, max_examples=60)
def test_folding_in_pieces_equals_folding_at_once(rounds: list[tuple[set[str], str]]) -> None:
    history = History()
    for not_passed, sha in rounds:
        history.round(*not_passed, sha=sha)
        decision = decide(history.state)
        if decision.act is Action.SWITCH:
            history.switched().prepared().evaluated(*not_passed, sha=sha)
        if decide(history.state).act is not Action.STEP:
            break
        history.refined(sha).advanced()
    state = None
    for event in history.events:
        state = fold([Event.from_json(event.to_json())], state)
    assert state == history.state
    assert run_json(state) == run_json(history.state)


# Each field that an event sets decides about what follows.


def change(kind: EventKind, **more: object) -> dict[str, object]:
    words = {"added": [], "modified": ["# T"], "removed": []}
    return {"by": "agent", "after": "3" * 64, "changed": words, **more}


@pytest.mark.parametrize("kind", [EventKind.ARTIFACT_CREATED, EventKind.REFINEMENT_DONE])
def test_what_differs_from_the_evaluated_artifact_is_what_the_change_says_of_it(
    kind: EventKind,
) -> None:
    history = History().round("a.x.must").refined("2").advanced().planned()
    since = {"added": ["# New"], "modified": [], "removed": ["# T"]}
    state = history.add(kind, change(kind, since_evaluation=since)).state
    assert {word: state.changed[word] for word in since} == since
    state = history.add(kind, change(kind)).state  # a history that does not say so
    assert (state.changed["added"], state.changed["modified"]) == (["# New"], ["# T"])


def test_after_a_switch_nothing_is_prepared_or_evaluated() -> None:
    before, after = (h.state for h in (History().round(), History().round().switched()))
    assert (before.level, before.prepared, before.evaluated, before.checks) == ("A", True, True, ())
    assert (after.level, after.prepared, after.evaluated, after.checks) == ("B", False, False, None)


def test_an_evaluation_says_that_plan_and_artifact_are_there() -> None:
    history = History().round("a.x.must").refined("2").advanced().evaluated("a.x.must", sha="2")
    assert history.state.step == "CRITIQUE"
    assert (history.state.planned, history.state.produced) == (True, True)


@pytest.mark.parametrize("step", ["PLAN", "PRODUCE", "PREPARE"])
def test_a_step_that_fails_succeeds_and_fails_again_has_not_failed_twice(step: str) -> None:
    history = History() if step == "PLAN" else History().planned()
    history.failed(step)
    done = {"PLAN": history.planned, "PRODUCE": history.produced, "PREPARE": history.prepared}
    done[step]()
    assert history.state.errors == {}
    history.failed(step, "again")
    assert history.state.errors == {step: ("again",)}
    assert decide(history.state).act is Action.STEP
    assert len(history.failed(step).state.errors[step]) == MAX_TRIES


def test_what_one_step_comes_to_leaves_the_errors_of_others() -> None:
    history = History().planned().failed("PRODUCE").failed("PREPARE").prepared()
    assert history.state.errors == {"PRODUCE": ("not JSON",)}
    assert history.produced().state.errors == {}


def extended(history: History) -> History:
    history.add(EventKind.STOPPED, {"reason": "stagnation", "passed": False})
    limits = history.state.limits.to_json() | {"max_iterations": 9}
    return history.add(EventKind.RUN_EXTENDED, {"limits": limits, "reason": "stagnation"})


def test_what_counted_towards_a_stop_begins_anew_when_a_run_is_extended() -> None:
    from pytest_reflex.model.run import Limits
    from tests.verdict.sets import criteria, rule

    rules = criteria(rule("b.x.must"), rule("b.x.should", "warn"))
    history = History(rules, Limits(no_major_issues="never", oscillation=False))
    for sha in "123":
        history.round("b.x.should", sha=sha).refined(sha).advanced()
    assert history.state.stagnation_count == 2
    assert history.failed("PLAN").state.errors
    state = extended(history).state
    assert (state.stagnation_count, state.errors, state.recent) == (0, {}, ())
    history.round("b.x.should", sha="4")
    assert history.state.stagnation_count == 0
    assert decide(history.state).step == "CRITIQUE"


def again(history: History, *not_passed: str, sha: str) -> History:
    history.evaluated(*not_passed, sha=sha)
    history.events[-1].payload["again"] = True  # type: ignore[index]
    return history


def test_an_evaluation_that_takes_the_place_of_another_leaves_one_mark() -> None:
    history = History().round("a.x.should").refined("2").advanced().round(sha="2")
    assert again(history, "a.x.must", sha="2").state.marks[-1].passed is False
    assert [(mark.sha256[0], mark.passed) for mark in history.state.marks] == [
        ("1", False),
        ("2", False),
    ]
    assert history.state.evaluation is not None
    assert history.state.evaluation.passed is False


def test_stagnation_is_counted_without_the_evaluation_that_did_not_hold() -> None:
    from pytest_reflex.model.run import Limits
    from tests.verdict.sets import criteria, rule

    rules = criteria(rule("b.x.must"), rule("b.x.should", "warn"))
    history = History(rules, Limits(no_major_issues="never"))
    history.round("b.x.should", sha="1").refined("2").advanced().round(sha="2")
    assert history.state.stagnation_count == 0
    assert again(history, "b.x.should", sha="2").state.stagnation_count == 1


def test_an_evaluation_of_another_artifact_never_takes_the_place_of_one() -> None:
    history = again(History().round("a.x.must"), sha="2")
    assert [mark.sha256[0] for mark in history.state.marks] == ["1", "2"]
