"""One sitting of a run: it begins or goes on, owned by this process and told to a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.events import DriverEvent, Listener
from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.drivers.iterate import opening
from pytest_reflex.drivers.iterate.gate_start import refuse_other_gates, starts_from_json
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.logfile import LogFile, free_log_name, log_path
from pytest_reflex.drivers.iterate.loop import IterationLoop
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.state import beyond_limit
from pytest_reflex.drivers.iterate.statefile import state_file
from pytest_reflex.drivers.iterate.work import Work, utc_now
from pytest_reflex.model.plain import counted
from pytest_reflex.model.run import lost_call_text
from pytest_reflex.process.secrecy import secrets
from pytest_reflex.storage.filesystem import lock_warning

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Opening:
    """The state to begin with, whether it is that of a run that goes on, and warnings of it."""

    state: State
    goes_on: bool
    warnings: tuple[str, ...] = ()


Begin = Callable[[SnapshotFile[State]], Opening]


def begin_new(work: Work, options: opening.Options, *, fresh: bool) -> Begin:
    """Return what begins a run; it refuses to where one was interrupted, unless `fresh`."""
    name = work.procedure.name

    def begin(file: SnapshotFile[State]) -> Opening:
        found = file.read()
        if found is not None and opening.is_unfinished(found) and not fresh:
            raise opening.unfinished(found)
        at = utc_now()
        log_name = free_log_name(file.path.parent.parent, name, at)
        state = opening.fresh(name, work.bounds, options, at, log_name)
        return Opening(state, goes_on=False, warnings=(_doubt(found),))

    return begin


def begin_again(work: Work, options: opening.Options, *, reset_failures: bool) -> Begin:
    """Return what lets a run go on; it refuses to where there is none."""
    name = work.procedure.name

    def begin(file: SnapshotFile[State]) -> Opening:
        found = file.read()
        state = opening.taken_up(found, name, work.bounds, options, reset_failures=reset_failures)
        starts = starts_from_json(state.gates_at_start, "gates_at_start")
        refuse_other_gates(starts, work.gates.declared(), name)
        warnings = (_doubt(found), lost_call_text(found.calls if found else ()))
        return Opening(state, goes_on=True, warnings=warnings)

    return begin


def _doubt(found: State | None) -> str:
    """Return the warning that belongs to a state which says running: we hold its lock by now."""
    if found is None or found.status is not Status.RUNNING:
        return ""
    return f"The state says that it is running, but {opening.another_program()}; end that one first"


@contextmanager
def opened(
    work: Work,
    begin: Begin,
    *,
    root: Path,
    say: Say,
    warn: Say | None = None,
    listen: Listener | None = None,
    **shown: Any,
) -> Iterator[IterationLoop]:
    """Own the run and yield what drives it; `say` gets the lines of its log, `shown` says how.

    `warn` hears what is wrong with the log file. Raises LockedError where another process drives
    the run.
    """
    name, troubles = work.procedure.name, list[str]()
    tell: list[Callable[[str], object]] = [troubles.append]
    with state_file(root, name, lambda text: tell[0](text)) as file:
        opened_with = begin(file)
        state, goes_on = opened_with.state, opened_with.goes_on
        path = log_path(root, name, state.run)
        hidden = secrets(os.environ, os.environ, ())
        log = Log(name, say, hidden=hidden, file=LogFile(path, warn or say, root=root), **shown)
        tell[0] = log.error
        if goes_on:
            log.resuming(state, work.bounds)
        else:
            log.starting(work.bounds)
        if left := file.lease.end_leftovers():
            many = counted(left, "process", "processes")
            troubles.append(f"ended {many} that an earlier run had left behind")
        warnings = (*opened_with.warnings, *troubles, lock_warning(root), beyond_limit(state))
        for text in filter(None, warnings):
            log.warning(text)
        yield IterationLoop(work, state=state, file=file, log=log, fresh=not goes_on, listen=listen)


def events(work: Work, begin: Begin, *, root: Path, say: Say) -> Generator[DriverEvent, None, None]:
    """Drive a run and yield its events."""
    with opened(work, begin, root=root, say=say) as loop, closing(loop.events()) as found:
        try:
            yield from found
        except KeyboardInterrupt:
            loop.interrupted()
            raise
