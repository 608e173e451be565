"""The rows of iteration loops in the list of all runs.

A run that is complete has no state file any more: its row is read off its log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pytest_reflex.drivers.common.catalog import DAMAGED, RunRow
from pytest_reflex.drivers.iterate.events import DRIVER
from pytest_reflex.drivers.iterate.history import RunRecord, procedures_with_logs, runs_of
from pytest_reflex.drivers.iterate.logfile import log_path
from pytest_reflex.drivers.iterate.status import procedures_with_state, standing_of
from pytest_reflex.settings import Settings


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield a row for each run that has a state or a log, by procedure, the oldest first."""
    root = project / settings["iterate.root"]
    for procedure in sorted({*procedures_with_state(root), *procedures_with_logs(root)}):
        yield from _of_procedure(root, procedure)


def _of_procedure(root: Path, procedure: str) -> Iterator[RunRow]:
    standing = standing_of(root, procedure)
    state = standing.state
    current = log_path(root, procedure, state.run) if state else None
    rows = [_logged(run) for run in runs_of(root, procedure) if run.log != current]
    if standing.driven and not state and rows and rows[-1].interrupted:
        # A tool has cleared the state away: it is written anew behind the iteration.
        rows[-1] = replace(rows[-1], status="running", interrupted=False, driven=True)
    yield from rows
    if state or standing.problem:
        yield standing.row()


def _logged(run: RunRecord) -> RunRow:
    """Return the row of a run of which only the log is left."""
    row = RunRow(driver=DRIVER, name=run.procedure, status=DAMAGED)
    if run.problem:
        return replace(row, problem=run.problem)
    if not run.started_at:
        return replace(row, problem=f"{run.log} holds no line of a log")
    return replace(
        row,
        status=run.status or "interrupted",
        interrupted=not run.status,
        started_at=_second(run.started_at),
        changed_at=_second(run.changed_at),
        iteration=max((one.number for one in run.iterations), default=0),
        max_iterations=run.max_iterations,
        spend=run.spend,
    )


def _second(time: str) -> str:
    """Return a time of the log as state files have it: to the second."""
    return f"{time.removesuffix('Z').partition('.')[0]}Z"
