"""Performing one step: what it is given, the hook that answers, the contract, and what it came to.

It never touches a file: it returns what the driver has to make durable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event as Signal
from typing import Any

from pytest_reflex import fixes
from pytest_reflex.contracts.steps import (
    ContractError,
    read_artifact,
    read_issues,
    read_plan,
)
from pytest_reflex.criteria.formatting import Formatting
from pytest_reflex.drivers.reflex.decide import MAX_TRIES
from pytest_reflex.drivers.reflex.inputs import inputs_of, without_rules
from pytest_reflex.drivers.reflex.made_checks import checks_in
from pytest_reflex.drivers.reflex.prepared import needs_agent, own_checks
from pytest_reflex.model.artifact import BOM
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState, cost_of
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.words import Step
from pytest_reflex.process.secrecy import hide, own_secrets

Ask = Callable[[StepRequest], Reply]

_ANSWER = 2_000  # characters of a refused answer that its event keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a step came to: an event to commit, and the new artifact where there is one.

    `partial` is what an agent had written when it was stopped or failed: never used, but paid for.
    """

    kind: EventKind
    step: Step
    payload: Mapping[str, Any]
    artifact: str | None = None
    partial: str = ""


def perform(
    step: Step,
    state: RunState,
    request: StepRequest,
    ask: Ask,
    *,
    allow_commands: bool,
    project: Path,
) -> Done:
    """Run one agent step (not EVALUATE); an invalid answer comes back as a phase_error.

    `project` is the folder in which a formatter runs that a fix names.
    """
    try:
        if step is Step.PLAN:
            return _plan(state, request, ask)
        if step is Step.PRODUCE:
            return _produce(request, ask)
        if step is Step.PREPARE:
            return _prepare(state, request, ask, allow_commands)
        if step is Step.CRITIQUE:
            return _critique(state, request, ask)
        return _refine(state, request, ask, project)
    except _StepError as failed:
        done = phase_error(step, failed.message, failed.reply)
        kept = {"checks": failed.kept} if failed.kept else {}
        return replace(done, payload={**done.payload, **kept})


def phase_error(step: Step, message: str, reply: Reply | None = None) -> Done:
    """Return the event of a step that gave nothing usable; the start of its text is evidence."""
    payload: dict[str, Any] = {"step": step.value, "message": message}
    if reply is not None:
        answer = hide(reply.text, own_secrets())[:_ANSWER]
        payload |= {"agent": reply.agent, "answer": answer, "cost": cost_of(reply)}
        if reply.details.get("limited"):
            payload["limited"] = True
    partial = _partial(reply) if reply is not None else ""
    return Done(kind=EventKind.PHASE_ERROR, step=step, payload=payload, partial=partial)


def _partial(reply: Reply) -> str:
    from pytest_reflex.agents.partial import partial_output, was_killed

    text = partial_output(reply)
    # A short one of a tool that left by itself is whole in the event.
    return text if was_killed(reply) or len(text) > _ANSWER else ""


def refused_by_limit(done: Done) -> str:
    """Return why a step was not done where a rate limit stayed in its way, else an empty string."""
    if not done.payload.get("limited") or done.payload.get("cancelled"):
        return ""
    return f"{done.step.value}: {done.payload['message']}"


class _StepError(Exception):
    """No usable answer; `kept` are checks in it that can be used all the same."""

    def __init__(self, message: str, reply: Reply, kept: Sequence[Mapping[str, Any]] = ()) -> None:
        self.message, self.reply, self.kept = message, reply, list(kept)


def _answer(ask: Ask, request: StepRequest, read: Callable[[str], Any]) -> tuple[Any, Reply]:
    reply = ask(request)
    if reply.error:
        raise _StepError(reply.error, reply)
    try:
        return read(reply.text), reply
    except ContractError as error:
        raise _StepError(str(error), reply) from None


def _by(reply: Reply) -> dict[str, Any]:
    return {"agent": reply.agent, "cost": cost_of(reply)}


def _plan(state: RunState, request: StepRequest, ask: Ask) -> Done:
    plan, reply = _answer(ask, request, read_plan)
    payload = {"plan": list(plan), **_by(reply)}
    return Done(kind=EventKind.PLAN_CREATED, step=Step.PLAN, payload=payload)


def _produce(request: StepRequest, ask: Ask) -> Done:
    text, reply = _answer(ask, request, read_artifact)
    payload = {"by": "agent", **_by(reply)}
    return Done(kind=EventKind.ARTIFACT_CREATED, step=Step.PRODUCE, payload=payload, artifact=text)


