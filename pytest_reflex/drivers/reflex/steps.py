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
    blockers_left_out,
    read_artifact,
    read_issues,
    read_plan,
)
from pytest_reflex.criteria.author.formatting import Formatting
from pytest_reflex.drivers.reflex.agent_checks import checks_in
from pytest_reflex.drivers.reflex.decide import MAX_TRIES
from pytest_reflex.drivers.reflex.inputs import inputs_of, without_rules
from pytest_reflex.drivers.reflex.prepared_checks import needs_agent, own_checks
from pytest_reflex.errors import DeniedError, LimitError
from pytest_reflex.model.artifact import BOM
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import INTERRUPTED, Event, EventKind
from pytest_reflex.model.run import Cost, RunState, cost_of
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.process.environment import own_secrets, redact

Ask = Callable[[StepRequest], Reply]

_ANSWER = 2_000  # characters of a refused answer that its event keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
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
) -> StepOutcome:
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
    except _UnusableAnswerError as failed:
        done = phase_error(step, failed.message, failed.reply)
        kept = {"checks": failed.kept} if failed.kept else {}
        return replace(done, payload={**done.payload, **kept})


def phase_error(step: Step, message: str, reply: Reply | None = None) -> StepOutcome:
    """Return the event of a step that gave nothing usable; the start of its text is evidence."""
    payload: dict[str, Any] = {"step": step.value, "message": message}
    if reply is not None:
        answer = redact(reply.text, own_secrets())[:_ANSWER]
        payload |= {"agent": reply.agent, "answer": answer, "cost": cost_of(reply)}
        if reply.details.get("limited"):
            payload["limited"] = True
        payload |= _denial_fields(reply)
    partial = _partial(reply) if reply is not None else ""
    return StepOutcome(kind=EventKind.PHASE_ERROR, step=step, payload=payload, partial=partial)


def interrupt_outcome(step: Step, cost: Cost) -> StepOutcome:
    """Return the event of a call that was interrupted: paid, and no try that failed."""
    why = {"step": step.value, "message": "it was interrupted", "cancelled": True}
    payload = {**why, INTERRUPTED: True, "cost": cost}
    return StepOutcome(kind=EventKind.PHASE_ERROR, step=step, payload=payload)


def _partial(reply: Reply) -> str:
    from pytest_reflex.agents.command import partial_output, was_killed

    text = partial_output(reply)
    # A short one of a tool that left by itself is whole in the event.
    return text if was_killed(reply) or len(text) > _ANSWER else ""


def _denial_fields(reply: Reply) -> dict[str, str]:
    from pytest_reflex.agents.stream import DENIED

    denied = reply.details.get(DENIED)
    return {"denied": str(denied)} if denied else {}


def obstacle(done: StepOutcome, resume: str = "") -> LimitError | None:
    """Return what was in the way of a step, where that is not a problem of its answer.

    A rate limit, or that a tool was not allowed to do its work: no second try is paid.
    `resume` is the command by which the run goes on.
    """
    if done.kind is not EventKind.PHASE_ERROR or done.payload.get("cancelled"):
        return None
    message = f"{done.step.value}: {done.payload['message']}"
    if denied := done.payload.get("denied"):
        return denial(f"{message}; {denied}", resume)
    if done.payload.get("limited"):
        later = f"go on later: {resume}" if resume else "nothing was written; try again later"
        return LimitError(message, hint=later)
    return None


def denial(message: str, resume: str = "") -> DeniedError:
    """Return what ends a run whose tool was not allowed to do its work."""
    hint = f"allow it, then go on: {resume}" if resume else "nothing was written"
    return DeniedError(message, hint=hint)


class _UnusableAnswerError(Exception):
    """No usable answer; `kept` are checks in it that can be used all the same."""

    def __init__(self, message: str, reply: Reply, kept: Sequence[Mapping[str, Any]] = ()) -> None:
        self.message, self.reply, self.kept = message, reply, list(kept)


def _answer(ask: Ask, request: StepRequest, read: Callable[[str], Any]) -> tuple[Any, Reply]:
    reply = ask(request)
    if reply.error:
        raise _UnusableAnswerError(reply.error, reply)
    try:
        return read(reply.text), reply
    except ContractError as error:
        raise _UnusableAnswerError(str(error), reply) from None


def _by(reply: Reply) -> dict[str, Any]:
    return {"agent": reply.agent, "cost": cost_of(reply)}


def _plan(state: RunState, request: StepRequest, ask: Ask) -> StepOutcome:
    plan, reply = _answer(ask, request, read_plan)
    payload = {"plan": list(plan), **_by(reply)}
    return StepOutcome(kind=EventKind.PLAN_CREATED, step=Step.PLAN, payload=payload)


