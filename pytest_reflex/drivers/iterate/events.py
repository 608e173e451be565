"""The events of an iteration loop, made of what became durable: pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.events import DriverEvent, Kind
from pytest_reflex.drivers.iterate.model import Cut, Round, State
from pytest_reflex.errors import ExitCode

DRIVER = "iterate"


def started(state: State) -> DriverEvent:
    """Return that a run begins, or goes on behind the iterations that are done."""
    return _event(
        state,
        Kind.STARTED,
        max_iterations=state.max_iterations,
        started_at=state.started_at,
        resumed=bool(state.iteration or state.spend.calls),
    )


def begins(state: State, agent: str) -> DriverEvent:
    """Return that the next iteration is waited for, and the agent that it asks."""
    total, steps = state.max_iterations, {"iteration": agent}
    return _event(state, Kind.WAITING, state.iteration + 1, steps=steps, max_iterations=total)


def waits(state: State, reason: str) -> DriverEvent:
    """Return that the agent of the next iteration is given time, and why."""
    return _event(state, Kind.WAITING, state.iteration + 1, reason=reason)


def feedback_taken(state: State, count: int) -> DriverEvent:
    """Return that critiques of people were taken up, for the next iteration."""
    return _event(state, Kind.DECIDED, decision="feedback", count=count)


def of_outcome(state: State, outcome: Round | Cut) -> Iterator[DriverEvent]:
    """Yield what an iteration came to; `state` has it counted already."""
    if isinstance(outcome, Cut):
        number = state.iteration + 1
        how = "limited" if outcome.limit else "cancelled"
        detail, cost = outcome.limit, outcome.cost
        yield _event(state, Kind.ACTED, number, outcome=how, detail=detail, cost=cost)
        return
    yield _event(
        state,
        Kind.ACTED,
        seconds=round(outcome.seconds, 3),
        usd=outcome.usd,
        tokens=outcome.tokens,
        changed=outcome.changed,
        files=None if outcome.files is None else list(outcome.files),
    )
    for result in outcome.gates:
        yield _event(
            state,
            Kind.MEASURED,
            gate=result.gate.name,
            outcome=result.outcome,
            required=result.gate.required,
            summary=result.summary,
            seconds=round(result.seconds, 3),
        )
    yield _event(
        state,
        Kind.ITERATION,
        outcome=outcome.outcome,
        cause=outcome.cause.value if outcome.cause else "",
        detail=outcome.detail,
        failures=state.consecutive_failures,
        progress=outcome.progress,
    )


def stopped(state: State, stop: Stop, code: ExitCode) -> DriverEvent:
    """Return how a run ended."""
    return _event(
        state,
        Kind.STOPPED,
        reason=stop.reason.value,
        detail=stop.detail,
        status=state.status.value,
        exit_code=int(code),
    )


def _event(state: State, kind: Kind, iteration: int | None = None, **fields: Any) -> DriverEvent:
    return DriverEvent(
        driver=DRIVER,
        run=state.procedure_name,
        kind=kind,
        iteration=state.iteration if iteration is None else iteration,
        fields=fields,
    )
