"""The events of a Reflex loop in the vocabulary of all drivers, made of its history: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.drivers.reflex.statefile import KIND, LOOP, PYTEST_LOOP, SESSION
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import ENDS

EVENT = "event"
"""The field with the history's own word for an event; what was made of others has none."""

_KINDS = {
    EventKind.RUN_STARTED: DriverEventKind.STARTED,
    EventKind.RUN_EXTENDED: DriverEventKind.STARTED,
    EventKind.RUN_ADOPTED: DriverEventKind.STARTED,
    EventKind.EVALUATION_DONE: DriverEventKind.MEASURED,
    EventKind.VOTE_CAST: DriverEventKind.MEASURED,
    EventKind.PHASE_SWITCHED: DriverEventKind.DECIDED,
    EventKind.ITERATION_ADVANCED: DriverEventKind.DECIDED,
    EventKind.FEEDBACK_GIVEN: DriverEventKind.DECIDED,
    EventKind.CHANGES_ACCEPTED: DriverEventKind.DECIDED,
    EventKind.STOPPED: DriverEventKind.STOPPED,
    EventKind.FAILED: DriverEventKind.STOPPED,
}
_DECISIONS = {
    EventKind.PHASE_SWITCHED: "phase",
    EventKind.ITERATION_ADVANCED: "iteration",
    EventKind.FEEDBACK_GIVEN: "feedback",
    EventKind.CHANGES_ACCEPTED: "accepted",
    EventKind.ARTIFACT_CREATED: "adopted",
}
_GUARD = ("outside", "reverted", "unguarded")


def of_history(event: Event, state: RunState) -> Iterator[DriverEvent]:
    """Yield what an event of the history comes to; `state` is what the history leads to.

    One of them has the whole event in its fields. An iteration that ends, and what the guard did
    to a change, are events of their own.
    """
    number, payload, kind = event.iteration, event.payload, _kind(event)
    ended = number - 1 if event.kind is EventKind.ITERATION_ADVANCED else 0
    if kind is DriverEventKind.STOPPED and state.marks and state.marks[-1].iteration == number:
        ended = number
    if ended:
        outcome = "success" if payload.get("passed") else "failure"
        yield of_run(state, DriverEventKind.ITERATION, ended, outcome=outcome)
    yield of_run(state, kind, number, **_common(kind, event, state), **_whole(event))
    if guard := {key: payload[key] for key in _GUARD if payload.get(key)}:
        yield of_run(state, DriverEventKind.DECIDED, number, decision="guard", **guard)


def goes_on(state: RunState) -> DriverEvent:
    """Return that a run goes on where it was left."""
    return of_run(
        state, DriverEventKind.STARTED, state.iteration, **_start_fields(state), resumed=True
    )


def driver_of(state: RunState) -> str:
    """Return the name of the driver of a run."""
    return PYTEST_LOOP if state.setup.get(KIND) == SESSION else LOOP


def of_run(state: RunState, kind: DriverEventKind, iteration: int, **fields: Any) -> DriverEvent:
    """Return an event of a run."""
    driver = driver_of(state)
    return DriverEvent(
        driver=driver, run=state.alias, kind=kind, iteration=iteration, fields=fields
    )


def _kind(event: Event) -> DriverEventKind:
    """Return the kind of an event: what an agent was asked for it did, anything else is a step."""
    if event.kind is EventKind.ARTIFACT_CREATED and event.payload["by"] == "hand":
        return DriverEventKind.DECIDED
    asked = "agent" in event.payload or event.was_interrupted
    return _KINDS.get(event.kind) or (DriverEventKind.ACTED if asked else DriverEventKind.STEP)


def _whole(event: Event) -> Mapping[str, Any]:
    """Return all of an event but its iteration; what it counts as `status` follows from it."""
    wire = event.to_json()
    return {key: value for key, value in wire.items() if key not in ("iteration", "status")}


def _common(kind: DriverEventKind, event: Event, state: RunState) -> Mapping[str, Any]:
    """Return the fields that events of the kind have with every driver."""
    payload = event.payload
    if kind is DriverEventKind.STARTED:
        return {**_start_fields(state), "resumed": event.kind is not EventKind.RUN_STARTED}
    if kind is DriverEventKind.DECIDED:
        return {"decision": _DECISIONS[event.kind]}
    if kind is DriverEventKind.ACTED:
        return {key: (payload.get("cost") or {}).get(key) for key in ("seconds", "usd", "tokens")}
    if kind is DriverEventKind.MEASURED and "evaluation" in payload:
        return {"outcome": "pass" if payload["evaluation"]["passed"] else "fail"}
    if kind is DriverEventKind.STOPPED and state.stop.reason is not None:
        code = int(ENDS[state.stop.reason].exit_code)
        found = {"reason": state.stop.reason.value, "detail": state.stop.detail}
        return {**found, "status": state.status.value, "exit_code": code}
    return {}


def _start_fields(state: RunState) -> Mapping[str, Any]:
    return {"max_iterations": state.limits.max_iterations, "started_at": state.created_at}
