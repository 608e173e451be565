"""State from history: `fold` is the only way a run's state comes about, live or recovered.

Promises: pure; equal histories give equal states. Limits: trusts that the events were written by
this program (the journal has checked order and sums).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pytest_reflex.drivers.reflex.statefile import SCHEMA_VERSION
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.results import Evaluation, evaluation_from_json
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import EMPTY_SHA256, EvaluationMark, Limits, RunState, StopRecord
from pytest_reflex.model.stop import ENDS, RunStatus, StopReason
from pytest_reflex.verdict.progress import mark_of, stagnation_after, stagnation_of

Payload = Mapping[str, Any]

AGAIN = "again"
"""The key of an evaluation that replaces the one before, which did not hold."""


def fold(events: Iterable[Event], state: RunState | None = None) -> RunState:
    """Return the state after some events; the first of a whole history is run_started."""
    for event in events:
        state = apply(state, event)
    if state is None:
        raise StateError("the history is empty", hint="start a new loop")
    return state


def apply(state: RunState | None, event: Event) -> RunState:
    """Return the state after one more event."""
    if event.kind is EventKind.RUN_STARTED:
        return _start(event)
    if event.kind is EventKind.RUN_ADOPTED:
        return _adopt(event)
    if state is None:
        raise StateError(
            f"the history starts with {event.kind.value}, not with run_started",
            hint="start a new loop",
        )
    changed = _APPLY[event.kind](state, event.payload)
    return replace(
        changed,
        spend=changed.spend.plus(event.payload.get("cost")),
        updated_at=event.ts,
        last_seq=event.seq,
    )


def _start(event: Event) -> RunState:
    payload = event.payload
    if payload.get("schema_version", 1) > SCHEMA_VERSION:
        raise StateError(
            f"a newer version wrote the history (schema {payload['schema_version']}, this one "
            f"reads {SCHEMA_VERSION})"
        )
    return RunState(
        run_id=event.run_id,
        alias=payload["task_alias"],
        task=payload["task"]["prompt"],
        ideal_result=payload["task"]["ideal_result"],
        criteria=Criteria.from_json(payload["criteria"]),
        limits=Limits.from_json(payload["limits"]),
        level=event.level,
        seal=payload["seal"],
        setup=payload["setup"],
        draft=payload.get("draft"),
        created_at=event.ts,
        updated_at=event.ts,
        last_seq=event.seq,
    )


def _adopt(event: Event) -> RunState:
    """A run of another program stands where that left it; what that has paid is unknown."""
    payload, found = event.payload, event.payload["adopted"]
    reason, done = found["reason"], found["done"]
    known = reason in list(StopReason)
    state = replace(
        _start(event),
        created_at=found["created_at"],
        status=RunStatus(found["status"]),
        stop=StopRecord(
            passed=found["passed"],
            reason=StopReason(reason) if known else None,
            detail="" if known else reason,
        ),
        iteration=event.iteration,
        plan=tuple(found["plan"]),
        checks=None if found["checks"] is None else tuple(found["checks"]),
        issues=None if found["issues"] is None else tuple(found["issues"]),
        artifact_sha256=payload.get("after", EMPTY_SHA256),
        stagnation_count=found["stagnation_count"],
        planned=Step.PLAN in done,
        produced=Step.PRODUCE in done,
        prepared=Step.PREPARE in done,
        evaluated=Step.EVALUATE in done,
        critiqued=Step.CRITIQUE in done,
        refined=Step.REFINE in done,
    )
    if "evaluation" not in payload:
        return state
    rules = {rule.id: rule for rule in state.criteria.rules}
    evaluation = evaluation_from_json(payload["evaluation"], rules)
    marks = (mark_of(evaluation, state.iteration),) if evaluation.artifact_sha256 else ()
    return replace(state, evaluation=evaluation, marks=marks)


def _plan(state: RunState, payload: Payload) -> RunState:
    return replace(
        state, plan=tuple(payload["plan"]), planned=True, errors=_clear_error(state, Step.PLAN)
    )


def _artifact(state: RunState, payload: Payload) -> RunState:
    """A new artifact, from PRODUCE or by a person's hand; the latter is judged at once."""
    by_hand = payload["by"] == "hand"
    return replace(
        state,
        artifact_sha256=payload["after"],
        changed=_since_evaluation(state, payload),
        planned=True,
        produced=True,
        evaluated=False,
        critiqued=False,
        refined=False,
        issues=None if by_hand else state.issues,
        feedback=(*state.used_feedback, *state.feedback),
        used_feedback=(),
        errors=_clear_error(state, Step.PRODUCE),
    )


def _since_evaluation(state: RunState, payload: Payload) -> Mapping[str, Any]:
    """Return what changed since the last evaluation: REFINE and the PRODUCE after it together.

    What lay outside the critique is of the last of them: each is compared with what was evaluated.
    Histories without `since_evaluation` have only what each of the two changed.
    """
    changed = {"by": payload["by"], **payload["changed"]}
    before = state.changed if not state.evaluated else {}
    for word in ("added", "modified", "removed"):
        changed[word] = list(dict.fromkeys((*before.get(word, ()), *changed[word])))
    changed |= payload.get("since_evaluation", {})
    reverted = dict.fromkeys((*before.get("reverted", ()), *payload.get("reverted", ())))
    found = {"outside": payload.get("outside"), "unguarded": payload.get("unguarded")}
    return {**changed, **{k: v for k, v in {**found, "reverted": list(reverted)}.items() if v}}


def _checks(state: RunState, payload: Payload) -> RunState:
    return replace(
        state,
        checks=tuple(payload["checks"]),
        prepared=True,
        evaluated=False,
        errors=_clear_error(state, Step.PREPARE),
    )


