"""EVALUATE of a run: what is judged, by which checks, and the event that comes of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.loops.asking import judge
from pytest_reflex.loops.decide import budget_left
from pytest_reflex.loops.prepared import effective
from pytest_reflex.loops.project_watch import ProjectWatch
from pytest_reflex.loops.proving import Made, made_by_agent, prove, without_unproved
from pytest_reflex.loops.runfiles import RunFiles
from pytest_reflex.loops.steps import Done, phase_error
from pytest_reflex.loops.votes import Listener, paid, refused_vote
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Step
from pytest_reflex.process.caches import private_caches
from pytest_reflex.seals.world import configured_options
from pytest_reflex.store.regular import read_if_regular
from pytest_reflex.verdict.progress import flips_between, mark_of


def evaluate(files: RunFiles, hooks: Any, project: Path, watch: ProjectWatch) -> Done:
    """Judge the artifact; the verdict binds to the bytes that the history knows.

    Checks that an agent made are proved, and what is not proved earns nothing. Votes of a
    judge are durable when they are given, before the event that is returned. `project` is the
    working directory of commands; what changes in it meanwhile and no check declares to write, is
    an error. Raises ReflexError where nothing can judge, PausedError where a person has to look.
    """
    if refused := watch.before_evaluation(files.alias):
        return phase_error(Step.EVALUATE, refused)
    listener = Listener(files.commit)
    target = target_of(files, project)
    options = (json.dumps(target.criteria.to_json()), *configured_options(project))
    with private_caches({}, options) as caches:
        target = replace(
            target,
            environment={**target.environment, **caches},
            votes=files.state.votes,
            heard=listener,
        )
        evaluation = judge(hooks, target)
        listener.end()
        if isinstance(evaluation, str):
            return phase_error(Step.EVALUATE, evaluation)
        done = _done(files, target, evaluation)
    refused, accepted = watch.after_evaluation()
    if refused:
        done = phase_error(Step.EVALUATE, refused)
    elif done.kind is EventKind.EVALUATION_DONE:
        done = replace(done, payload={**done.payload, **accepted})
    return paid(done, evaluation, files.state.votes)


def _done(files: RunFiles, target: Target, evaluation: Evaluation) -> Done:
    """Return the event that an evaluation comes to, without its price."""
    state = files.state
    if refused := refused_vote(evaluation):
        return refused
    if evaluation.artifact_sha256 != state.artifact_sha256:
        return phase_error(Step.EVALUATE, "the artifact changed while it was evaluated")
    rules = made_by_agent(state.criteria, target, evaluation)
    proofs = prove(Made(target=target, rules=rules, text=files.artifact_text()))
    if proofs and _changed(files):
        return phase_error(Step.EVALUATE, "the artifact changed while its checks were proved")
    evaluation = without_unproved(evaluation, proofs)
    payload: dict[str, Any] = {"evaluation": evaluation.to_json()}
    if proofs:
        payload["proofs"] = [{**one.to_json(), "idle": list(one.idle)} for one in proofs]
    marks = (*state.marks, mark_of(evaluation, state.iteration))
    if flips := flips_between(marks):
        payload["flips"] = flips.to_json()
    return Done(kind=EventKind.EVALUATION_DONE, step=Step.EVALUATE, payload=payload)


def _changed(files: RunFiles) -> bool:
    """Return whether the artifact is not the one that was judged: a command may have changed it."""
    data = read_if_regular(files.artifact_path)
    return data is None or hashlib.sha256(data).hexdigest() != files.state.artifact_sha256


def target_of(files: RunFiles, project: Path) -> Target:
    """Return what EVALUATE judges now: the artifact, by the checks that were prepared last."""
    state = files.state
    base = state.setup.get("link_base")
    return Target(
        criteria=effective(state.criteria, state.checks),
        level=state.level,
        artifact=files.artifact_path,
        root=project,
        label=files.artifact_label,
        link_base=Path(base) if base else project,
        environment={
            "PYTEST_REFLEX_RUN_DIR": str(files.folder),
            "PYTEST_REFLEX_ITERATION": str(state.iteration),
        },
        budget=budget_left(state),
    )
