"""Iteration loops in the list of all runs, and removing what is kept of them.

A run that is complete has no state file any more: its row is read off its log.

Promises: no process drives a procedure while its files are removed; links are removed and never
followed; other files stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from pytest_reflex.drivers.common.record import DAMAGED, RunRow
from pytest_reflex.drivers.iterate.history import RunRecord, procedures_with_logs, runs_of
from pytest_reflex.drivers.iterate.logfile import DRIVER, log_path
from pytest_reflex.drivers.iterate.model import Status
from pytest_reflex.drivers.iterate.state import run_folder, state_file
from pytest_reflex.drivers.iterate.status import procedures_with_state, status_of
from pytest_reflex.model.plain import one_line, pluralize
from pytest_reflex.settings import Settings
from pytest_reflex.settings.procedure_tables import NAME
from pytest_reflex.storage.atomic import remove_file, remove_strays
from pytest_reflex.storage.files import names_in
from pytest_reflex.storage.folders import remove_folder


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield a row for each run that has a state or a log, by procedure, the oldest first."""
    root = project / settings["iterate.root"]
    for procedure in sorted({*procedures_with_state(root), *procedures_with_logs(root)}):
        yield from _of_procedure(root, procedure)


def _of_procedure(root: Path, procedure: str) -> Iterator[RunRow]:
    standing = status_of(root, procedure)
    state = standing.state
    current = log_path(root, procedure, state.run) if state else None
    rows = [_row_from_log(run) for run in runs_of(root, procedure) if run.log != current]
    if standing.driven and not state and rows and rows[-1].interrupted:
        # A tool has cleared the state away: it is written anew behind the iteration.
        rows[-1] = replace(rows[-1], status="running", interrupted=False, driven=True)
    yield from rows
    if state or standing.problem:
        yield standing.row()


def _row_from_log(run: RunRecord) -> RunRow:
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


_LOCK = "lock"
_OURS = re.compile(rf"({NAME.pattern})\.(json(?:\.corrupt-\d+)?|control\.json|{_LOCK})")


def find_procedures(root: Path) -> list[str]:
    """Return the names of the procedures of which anything is kept, sorted."""
    found = (_OURS.fullmatch(name) for name in names_in(root / "state"))
    return sorted({match[1] for match in found if match} | {*procedures_with_logs(root)})


def what_is_lost(root: Path, procedure: str) -> str:
    """Return in words what is lost with the files of a procedure."""
    standing, logs = status_of(root, procedure), names_in(root / "log" / procedure)
    number = sum(name.endswith(".jsonl") for name in logs)
    parts = [f"{pluralize(number, 'log')}"] if number else []
    if standing.problem:
        parts.insert(0, f"damaged: {one_line(standing.problem)}")
    elif standing.state and standing.status != Status.COMPLETED:
        parts.insert(0, f"{standing.shown_status}; it could still be resumed")
    return ", ".join(parts) or "no run"


def remove(root: Path, procedure: str, warn: Callable[[str], object]) -> None:
    """Remove all files of a procedure; raises LockedError where a process drives it, StateError."""
    with state_file(root, procedure, warn) as file:
        folder = file.path.parent
        remove_folder(run_folder(root, procedure))
        found = [match for name in names_in(folder) if (match := _OURS.fullmatch(name))]
        ours = [match for match in found if match[1] == procedure]
        for match in sorted(ours, key=lambda match: match[2] == _LOCK):
            remove_file(folder / match[0])
        remove_strays(folder, f"{procedure}.")