def _evaluation(state: RunState, payload: Payload) -> RunState:
    """What stands is judged, in whichever step: what follows is the critique of that."""
    rules = {rule.id: rule for rule in state.criteria.rules}
    evaluation = evaluation_from_json(payload["evaluation"], rules)
    again = bool(payload.get(AGAIN))
    marks = marks_with(state, evaluation, again=again)
    recent = marks[state.settled :]
    count = stagnation_of(recent) if again else stagnation_after(state.stagnation_count, recent)
    return replace(
        state,
        evaluation=evaluation,
        proofs=tuple(payload.get("proofs", ())),
        votes=(),
        planned=True,
        produced=True,
        prepared=state.prepared or state.checks is not None,
        evaluated=True,
        critiqued=False,
        refined=False,
        marks=marks,
        stagnation_count=count,
        errors=_clear_error(state, Step.EVALUATE),
    )


def marks_with(
    state: RunState, evaluation: Evaluation, *, again: bool
) -> tuple[EvaluationMark, ...]:
    """Return the marks of a run with that of one more evaluation.

    What was evaluated `again` leaves one mark, that of the new evaluation.
    """
    mark, marks = mark_of(evaluation, state.iteration), state.marks
    if again and marks and _place(marks[-1]) == _place(mark):
        marks = marks[:-1]
    return (*marks, mark)


def _place(mark: EvaluationMark) -> tuple[int, Level, str]:
    return mark.iteration, mark.level, mark.sha256


def _critique(state: RunState, payload: Payload) -> RunState:
    used_feedback = tuple(payload.get("feedback", ()))
    return replace(
        state,
        issues=tuple(payload["issues"]),
        feedback=state.feedback[len(used_feedback) :],
        used_feedback=used_feedback,
        critiqued=True,
        errors=_clear_error(state, Step.CRITIQUE),
    )


def _refinement(state: RunState, payload: Payload) -> RunState:
    return replace(
        state,
        artifact_sha256=payload["after"],
        changed=_since_evaluation(state, payload),
        used_feedback=(),
        refined=True,
        errors=_clear_error(state, Step.REFINE),
    )


def _switch(state: RunState, payload: Payload) -> RunState:
    return replace(state, level=Level(payload["to"]), prepared=False, evaluated=False, checks=None)


def _advance(state: RunState, payload: Payload) -> RunState:
    return replace(
        state,
        iteration=payload["iteration"],
        planned=False,
        produced=state.limits.produce == "first",
        prepared=False,
        evaluated=False,
        critiqued=False,
        refined=False,
    )


def _phase_error(state: RunState, payload: Payload) -> RunState:
    # Ended by a person, refused by a rate limit, or not allowed to work: no try that failed.
    if any(payload.get(key) for key in ("cancelled", "limited", "denied")):
        return state
    step = payload["step"]
    messages = (*state.errors.get(step, ()), payload["message"])
    return replace(state, errors={**state.errors, step: messages})


def _clear_error(state: RunState, step: Step) -> Mapping[str, tuple[str, ...]]:
    return {name: found for name, found in state.errors.items() if name != step.value}


def _end(state: RunState, payload: Payload) -> RunState:
    reason = StopReason(payload["reason"])
    restored = payload.get("restored_from")
    ended = replace(
        state,
        status=ENDS[reason].status,
        stop=StopRecord(
            passed=payload["passed"],
            reason=reason,
            detail=payload.get("detail", ""),
            restored_from=restored,
            offered=tuple(payload.get("offered", ())),
        ),
    )
    if not restored:
        return ended
    rules = {rule.id: rule for rule in state.criteria.rules}
    return replace(
        ended,
        artifact_sha256=payload["after"],
        evaluation=evaluation_from_json(payload["evaluation"], rules),
    )


def _feedback(state: RunState, payload: Payload) -> RunState:
    return replace(state, feedback=(*state.feedback, payload["text"]))


def _extend(state: RunState, payload: Payload) -> RunState:
    """The run goes on under new limits, and what counts towards a stop starts over."""
    again = replace(
        state,
        status=RunStatus.RUNNING,
        stop=StopRecord(),
        limits=Limits.from_json(payload["limits"]),
        settled=len(state.marks),
        stagnation_count=0,
        errors={},
    )
    return _evaluate_again(again) if state.stop.restored_from else again


def _evaluate_again(state: RunState) -> RunState:
    """The artifact that was restored is evaluated first: the steps after it were for another."""
    return replace(
        state,
        changed={"by": "restore"},
        planned=True,
        produced=True,
        prepared=state.checks is not None,
        evaluated=False,
        critiqued=False,
        refined=False,
        issues=None,
        feedback=(*state.used_feedback, *state.feedback),
        used_feedback=(),
    )


def _vote(state: RunState, payload: Payload) -> RunState:
    return replace(state, votes=(*state.votes, CastVote.from_json(payload)))


_APPLY: dict[EventKind, Callable[[RunState, Payload], RunState]] = {
    EventKind.PLAN_CREATED: _plan,
    EventKind.ARTIFACT_CREATED: _artifact,
    EventKind.CHECKS_PREPARED: _checks,
    EventKind.EVALUATION_DONE: _evaluation,
    EventKind.CRITIQUE_DONE: _critique,
    EventKind.REFINEMENT_DONE: _refinement,
    EventKind.PHASE_SWITCHED: _switch,
    EventKind.ITERATION_ADVANCED: _advance,
    EventKind.PHASE_ERROR: _phase_error,
    EventKind.STOPPED: _end,
    EventKind.FAILED: _end,
    EventKind.FEEDBACK_GIVEN: _feedback,
    EventKind.RUN_EXTENDED: _extend,
    EventKind.VOTE_CAST: _vote,
    EventKind.CHANGES_ACCEPTED: lambda state, payload: state,
}
