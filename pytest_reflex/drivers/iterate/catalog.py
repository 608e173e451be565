"""The rows of iteration loops in the list of all runs.

A run that is complete has no state file any more: its row is read off its log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.catalog import DAMAGED, RunRow
from pytest_reflex.drivers.iterate.events import DRIVER
from pytest_reflex.drivers.iterate.logfile import log_path
from pytest_reflex.drivers.iterate.model import State
from pytest_reflex.drivers.iterate.status import procedures_with_state, standing_of
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.run import Spend
from pytest_reflex.settings import Settings
from pytest_reflex.settings.procedure_tables import NAME
from pytest_reflex.store.regular import names_in, read_file

_MOST_BYTES = 100_000_000
_SUFFIX = ".jsonl"
_BEGUN = ("started", "resumed")


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield a row for each run that has a state or a log, by procedure, the oldest first."""
    root = project / settings["iterate.root"]
    logged = [name for name in names_in(root / "log") if NAME.fullmatch(name)]
    for procedure in sorted({*procedures_with_state(root), *logged}):
        yield from _of_procedure(root, procedure)


def _of_procedure(root: Path, procedure: str) -> Iterator[RunRow]:
    standing = standing_of(root, procedure)
    state = standing.state
    current = log_path(root, procedure, state.started_at).name if state else ""
    folder = root / "log" / procedure
    logs = [name for name in names_in(folder) if name.endswith(_SUFFIX) and name != current]
    rows = [_logged(folder / name, procedure) for name in logs]
    if standing.driven and not state and rows and rows[-1].interrupted:
        # A tool has cleared the state away: it is written anew behind the iteration.
        rows[-1] = replace(rows[-1], status="running", interrupted=False, driven=True)
    yield from rows
    if standing.problem:
        yield RunRow(
            driver=DRIVER,
            name=procedure,
            status=DAMAGED,
            driven=standing.driven,
            problem=standing.problem,
        )
    elif state:
        yield _of_state(state, standing.shown_status, standing.interrupted, standing.driven)


def _of_state(state: State, status: str, interrupted: bool, driven: bool) -> RunRow:
    return RunRow(
        driver=DRIVER,
        name=state.procedure_name,
        status=status,
        interrupted=interrupted,
        driven=driven,
        started_at=state.started_at,
        changed_at=state.last_iteration_at or state.started_at,
        iteration=state.iteration,
        max_iterations=state.max_iterations,
        spend=state.spend,
    )


def _logged(path: Path, procedure: str) -> RunRow:
    """Return the row of a run of which only the log is left."""
    try:
        lines = read_file(path, _MOST_BYTES).splitlines()
    except (ReflexError, OSError) as error:
        return RunRow(driver=DRIVER, name=procedure, status=DAMAGED, problem=str(error))
    found = [line for line in map(_object, lines) if isinstance(line.get("time"), str)]
    if not found:
        problem = f"{path} holds no line of a log"
        return RunRow(driver=DRIVER, name=procedure, status=DAMAGED, problem=problem)
    # Runs that begin in one second share a file: the last one counts.
    begun = [line for line in found if line.get("event") in _BEGUN]
    starts = [line for line in begun if line["event"] == "started"] or found
    done = [line for line in found if line.get("event") == "iteration_completed"]
    ended = found[-1] if found[-1].get("event") == "ended" else {}
    limit = _number(begun[-1].get("max_iterations")) if begun else None
    return RunRow(
        driver=DRIVER,
        name=procedure,
        status=_text(ended.get("status")) or "interrupted",
        interrupted=not ended,
        started_at=_second(starts[-1]["time"]),
        changed_at=_second(found[-1]["time"]),
        iteration=_number(ended.get("iterations", done[-1].get("iteration") if done else 0)),
        max_iterations=limit or 0,
        spend=_spend(ended.get("spend")),
    )


def _object(line: bytes) -> Mapping[str, Any]:
    """Return what a line of a log says; nothing for one that a crash has left behind."""
    try:
        found = json.loads(line.replace(b"\0", b""))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _second(value: Any) -> str:
    """Return a time of the log as state files have it: to the second."""
    whole = _text(value).removesuffix("Z").partition(".")[0]
    return f"{whole}Z" if whole else ""


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def _spend(wire: Any) -> Spend | None:
    try:
        return None if wire is None else Spend.from_json(wire)
    except ValueError:
        return None
