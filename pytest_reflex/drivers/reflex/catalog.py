"""The rows of Reflex loops in the list of all runs, and of those over a pytest session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.drivers.common.catalog import DAMAGED, RunRow
from pytest_reflex.drivers.reflex.kinds import LOOP, driver_of
from pytest_reflex.drivers.reflex.survey import Found, survey
from pytest_reflex.settings import Settings


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield a row for each run in the state folder; both kinds share it.

    Of a damaged run nobody can say which kind it is: it counts as a loop.
    """
    for found in survey(project / settings["loop.root"]):
        yield _row(found)


def _row(found: Found) -> RunRow:
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
    )