def _produce(request: StepRequest, ask: Ask) -> StepOutcome:
    text, reply = _answer(ask, request, read_artifact)
    payload = {"by": "agent", **_by(reply)}
    return StepOutcome(
        kind=EventKind.ARTIFACT_CREATED, step=Step.PRODUCE, payload=payload, artifact=text
    )


def _prepare(state: RunState, request: StepRequest, ask: Ask, allow_commands: bool) -> StepOutcome:
    """Take the concrete checks that rules carry; an agent is asked for the prose ones only."""
    rules = state.criteria.active(state.level)
    checks = own_checks(rules)
    payload: dict[str, Any] = {"by": "rules"}
    if needs_agent(rules):
        reply = ask(request)
        is_last = len(state.errors.get(Step.PREPARE.value, ())) >= MAX_TRIES - 1
        found = checks_in(reply, request, allow_commands=allow_commands, is_last=is_last)
        if found.refusal:
            raise _UnusableAnswerError(found.refusal, reply, kept=found.checks)
        checks += found.checks
        payload = {"by": "agent", **_by(reply)}
        payload |= {"agent_commands": found.commands} if found.commands else {}
        payload |= {"without_checks": found.lacking} if found.lacking else {}
    return StepOutcome(
        kind=EventKind.CHECKS_PREPARED,
        step=Step.PREPARE,
        payload={"checks": checks, "phase": state.level.value, **payload},
    )


def _critique(state: RunState, request: StepRequest, ask: Ask) -> StepOutcome:
    evaluation = state.evaluation
    assert evaluation is not None
    blockers, warnings = (
        sorted(rows, key=lambda row: row.rule.weight, reverse=True)
        for rows in (evaluation.failed, evaluation.warnings)
    )
    failed = [row.rule.id for row in (*blockers, *warnings)]
    issues, reply = _answer(ask, request, lambda text: read_issues(text, failed))
    left_out = blockers_left_out(issues, [row.rule.id for row in blockers])
    # Asked for once more, and then taken: it may be that nothing is to be said of the others.
    if left_out and not request.refusal and not reply.details.get("free"):
        raise _UnusableAnswerError(left_out, reply)
    payload = {"issues": list(issues), **_by(reply)}
    if request.feedback:
        payload["feedback"] = list(request.feedback)
    return StepOutcome(kind=EventKind.CRITIQUE_DONE, step=Step.CRITIQUE, payload=payload)


def _refine(state: RunState, request: StepRequest, ask: Ask, project: Path) -> StepOutcome:
    """Apply the safe fixes of the critiqued rules, then ask the agent for what remains.

    What a person said is never fixed by a fix.
    """
    criticised = (issue["rule_id"] for issue in request.issues)
    formatter = Formatting(
        commands=state.criteria.commands,
        name=request.artifact_path,
        root=project,
        cancel=request.cancel,
    )
    result = fixes.fix_text(state.criteria, criticised, request.artifact or "", formatter)
    text, fixed, skipped = result.text, result.fixed, result.skipped
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
        if reply.details.get("may_edit"):  # of a tool that only answers, a good answer is all
            payload |= _denial_fields(reply)
        text = new
    return StepOutcome(
        kind=EventKind.REFINEMENT_DONE, step=Step.REFINE, payload=payload, artifact=text
    )


def _author(fixed: bool, asked_agent_changed: bool) -> str:
    if fixed:
        return "both" if asked_agent_changed else "fixes"
    return "agent"


HISTORY_EVENTS = 3
_LEFT_OUT = (
    "delta", "before", "after", "size", "checks", "draft", "criteria", "evaluation", "cost",
    "setup", "seal", "sealed", "tree", "task_alias", "limits", "project", "project_changes",
    "adopted",
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
        instructions=state.setup.get("prompts", {}).get(step.value.lower(), ""),
        cancel=cancel,
    )
    if step is Step.PLAN:
        base = replace(base, history=tuple(brief(event) for event in _before_plan(events)))
    return replace(base, **inputs_of(step, state, artifact, events))


def _before_plan(events: Iterable[Event]) -> Sequence[Event]:
    """Return the last events before a PLAN; a retry is given the same: failed tries are left out.

    Votes are of an evaluation that has its own event; accepted changes are not a step.
    """
    steps = [
        event
        for event in without_interruptions(events)
        if event.kind not in _NO_STEPS
        and not (event.kind is EventKind.PHASE_ERROR and event.step is Step.PLAN)
    ]
    return steps[-HISTORY_EVENTS:]


def without_interruptions(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events as they were numbered in a run that was not interrupted."""
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
        for key in ("score", "passed"):  # at the same place, whichever version wrote the event
            payload.pop(key, None)
            payload[key] = evaluation[key]
        payload["failed"] = [row["id"] for row in evaluation["failed"]]
    return {**wire, "payload": payload}
