"""An event as one line for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.reports.refusal import refusal_of
from pytest_reflex.verdict.formatting import shown_score

Payload = Mapping[str, Any]
_ROOM = 400


def event_line(event: Event) -> str:
    """Return number, time, place in the loop, kind and what the event says, as one line."""
    place = f"{event.iteration}{event.level.value}"
    try:
        says = _SAYS[event.kind](event.payload)
    except (LookupError, TypeError, ValueError, AttributeError):  # another program wrote it
        says = ""
    head = f"{event.seq:>4}  {event.ts}  {place:<3} {event.step.value:<15} {event.kind.value}"
    return visible(f"{head}: {one_line(says, _ROOM)}" if says else head)


def _started(payload: Payload) -> str:
    limits, criteria = payload["limits"], payload["criteria"]
    return f"{criteria['name']}, at most {limits['max_iterations']} iterations"


def _artifact(payload: Payload) -> str:
    if "after" not in payload:
        return f"by {payload['by']}"
    return f"by {payload['by']}, {payload['after'][:8]}, {payload.get('size', '?')} bytes"


def _evaluation(payload: Payload) -> str:
    evaluation = payload.get("evaluation")
    if evaluation is None:  # another program has these two
        verdict = "passed" if payload["passed"] else "not passed"
        return f"{shown_score(Fraction(str(payload['score'])))} {verdict}"
    failed = ", ".join(row["id"] for row in evaluation["failed"])
    verdict = "passed" if evaluation["passed"] else "not passed"
    score = f"{shown_score(Fraction(str(evaluation['score_exact'])))} {verdict}"
    proofs = payload.get("proofs", ())
    vacuous = [one["rule"] for one in proofs if one["proof"] == "vacuous"]
    unproved = [one["rule"] for one in proofs if one["proof"] not in ("vacuous", "proved")]
    cannot = f"; cannot fail: {', '.join(vacuous)}" if vacuous else ""
    cannot += f"; not proved: {', '.join(unproved)}" if unproved else ""
    return (f"{score}; failed: {failed}" if failed else score) + cannot


def _checks(payload: Payload) -> str:
    number = len(payload["checks"])
    return "1 check" if number == 1 else f"{number} checks"


def _ended(payload: Payload) -> str:
    detail = f" ({payload['detail']})" if payload.get("detail") else ""
    back = payload.get("restored_from")
    restored = f"; the artifact of iteration {back['iteration']} was restored" if back else ""
    return f"{payload['reason']}{detail}{restored}"


_SAYS: dict[EventKind, Callable[[Payload], str]] = {
    EventKind.RUN_STARTED: _started,
    EventKind.PLAN_CREATED: lambda payload: "; ".join(payload["plan"]),
    EventKind.ARTIFACT_CREATED: _artifact,
    EventKind.CHECKS_PREPARED: _checks,
    EventKind.EVALUATION_DONE: _evaluation,
    EventKind.CRITIQUE_DONE: lambda payload: ", ".join(i["rule_id"] for i in payload["issues"]),
    EventKind.REFINEMENT_DONE: _artifact,
    EventKind.PHASE_SWITCHED: lambda payload: f"{payload['from']} to {payload['to']}",
    EventKind.ITERATION_ADVANCED: lambda payload: f"to {payload['iteration']}",
    EventKind.PHASE_ERROR: lambda payload: f"{payload['step']}: {refusal_of(payload)}",
    EventKind.STOPPED: _ended,
    EventKind.FAILED: _ended,
    EventKind.FEEDBACK_GIVEN: lambda payload: str(payload["text"]),
    EventKind.VOTE_CAST: lambda payload: (
        f"{payload['rule_id']}, vote {payload['number']}: {payload['verdict']} ({payload['agent']})"
    ),
    EventKind.CHANGES_ACCEPTED: lambda payload: ", ".join(payload["paths"]),
    EventKind.RUN_ADOPTED: lambda payload: f"begun by another program; {_started(payload)}",
    EventKind.RUN_EXTENDED: lambda payload: (
        f"after {payload['reason']}, at most {payload['limits']['max_iterations']} iterations"
    ),
}
