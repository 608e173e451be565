"""Reflex loops in the list of all runs, those over a pytest session too; and one in full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.drivers.common.record import DAMAGED, RunRow
from pytest_reflex.drivers.reflex.events import driver_of
from pytest_reflex.drivers.reflex.history import claims_pass
from pytest_reflex.drivers.reflex.run_status import (
    NOT_VERIFIED,
    RunOverview,
    resume_command,
    verify_command,
)
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, LOOP, is_of_session
from pytest_reflex.drivers.reflex.survey import FoundRun, survey
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.reports.runs import status_text as page_of_run
from pytest_reflex.settings import Settings
from pytest_reflex.verdict.formatting import format_score, plain


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield a row for each run in the state folder; both kinds share it.

    The kind of a damaged run is unknown: it counts as a loop.
    """
    for found in survey(project / settings["loop.root"]):
        yield row_of(found)


def row_of(found: FoundRun) -> RunRow:
    """Return the row of a loop in a list of runs."""
    if found.run is None:
        return RunRow(driver=LOOP, name=found.alias, status=DAMAGED, problem=found.problem)
    state = found.run.state
    evaluation = state.evaluation if state.artifact_status == "evaluated" else None
    return RunRow(
        driver=driver_of(state),
        name=found.alias,
        status=found.status,
        interrupted=found.run.interrupted,
        driven=found.run.alive,
        started_at=state.created_at,
        changed_at=state.updated_at,
        iteration=state.iteration,
        max_iterations=state.limits.max_iterations,
        spend=state.spend,
        score=evaluation.score if evaluation else None,
        about=state.task,
    )


def status_text(run: RunOverview) -> str:
    """Return where a run stands, in lines for people."""
    state = run.state
    going = state.status is RunStatus.RUNNING
    return page_of_run(
        "Loop",
        row_of(FoundRun(alias=run.alias, run=run)).to_json(),
        first=[("Task", state.task)],
        middle=[
            ("Phase", state.level.value),
            ("Step", state.step.value) if going else ("Stopped", _end_text(state)),
            ("Score", _score(state)),
        ],
        last=[
            ("Artifact", _artifact(run)),
            *(("Recovered", one) for one in run.recovered),
            *_next(run),
        ],
        spend=state.spend,
        budget=state.limits.budget,
        feedback=len(state.feedback),
    )


def _next(run: RunOverview) -> Iterator[tuple[str, str]]:
    """Yield what can be done with a run now."""
    state = run.state
    if claims_pass(state) and not run.alive and not is_of_session(state):
        yield "Verify with", verify_command(run)
    if run.copied:
        yield "Copy of", f"{state.alias} (a copied loop cannot be run)"
    elif run.interrupted:
        yield "Continue with", resume_command(state, "resume")
    elif state.stop.can_be_extended:
        yield "Go on with", resume_command(state, "extend")


def _artifact(run: RunOverview) -> str:
    if run.state.artifact_sha256 == EMPTY_SHA256:
        return "none yet" if run.state.status is RunStatus.RUNNING else "none"
    return f"{run.folder / ARTIFACT} ({run.state.artifact_status})"


def _end_text(state: RunState) -> str:
    detail = f" ({one_line(state.stop.detail, 500)})" if state.stop.detail else ""
    return f"{state.stop.reason.value if state.stop.reason else 'no reason'}{detail}"


def _score(state: RunState) -> str:
    evaluation = state.evaluation
    if evaluation is None or state.artifact_status != "evaluated":
        return f"none (artifact {state.artifact_status})"
    score = format_score(evaluation.score)
    verdict = f"passed ({NOT_VERIFIED})" if evaluation.passed else "not passed"
    return f"{score} of {plain(evaluation.threshold)}, {verdict}"
