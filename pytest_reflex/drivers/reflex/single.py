"""CRITIQUE and REFINE as single steps, as a loop performs them, for building other loops.

Promises: nothing is written but what an agent had when it was stopped, beside the artifact;
contracts and the one retry are those of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import Any

from pytest_reflex.drivers.reflex.decide import MAX_TRIES
from pytest_reflex.drivers.reflex.hook_calls import ask
from pytest_reflex.drivers.reflex.lost_calls import keep_beside, with_partial
from pytest_reflex.drivers.reflex.steps import StepOutcome, obstacle, perform, request_for
from pytest_reflex.errors import StepError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits, RunState
from pytest_reflex.model.single import Cost, Critique, Issue, Refinement
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.reports.run_lines import refusal_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """An artifact outside of any run, what it is checked against, and the hooks that answer.

    `project` is the working directory of formatters; `notice` is called with a line about what
    takes long, or is kept.
    """

    artifact: Artifact
    criteria: Criteria
    level: Level
    hooks: Any
    project: Path = field(default_factory=Path.cwd)
    notice: Callable[[str], object] = lambda text: None


def criticise(alone: StepContext, evaluation: Evaluation) -> Critique:
    """Return the critique of an evaluation; no agent is asked where no rule failed.

    Raises StepError where the answers were not a critique, twice.
    """
    if not (evaluation.failed or evaluation.warnings):
        return Critique(issues=())
    done, costs = _perform(Step.CRITIQUE, _state(alone, evaluation=evaluation), alone)
    payload = done.payload
    return Critique(issues=tuple(payload["issues"]), agent=payload["agent"], costs=costs)


def refine(alone: StepContext, issues: Sequence[Issue]) -> Refinement:
    """Return the artifact after safe fixes, and after the agent for what they do not fix.

    Raises StepError where the agent gave no text, twice.
    """
    if not issues:
        return Refinement(text=alone.artifact.raw_text)
    done, costs = _perform(Step.REFINE, _state(alone, issues=tuple(issues)), alone)
    assert done.artifact is not None
    payload = done.payload
    return Refinement(
        text=done.artifact,
        by=payload["by"],
        fixed=tuple(payload["fixed"]),
        not_fixed=payload.get("not_fixed", {}),
        agent=payload.get("agent", ""),
        costs=costs,
    )


def _state(alone: StepContext, **known: Any) -> RunState:
    return RunState(
        run_id="none",
        alias="none",
        task="",
        ideal_result="",
        criteria=alone.criteria,
        limits=Limits(),
        level=alone.level,
        seal="",
        created_at="",
        updated_at="",
        **known,
    )


def _perform(
    step: Step, state: RunState, alone: StepContext
) -> tuple[StepOutcome, tuple[Cost, ...]]:
    costs: list[Cost] = []
    answer = partial(ask, alone.hooks)
    refused = ""
    for _ in range(MAX_TRIES):
        request, project = replace(_request(step, state, alone), refused=refused), alone.project
        done = perform(step, state, request, answer, allow_commands=False, project=project)
        if cost := done.payload.get("cost"):
            costs.append(cost)
        if done.partial:
            done = _keep(alone, done)
        if done.kind is not EventKind.PHASE_ERROR:
            return done, tuple(costs)
        if left := obstacle(done):
            raise left
        messages = (*state.errors.get(step.value, ()), done.payload["message"])
        state = replace(state, errors={step.value: messages})
        refused = done.payload.get("answer", "")
    agent = done.payload.get("agent", "")
    raise StepError(
        f"{step.value} failed twice, by agent {agent}: {refusal_of(done.payload)}",
        hint="the artifact is as it was" if "partial" in done.payload else "nothing was written",
    )


def _keep(alone: StepContext, done: StepOutcome) -> StepOutcome:
    """Keep partial output, and say so at once: the second try may be a good one."""
    kept = keep_beside(alone.artifact.path, done.step, done.partial)
    alone.notice(f"{done.step.value}: {kept[1]}")
    return replace(done, payload=with_partial(done.payload, kept))


def _request(step: Step, state: RunState, alone: StepContext) -> StepRequest:
    artifact = alone.artifact
    request = request_for(
        step,
        state,
        artifact=artifact.raw_text,
        artifact_path=str(artifact.path),
        events=(),
        cancel=Signal(),
    )

    def keep(text: str) -> None:
        if text.strip():
            alone.notice(f"{step.value}: {keep_beside(artifact.path, step, text)[1]}")

    return replace(request, tell=alone.notice, keep_partial=keep)
