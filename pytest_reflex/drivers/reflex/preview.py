"""The requests that a run would make from a state on, as far as they are known: nothing is done.

Pure: what later steps need of earlier ones is a word in angle brackets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from threading import Event as Signal

from pytest_reflex.drivers.reflex.decide import Action, Decision, decide
from pytest_reflex.drivers.reflex.fold import apply
from pytest_reflex.drivers.reflex.prepared_checks import needs_agent
from pytest_reflex.drivers.reflex.setup import Proposal, start_event
from pytest_reflex.drivers.reflex.steps import request_for
from pytest_reflex.model.enums import Level, Outcome, Severity, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.run import RunState
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.settings import Settings
from pytest_reflex.storage.folders import slug

START = "<yyyymmdd-hhmmss>"
_PLAN, _ARTIFACT = "<the plan>", "<the artifact>\n"
_RULE = "<a rule that failed>"
_ISSUE = {
    "rule_id": _RULE,
    "problem": "<what is wrong>",
    "fix_instruction": "<what to change>",
    "expected_effect": "<what passes then>",
}
_ORDER = (Step.PLAN, Step.PRODUCE, Step.PREPARE, Step.CRITIQUE, Step.REFINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPreview:
    """Where a run stands before its next step: `decision` is that step, or the end."""

    state: RunState
    decision: Decision
    artifact: str
    artifact_path: str
    events: tuple[Event, ...]


def outlook_of_new(
    proposal: Proposal, *, settings: Settings, project: Path, agents: Mapping[Step, str]
) -> RunPreview:
    """Return the outlook of a proposal; the time in its run id is not known yet."""
    alias = proposal.request.alias or slug(proposal.request.task)
    begun = start_event(proposal, alias, project, settings, agents)
    event = Event(
        kind=EventKind.RUN_STARTED,
        run_id=f"{alias}-{START}",
        iteration=1,
        level=proposal.level,
        step=Step.PLAN,
        seq=1,
        ts="",
        payload=begun.payload,
    )
    path = project / settings["loop.root"] / alias / "artifact.md"
    return outlook(apply(None, event), artifact="", artifact_path=str(path), events=(event,))


def outlook(
    state: RunState, *, artifact: str, artifact_path: str, events: Sequence[Event]
) -> RunPreview:
    """Return the outlook of a run: past the events that would follow without any work."""
    history = tuple(events)
    found = state.evaluation  # what is on the disk is evaluated again before it counts
    while (decision := _decide(state, found)).act in (Action.SWITCH, Action.ADVANCE):
        history = (*history, _move_event(state, decision))
        state = apply(state, history[-1])
    return RunPreview(
        state=state,
        decision=decision,
        artifact=artifact,
        artifact_path=artifact_path,
        events=history,
    )


def _decide(state: RunState, found: Evaluation | None) -> Decision:
    return decide(state, unverified=found is not None and state.evaluation is found)


def _move_event(state: RunState, decision: Decision) -> Event:
    switched = decision.act is Action.SWITCH
    following = state.iteration if switched else state.iteration + 1
    levels = {"from": Level.A.value, "to": Level.B.value}
    return Event(
        kind=EventKind.PHASE_SWITCHED if switched else EventKind.ITERATION_ADVANCED,
        run_id=state.run_id,
        iteration=following,
        level=state.level,
        step=Step.EVALUATE if switched else Step.REFINE,
        seq=state.last_seq + 1,
        ts=state.updated_at,
        payload=levels if switched else {"iteration": following},
    )


def requests_of(outlook: RunPreview) -> Iterator[tuple[StepRequest, tuple[str, ...]]]:
    """Yield the requests of the rest of an iteration, each with what is not known yet."""
    if outlook.decision.act is not Action.STEP:
        return
    for step in _ORDER:
        if not _is_done(step, outlook.state):
            state, artifact, unknown = _fill(step, outlook)
            request = request_for(
                step,
                state,
                artifact=artifact,
                artifact_path=outlook.artifact_path,
                events=outlook.events,
                cancel=Signal(),
            )
            yield request, unknown


def _is_done(step: Step, state: RunState) -> bool:
    done: Mapping[Step, bool] = {
        Step.PLAN: state.planned,
        Step.PRODUCE: state.produced,
        Step.PREPARE: state.prepared or not needs_agent(state.criteria.active(state.level)),
        Step.CRITIQUE: state.critiqued,
        Step.REFINE: state.refined,
    }
    return done[step]


def _fill(step: Step, outlook: RunPreview) -> tuple[RunState, str, tuple[str, ...]]:
    """Return state and artifact with words in place of what a step needs and is not known yet."""
    state, artifact, unknown = outlook.state, outlook.artifact, []
    if step in (Step.PRODUCE, Step.PREPARE) and not state.planned:
        state = replace(state, plan=(_PLAN,))
        unknown.append("the plan")
    if step in (Step.CRITIQUE, Step.REFINE) and not state.produced:
        artifact = _ARTIFACT
        unknown.append("the artifact")
    if step is Step.CRITIQUE and not state.evaluated:
        state = replace(state, evaluation=_evaluation(state))
        unknown.append("the evaluation")
    if step is Step.REFINE and not state.evaluated:
        state = replace(state, evaluation=None)
        unknown.append("which rules pass")
    if step is Step.REFINE and not state.critiqued:
        state = replace(state, issues=(_ISSUE,))
        unknown.append("the issues that no fix resolves")
    return state, artifact, tuple(unknown)


def _evaluation(state: RunState) -> Evaluation:
    """Return what stands for an evaluation in a prompt; it is never judged by or shown."""
    rule = Rule(
        id=_RULE,
        description="<what it demands>",
        severity=Severity.FAIL,
        weight=Fraction(0),
        level=state.level,
    )
    found = CheckResult(outcome=Outcome.FAIL, message="<what was found>")
    return Evaluation(
        criteria=state.criteria.name,
        version=state.criteria.version,
        level=state.level,
        threshold=Fraction(1),
        artifact="",
        artifact_sha256="",
        results=(RuleResult(rule=rule, checks=(found,), outcome=Outcome.FAIL),),
        score=Fraction(0),
        passed=False,
    )
