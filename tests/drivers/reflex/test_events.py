"""The events of a Reflex loop in the vocabulary of all drivers, made of its history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.drivers.reflex.events import of_history
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.histories import History
from tests.drivers.reflex.stage import PLAN, Script, Stage, history_of

GOOD = "alpha beta gamma\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def of(kind: EventKind, **payload: object) -> list[DriverEvent]:
    """Return what an event of a history comes to."""
    event = Event(
        kind=kind, run_id="x", iteration=2, level=Level.A, step=Step.REFINE, seq=9, ts="",
        payload=payload,
    )  # fmt: skip
    return list(of_history(event, History().round("a.x.must").state))


SINGLE = {
    "a plan": (EventKind.PLAN_CREATED, {"agent": "x"}, DriverEventKind.ACTED),
    "checks of an agent": (EventKind.CHECKS_PREPARED, {"agent": "x"}, DriverEventKind.ACTED),
    "checks of rules": (EventKind.CHECKS_PREPARED, {"by": "rules"}, DriverEventKind.STEP),
    "a refinement": (
        EventKind.REFINEMENT_DONE,
        {"by": "agent", "agent": "x"},
        DriverEventKind.ACTED,
    ),
    "fixes": (EventKind.REFINEMENT_DONE, {"by": "fixes"}, DriverEventKind.STEP),
    "a refused answer": (EventKind.PHASE_ERROR, {"agent": "x"}, DriverEventKind.ACTED),
    "a check that cannot run": (EventKind.PHASE_ERROR, {}, DriverEventKind.STEP),
    "a vote": (EventKind.VOTE_CAST, {}, DriverEventKind.MEASURED),
    "a change by hand": (EventKind.ARTIFACT_CREATED, {"by": "hand"}, DriverEventKind.DECIDED),
    "an artifact": (
        EventKind.ARTIFACT_CREATED,
        {"by": "agent", "agent": "x"},
        DriverEventKind.ACTED,
    ),
    "phase B": (EventKind.PHASE_SWITCHED, {}, DriverEventKind.DECIDED),
    "feedback": (EventKind.FEEDBACK_GIVEN, {}, DriverEventKind.DECIDED),
    "accepted changes": (EventKind.CHANGES_ACCEPTED, {}, DriverEventKind.DECIDED),
}


@pytest.mark.parametrize(("kind", "payload", "meant"), SINGLE.values(), ids=SINGLE.keys())
def test_an_event_of_the_history_is_one_of_the_kind(
    kind: EventKind, payload: dict[str, object], meant: DriverEventKind
) -> None:
    (event,) = of(kind, **payload)
    assert (event.kind, event.iteration) == (meant, 2)
    assert (event.fields["event"], event.fields["payload"]) == (kind.value, payload)


def test_every_decision_has_a_name() -> None:
    names = {
        event.fields["decision"]
        for kind, payload, meant in SINGLE.values()
        for event in of(kind, **payload)
        if meant is DriverEventKind.DECIDED
    }
    assert names == {"adopted", "phase", "feedback", "accepted"}


def test_an_advance_ends_an_iteration() -> None:
    ended, decided = of(EventKind.ITERATION_ADVANCED, iteration=2)
    assert (ended.kind, ended.iteration, ended.fields) == (
        DriverEventKind.ITERATION,
        1,
        {"outcome": "failure"},
    )
    assert (decided.kind, decided.iteration) == (DriverEventKind.DECIDED, 2)


def test_what_the_guard_did_is_a_decision_of_its_own() -> None:
    acted, guard = of(EventKind.REFINEMENT_DONE, agent="x", outside=["a", "b"], reverted=["b"])
    assert acted.kind is DriverEventKind.ACTED
    assert (guard.kind, guard.fields) == (
        DriverEventKind.DECIDED,
        {"decision": "guard", "outside": ["a", "b"], "reverted": ["b"]},
    )


def test_a_run_that_stops_before_its_evaluation_ends_no_iteration() -> None:
    assert [event.kind for event in of(EventKind.STOPPED, passed=False)] == [
        DriverEventKind.STOPPED
    ]


def test_nothing_of_the_history_is_lost(stage: Stage) -> None:
    with stage.begin(Script(produce=GOOD)) as loop:
        told = [event.to_json() for event in history_of(loop)]
        assert told == [event.to_json() for event in loop.files.latest_events()]


def test_each_sitting_begins_with_started(stage: Stage) -> None:
    with stage.begin(Script(produce=GOOD)) as loop:
        first = next(loop.events())
    with stage.resume(Script(produce=GOOD)) as loop:
        again = next(loop.events())
    assert [event.kind for event in (first, again)] == [
        DriverEventKind.STARTED,
        DriverEventKind.STARTED,
    ]
    assert [event.fields["resumed"] for event in (first, again)] == [False, True]
    assert "event" not in again.fields


def patient(request: StepRequest) -> str:
    request.tell("writer: busy; waiting 30 s")
    return PLAN


def test_a_wait_is_told_at_once_to_who_listens(stage: Stage) -> None:
    told: list[DriverEvent] = []
    with stage.begin(Script(plan=patient, produce=GOOD)) as loop:
        for event in replace(loop, listen=told.append).events():
            if event.fields.get("event") == "plan_created":
                break
            assert event.fields.get("reason") is None
    (wait,) = told
    assert (wait.kind, wait.iteration) == (DriverEventKind.WAITING, 1)
    assert wait.fields == {"step": "PLAN", "reason": "writer: busy; waiting 30 s"}


def test_without_a_listener_it_comes_before_the_next_event(stage: Stage) -> None:
    with stage.begin(Script(plan=patient, produce=GOOD)) as loop:
        events = list(loop.events())
    place = next(i for i, event in enumerate(events) if "reason" in event.fields)
    around = events[place - 1], events[place + 1]
    assert around[0].fields["steps"] == {"PLAN": ""}
    assert around[1].fields["event"] == "plan_created"
