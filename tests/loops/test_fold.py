"""State is a fold of history."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import StateError
from pytest_reflex.loops.decide import Act, decide
from pytest_reflex.loops.fold import fold
from pytest_reflex.loops.runjson import run_json
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.words import RunStatus
from tests.loops.histories import History

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


@given(st.lists(st.tuples(st.sets(st.sampled_from(RULES)), st.sampled_from("123")), max_size=6))
@settings(deadline=None, max_examples=60)
def test_folding_in_pieces_equals_folding_at_once(rounds: list[tuple[set[str], str]]) -> None:
    history = History()
    for not_passed, sha in rounds:
        history.round(*not_passed, sha=sha)
        decision = decide(history.state)
        if decision.act is Act.SWITCH:
            history.switched().prepared().evaluated(*not_passed, sha=sha)
        if decide(history.state).act is not Act.STEP:
            break
        history.refined(sha).advanced()
    state = None
    for event in history.events:
        state = fold([Event.from_json(event.to_json())], state)
    assert state == history.state
    assert run_json(state) == run_json(history.state)
