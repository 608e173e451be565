"""What each step is given of a run, beside what every step knows.

The inputs are those of seed 001, and what keeps a step from undoing what passes: the rules with
what they came to, the artifact as it is, and what REFINE has done since it was evaluated. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_reflex.drivers.reflex.history import artifact_with
from pytest_reflex.drivers.reflex.prepared_checks import (
    effective,
    find_given_checks,
    needs_agent,
    refusal_text,
)
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.steps import Refined

_SETTLED = (
    EventKind.EVALUATION_DONE, EventKind.REFINEMENT_DONE, EventKind.ITERATION_ADVANCED,
    EventKind.ARTIFACT_CREATED, EventKind.RUN_EXTENDED,
)  # fmt: skip


def inputs_of(
    step: Step, state: RunState, artifact: str, events: Sequence[Event]
) -> Mapping[str, Any]:
    """Return fields of a request: what this step is given, and the answer of its first try."""
    known = _INPUTS[step](state, artifact, events)
    refusals = state.errors.get(step.value, ())
    if not refusals:
        return known
    last = _last_error(step, events)
    refused_answer = {"refusal": refusals[-1], "refused": str(last.get("answer", ""))}
    return {**known, **refused_answer, "kept": tuple(last.get("checks", ()))}


def _plan(state: RunState, artifact: str, events: Sequence[Event]) -> Mapping[str, Any]:
    known = {"evaluation": with_checks(state), "refined": _last_refine(state)}
    return {**known, "artifact": artifact or None, "draft": state.draft}


def _produce(state: RunState, artifact: str, events: Sequence[Event]) -> Mapping[str, Any]:
    previous = artifact if state.iteration > 1 else None
    known = {"evaluation": with_checks(state), "refined": _last_refine(state)}
    return {**known, "plan": state.plan, "artifact": previous, "draft": state.draft}


def _prepare(state: RunState, artifact: str, events: Sequence[Event]) -> Mapping[str, Any]:
    known = {
        "plan": state.plan,
        "rules": needs_agent(state.criteria.active(state.level)),
        "draft": state.draft,
        "artifact": before_produce(events, artifact) or None,
    }
    if refusal := refusal_text(state.proofs):
        known |= {
            "refusal": refusal,
            "refused": find_given_checks(state.proofs, _last_checks(events)),
        }
    return known


def _critique(state: RunState, artifact: str, events: Sequence[Event]) -> Mapping[str, Any]:
    return {"artifact": artifact, "evaluation": with_checks(state), "feedback": state.feedback}


def _refine(state: RunState, artifact: str, events: Sequence[Event]) -> Mapping[str, Any]:
    known = {"evaluation": with_checks(state), "issues": state.issues or ()}
    return {**known, "artifact": artifact, "feedback": state.used_feedback}


_INPUTS: Mapping[Step, Callable[[RunState, str, Sequence[Event]], Mapping[str, Any]]] = {
    Step.PLAN: _plan,
    Step.PRODUCE: _produce,
    Step.PREPARE: _prepare,
    Step.CRITIQUE: _critique,
    Step.REFINE: _refine,
}


def with_checks(state: RunState) -> Evaluation | None:
    """Return the evaluation that stands, its rules with the checks that PREPARE made.

    What a check looks for that does not say so itself is what its rule says.
    """
    found = state.evaluation
    if found is None or not state.checks:
        return found
    criteria = effective(state.criteria, state.checks)
    rows = []
    for row in found.results:
        made = None if row.rule.checks else criteria.rule(row.rule.id)
        if made is not None:
            prose = made.prose or made.description
            checks = (replace(one, expected=one.expected or prose) for one in made.checks)
            row = replace(row, rule=replace(made, checks=tuple(checks)))
        rows.append(row)
    return replace(found, results=tuple(rows))


def _last_refine(state: RunState) -> Refined | None:
    """Return what REFINE did since the last evaluation, None where that is of this artifact."""
    evaluation = state.evaluation
    if evaluation is None or state.issues is None or evaluation.artifact_sha256 == "":
        return None
    if evaluation.artifact_sha256 == state.artifact_sha256:
        return None
    words = ("added", "modified", "removed")
    changed = {word: tuple(state.changed.get(word, ())) for word in words}
    return Refined(issues=state.issues, changed=changed)


def _last_checks(events: Sequence[Event]) -> Sequence[Mapping[str, Any]]:
    """Return the checks that PREPARE gave last; with the phase a state loses them."""
    prepared = (e for e in reversed(events) if e.kind is EventKind.CHECKS_PREPARED)
    last = next(prepared, None)
    return last.payload["checks"] if last else ()


def _last_error(step: Step, events: Sequence[Event]) -> Mapping[str, Any]:
    """Return what the event of a step says whose answer was refused last."""
    for event in reversed(events):
        payload = event.payload
        if event.kind is not EventKind.PHASE_ERROR or payload.get("step") != step.value:
            continue
        if not (event.was_interrupted or payload.get("cancelled") or payload.get("limited")):
            return payload
    return {}


def before_produce(events: Sequence[Event], artifact: str) -> str:
    """Return the artifact as it stood before PRODUCE of this iteration, which may run beside."""
    for event in reversed(events):
        before = event.payload.get("before")
        if event.kind is EventKind.ARTIFACT_CREATED and before and event.payload["by"] == "agent":
            return artifact_with(events, before) if before != EMPTY_SHA256 else ""
        if event.kind in _SETTLED:
            return artifact
    return artifact


def without_rules(evaluation: Evaluation | None, ids: Collection[str]) -> Evaluation | None:
    """Return an evaluation without what it says of some rules, which were fixed since then."""
    if evaluation is None or not ids:
        return evaluation
    rows = tuple(row for row in evaluation.results if row.rule.id not in ids)
    return replace(evaluation, results=rows)
