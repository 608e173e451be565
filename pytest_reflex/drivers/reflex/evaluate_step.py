"""EVALUATE of a run: what is judged, by which checks, and the event that comes of it.

Each vote of a judge is durable when it is given, and so is its price. A rate limit in the way of
votes is not a failed try.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_reflex.drivers.common.drive import budget_left
from pytest_reflex.drivers.reflex.fold import AGAIN, marks_with
from pytest_reflex.drivers.reflex.history import RecordedRun, find_votes
from pytest_reflex.drivers.reflex.hook_calls import judge
from pytest_reflex.drivers.reflex.prepared_checks import (
    AgentCheckedRules,
    effective,
    exclude_unproved,
    find_agent_checked,
    prove,
)
from pytest_reflex.drivers.reflex.project_watch import ProjectWatch
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.steps import StepOutcome, phase_error
from pytest_reflex.integrity.tool_inputs import read_pytest_options
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.judged import CastVote, Ruling
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import Cost, total_cost
from pytest_reflex.model.targets import Target
from pytest_reflex.process.guard import private_caches
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.verdict.progress import flips_between
from pytest_reflex.verdict.score import ruling_of


class Listener:
    """Has votes made durable by `commit`, one at a time; what goes wrong is raised by `end`.

    `begin` makes durable that an agent is asked for one.

    It gets votes in any thread; the driver waits for the evaluation meanwhile.
    """

    def __init__(
        self,
        commit: Callable[[StepOutcome], object],
        begin: Callable[[str], object] = lambda question: None,
    ) -> None:
        self._commit, self._begin = commit, begin
        self._lock = Lock()
        self._error: Exception | None = None

    def __call__(self, cast: CastVote) -> None:
        done = StepOutcome(kind=EventKind.VOTE_CAST, step=Step.EVALUATE, payload=cast.to_json())
        self._do(partial(self._commit, done))

    def begin_vote(self, question: str) -> None:
        """Have it made durable that an agent is asked for a vote."""
        self._do(partial(self._begin, question))

    def end(self) -> None:
        """Raise what kept a vote from being made durable."""
        if self._error is not None:
            raise self._error

    def _do(self, deed: Callable[[], object]) -> None:
        with self._lock:
            try:
                if self._error is None:
                    deed()
            except Exception as error:  # in a check it would be taken for its own
                self._error = error


def add_vote_cost(
    done: StepOutcome,
    evaluation: Evaluation,
    counted: Iterable[CastVote] = (),
    *,
    lost: Iterable[StepOutcome] = (),
) -> StepOutcome:
    """Return the event of an evaluation with what its votes cost, without those `counted`.

    Calls that were `lost` are paid too: their end is unknown.
    """
    known = [cast.vote for cast in counted]
    costs: list[Cost | None] = [one.payload["cost"] for one in lost]
    for vote in (vote for ballot in evaluation.ballots for vote in ballot.votes):
        if vote in known:
            known.remove(vote)
        else:
            costs.append(vote.cost)
    cost = total_cost(costs)
    return done if cost is None else replace(done, payload={**done.payload, "cost": cost})


def find_refused_vote(evaluation: Evaluation) -> StepOutcome | None:
    """Return the event of an evaluation in which a rate limit kept a ballot from its verdict.

    It is not a try that failed: the run can go on later, and asks for the votes that it has not.
    """
    open_ones = (b for b in evaluation.ballots if ruling_of(b) is Ruling.UNDECIDED)
    refused = (vote for ballot in open_ones for vote in ballot.votes if vote.limited)
    vote = next(refused, None)
    if vote is None:
        return None
    failed = phase_error(Step.EVALUATE, f"judge {vote.agent}: {vote.error}")
    payload: dict[str, Any] = {**failed.payload, "agent": vote.agent, "limited": True}
    return replace(failed, payload=payload)


def evaluate(
    files: RunFiles,
    hooks: Any,
    project: Path,
    watch: ProjectWatch,
    *,
    again: bool = False,
    alone: bool = False,
) -> StepOutcome:
    """Judge the artifact; the verdict binds to the bytes that the history knows.

    Checks that an agent made are proved, and what is not proved earns nothing. Votes of a
    judge are durable when they are given, before the event that is returned. `project` is the
    working directory of commands; what changes in it meanwhile and no check declares to write, is
    an error. With `again` the event replaces the last evaluation, after which the project
    was looked at. Where this program judges `alone`, it is not looked at if no other process was at
    work. Raises ReflexError where nothing can judge, PausedError where a person has to look.
    """
    alone = alone and not watch.unseen
    if not again and not alone and (refused := watch.before_evaluation(files.alias)):
        return phase_error(Step.EVALUATE, refused)
    state = files.state
    listener = Listener(files.commit, partial(files.begin_call, Step.EVALUATE))
    redone = again or state.changed.get("by") == "restore"
    judged = (state.artifact_sha256, state.level) if redone else None
    votes = _votes_of(files, judged)
    target = replace(
        target_of(files, project), votes=votes, heard=listener, asked=listener.begin_vote
    )
    done, evaluation = _evaluate(files, hooks, target, again=again)
    listener.end()
    if evaluation is None:
        return done
    refused, accepted = ("", {}) if alone else watch.after_evaluation()
    if refused:
        done = phase_error(Step.EVALUATE, refused)
    elif done.kind is EventKind.EVALUATION_DONE:
        done = replace(done, payload={**done.payload, **accepted})
    return add_vote_cost(
        done, evaluation, (*votes, *files.state.votes), lost=files.unrecorded_votes()
    )


def evaluate_free(run: RecordedRun, hooks: Any, project: Path) -> StepOutcome:
    """Judge the artifact of a run by its checks and by votes that are recorded; no agent is asked.

    Nothing is written. Raises ReflexError where nothing can judge.
    """
    target = target_of(run, project)
    votes = _votes_of(run, (run.state.artifact_sha256, target.level))
    target = replace(target, votes=votes, asks=False, heard=lambda cast: None)
    return _evaluate(run, hooks, target, again=True)[0]


def _votes_of(run: RecordedRun, judged: tuple[str, Level] | None) -> tuple[CastVote, ...]:
    cached = run.state.setup.get("judge_cache", True)
    return find_votes(run.latest_events(), judged, cached=cached)


def _evaluate(
    run: RecordedRun, hooks: Any, target: Target, *, again: bool
) -> tuple[StepOutcome, Evaluation | None]:
    """Judge a target with caches of its own; return the event, and the evaluation it is made of."""
    options = (json.dumps(target.criteria.to_json()), *read_pytest_options(target.root))
    with private_caches({}, options) as caches:
        target = replace(target, environment={**target.environment, **caches})
        evaluation = judge(hooks, target)
        if isinstance(evaluation, str):
            return phase_error(Step.EVALUATE, evaluation), None
        return outcome_of(run, target, evaluation, again=again), evaluation


def outcome_of(
    run: RecordedRun, target: Target, evaluation: Evaluation, *, again: bool
) -> StepOutcome:
    """Return the event that an evaluation comes to, without its price."""
    state = run.state
    if refused := find_refused_vote(evaluation):
        return refused
    if evaluation.artifact_sha256 != state.artifact_sha256:
        return phase_error(Step.EVALUATE, "the artifact changed while it was evaluated")
    rules = find_agent_checked(state.criteria, target, evaluation)
    proofs = prove(AgentCheckedRules(target=target, rules=rules, text=run.artifact_text()))
    if proofs and _has_changed(run):
        return phase_error(Step.EVALUATE, "the artifact changed while its checks were proved")
    evaluation = exclude_unproved(evaluation, proofs)
    wire = evaluation.to_json()
    payload: dict[str, Any] = {
        "score": wire["score"],
        "passed": wire["passed"],
        "evaluation": wire,
    }
    if proofs:
        payload["proofs"] = [{**one.to_json(), "idle": list(one.idle)} for one in proofs]
    if again:
        payload[AGAIN] = True
    marks = marks_with(state, evaluation, again=again)
    if flips := flips_between(marks):
        payload["flips"] = flips.to_json()
    return StepOutcome(kind=EventKind.EVALUATION_DONE, step=Step.EVALUATE, payload=payload)


def _has_changed(run: RecordedRun) -> bool:
    """Return whether the artifact is not the one that was judged: a command may have changed it."""
    data = read_if_regular(run.artifact_path)
    return data is None or hashlib.sha256(data).hexdigest() != run.state.artifact_sha256


def target_of(run: RecordedRun, project: Path) -> Target:
    """Return what EVALUATE judges now: the artifact, by the checks that were prepared last."""
    state = run.state
    base = state.setup.get("link_base")
    return Target(
        criteria=effective(state.criteria, state.checks),
        level=state.level,
        artifact=run.artifact_path,
        root=project,
        label=run.artifact_label,
        link_base=Path(base) if base else project,
        environment={
            "PYTEST_REFLEX_RUN_DIR": str(run.folder),
            "PYTEST_REFLEX_ITERATION": str(state.iteration),
        },
        budget=budget_left(state.limits.budget, state.spend),
    )