def _prepare(state: RunState, request: StepRequest, ask: Ask, allow_commands: bool) -> Done:
    """Take the concrete checks that rules carry; an agent is asked for the prose ones only."""
    rules = state.criteria.active(state.level)
    checks = own_checks(rules)
    payload: dict[str, Any] = {"by": "rules"}
    if needs_agent(rules):
        reply = ask(request)
        is_last = len(state.errors.get(Step.PREPARE.value, ())) >= MAX_TRIES - 1
        found = checks_in(reply, request, allow_commands=allow_commands, is_last=is_last)
        if found.refusal:
            raise _StepError(found.refusal, reply, kept=found.checks)
        checks += found.checks
        payload = {"by": "agent", **_by(reply)}
        payload |= {"agent_commands": found.commands} if found.commands else {}
        payload |= {"without_checks": found.lacking} if found.lacking else {}
    return Done(
        kind=EventKind.CHECKS_PREPARED,
        step=Step.PREPARE,
        payload={"checks": checks, "phase": state.level.value, **payload},
    )


def _critique(state: RunState, request: StepRequest, ask: Ask) -> Done:
    evaluation = state.evaluation
    assert evaluation is not None
    blockers, warnings = (
        sorted(rows, key=lambda row: row.rule.weight, reverse=True)
        for rows in (evaluation.failed, evaluation.warnings)
    )
    failed = [row.rule.id for row in (*blockers, *warnings)]
    issues, reply = _answer(ask, request, lambda text: read_issues(text, failed))
    payload = {"issues": list(issues), **_by(reply)}
    if request.feedback:
        payload["feedback"] = list(request.feedback)
    return Done(kind=EventKind.CRITIQUE_DONE, step=Step.CRITIQUE, payload=payload)


def _refine(state: RunState, request: StepRequest, ask: Ask, project: Path) -> Done:
    """Apply the safe fixes of the critiqued rules, then ask the agent for what remains.

    What a person said is never mended by a fix.
    """
    criticised = (issue["rule_id"] for issue in request.issues)
    formatter = Formatting(
        commands=state.criteria.commands,
        name=request.artifact_path,
        root=project,
        cancel=request.cancel,
    )
    mended = fixes.mend(state.criteria, criticised, request.artifact or "", formatter)
    text, fixed, skipped = mended.text, mended.fixed, mended.skipped
    remaining = tuple(issue for issue in request.issues if issue["rule_id"] not in fixed)
    payload: dict[str, Any] = {"by": "fixes", "fixed": fixed}
    if skipped:
        payload["not_fixed"] = skipped
    if remaining or request.feedback:
        evaluation = without_rules(request.evaluation, fixed)
        asked = replace(request, artifact=text, issues=remaining, evaluation=evaluation)
        new, reply = _answer(ask, asked, read_artifact)
        new = BOM + new if text.startswith(BOM) else new  # no agent is asked for one
        changed_more = new != text
        payload |= {"by": _author(bool(fixed), changed_more), **_by(reply)}
        text = new
    return Done(kind=EventKind.REFINEMENT_DONE, step=Step.REFINE, payload=payload, artifact=text)


def _author(fixed: bool, asked_agent_changed: bool) -> str:
    if fixed:
        return "both" if asked_agent_changed else "fixes"
    return "agent"


HISTORY_EVENTS = 3
_LEFT_OUT = (
    "delta", "before", "after", "size", "checks", "draft", "criteria", "evaluation", "cost",
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
    base = StepRequest(
        step=step,
        run_id=state.run_id,
        iteration=state.iteration,
        level=state.level,
        task=state.task,
        ideal_result=state.ideal_result,
        criteria=state.criteria,
        artifact_path=artifact_path,
        rules=state.criteria.active(state.level),
        orders=state.setup.get("prompts", {}).get(step.value.lower(), ""),
        cancel=cancel,
    )
    if step is Step.PLAN:
        # Votes are of an evaluation that has its own event; accepted changes are no step.
        steps = [e for e in without_interruptions(events) if e.kind not in _NO_STEPS]
        base = replace(base, history=tuple(brief(event) for event in steps[-HISTORY_EVENTS:]))
    return replace(base, **inputs_of(step, state, artifact, events))


def without_interruptions(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events as they were numbered in a run that nobody has interrupted."""
    left_out = 0
    for event in events:
        if event.was_interrupted:
            left_out += 1
        else:
            yield replace(event, seq=event.seq - left_out)


def brief(event: Event) -> Mapping[str, Any]:
    """Return an event as PLAN sees it: without deltas, check bodies, the clock and the machine."""
    wire = {k: v for k, v in event.to_json().items() if k != "ts"}
    payload = {k: v for k, v in event.payload.items() if k not in (*_LEFT_OUT, *_OF_THE_MOMENT)}
    if evaluation := event.payload.get("evaluation"):
        payload["score"], payload["passed"] = evaluation["score"], evaluation["passed"]
        payload["failed"] = [row["id"] for row in evaluation["failed"]]
    return {**wire, "payload": payload}
