"""What each step is given: the inputs that seed 001 lists, no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event as Signal
from typing import Any

from pytest_reflex.drivers.reflex.prepared import needs_agent
from pytest_reflex.drivers.reflex.proving import refused
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.model.words import Step

HISTORY_EVENTS = 3
_LEFT_OUT = (
    "delta", "checks", "draft", "criteria", "evaluation", "cost",
    "setup", "seal", "sealed", "tree", "task_alias", "limits", "project", "project_changes",
)  # fmt: skip
_NO_STEPS = (EventKind.VOTE_CAST, EventKind.CHANGES_ACCEPTED)
_OF_THE_MOMENT = ("id", "confirmation")


def request_for(
    step: Step,
    state: RunState,
    *,
    artifact: str,
    artifact_path: str,
    events: Sequence[Event],
    cancel: Signal,
) -> StepRequest:
    """Return the request of a step; `events` are the run's latest."""
    complaints = state.errors.get(step.value, ())
    base = StepRequest(
        step=step,
        run_id=state.run_id,
        iteration=state.iteration,
        level=state.level,
        task=state.task,
        ideal_result=state.ideal_result,
        criteria=state.criteria,
        artifact_path=artifact_path,
        complaint=complaints[-1] if complaints else "",
        orders=state.setup.get("prompts", {}).get(step.value.lower(), ""),
        cancel=cancel,
    )
    rules = state.criteria.active(state.level)
    if step is Step.PLAN:
        # Votes are of an evaluation that has its own event; accepted changes are no step.
        steps = [event for event in events if event.kind not in _NO_STEPS]
        history = tuple(brief(event) for event in steps[-HISTORY_EVENTS:])
        return replace(base, rules=rules, history=history, evaluation=state.evaluation)
    if step is Step.PRODUCE:
        previous = artifact if state.iteration > 1 else None
        return replace(base, plan=state.plan, artifact=previous, draft=state.draft)
    if step is Step.PREPARE:
        told = base.complaint or refused(state.proofs)
        return replace(base, plan=state.plan, rules=needs_agent(rules), complaint=told)
    if step is Step.CRITIQUE:
        return replace(
            base, artifact=artifact, evaluation=state.evaluation, feedback=state.feedback
        )
    return replace(base, artifact=artifact, issues=state.issues or (), feedback=state.heeded)


def brief(event: Event) -> Mapping[str, Any]:
    """Return an event as PLAN sees it: without deltas, check bodies, the clock and the machine."""
    wire = {k: v for k, v in event.to_json().items() if k != "ts"}
    payload = {k: v for k, v in event.payload.items() if k not in (*_LEFT_OUT, *_OF_THE_MOMENT)}
    if evaluation := event.payload.get("evaluation"):
        payload["score"], payload["passed"] = evaluation["score"], evaluation["passed"]
        payload["failed"] = [row["id"] for row in evaluation["failed"]]
    return {**wire, "payload": payload}
