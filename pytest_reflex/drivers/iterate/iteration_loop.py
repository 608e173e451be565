"""One sitting of an iteration loop: owned by this process, from its first iteration to its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common import drive as limits
from pytest_reflex.drivers.common.control import StopControl
from pytest_reflex.drivers.common.drive import drive
from pytest_reflex.drivers.common.events import DriverEvent, Listener, StepEvents, utc_now
from pytest_reflex.drivers.common.protection import format_modified
from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.drivers.iterate import initial_state
from pytest_reflex.drivers.iterate.driver import IterateDriver
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.logfile import LogFile, free_log_name, log_path, start_event
from pytest_reflex.drivers.iterate.messages import undo_text, unpassable
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.progress import refuse_other_gates, starts_from_json
from pytest_reflex.drivers.iterate.run_config import RunConfig
from pytest_reflex.drivers.iterate.state import beyond_limit, state_file
from pytest_reflex.drivers.iterate.store import IterateStore
from pytest_reflex.errors import ExitCode, ReflexError
from pytest_reflex.model.plain import one_line, pluralize
from pytest_reflex.model.run import format_lost_calls
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.environment import secrets
from pytest_reflex.storage.files import lock_warning


class IterationLoop:
    """One sitting of a loop: `state` is where it stands, durable in `file` and reported to `log`.

    One that is `fresh` begins a run; `listen` gets at once what an iteration waits for.
    """

    def __init__(
        self,
        work: RunConfig,
        *,
        state: State,
        file: SnapshotFile[State],
        log: Log,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = utc_now,
        fresh: bool = False,
        listen: Listener | None = None,
    ) -> None:
        work.gates.compare_with(starts_from_json(state.gates_at_start, "gates_at_start"))
        work.gates.remember(state.modified_files)
        starts = {name: start.to_json() for name, start in work.gates.starts().items()}
        state = replace(state, gates_at_start=starts)
        self._work, self.log, self._clock = work, log, clock
        self._cancel, self._waits = Cancel(), StepEvents(listen)
        self._store = IterateStore(
            state,
            file=file,
            log=log,
            modified=work.gates.find_modified,
            now=now,
            fresh=fresh,
            ending=self._report_undo,
        )

    @property
    def state(self) -> State:
        return self._store.state

    @property
    def exit_code(self) -> ExitCode:
        """The exit status of a run that has ended."""
        return self._store.exit_code

    def events(self) -> Generator[DriverEvent, None, None]:
        """Drive the loop to its end; yield each event when it is durable.

        Closing the generator leaves a run that a resume continues. A KeyboardInterrupt comes
        through, with the state saved as interrupted; see `report_interrupt`.
        """
        control = StopControl(self._store.requests, self._cancel)
        driver = IterateDriver(
            self._work,
            self.log,
            store=self._store,
            control=control,
            cancel=self._cancel,
            clock=self._clock,
            wait=self._waits.send,
        )
        driven = drive(driver, self._store, control, clock=self._clock, announce=driver.announce)
        try:
            self._store.begin()
            self._report_modified()
            driver.report_lost_lock(limits.unreported_parts(self._work.agent))
            yield start_event(self.state)
            with closing(driven):
                yield from self._waits.before(driven)
        except BaseException as error:
            self._cancel.set()
            self._store.leave()
            gone = isinstance(error, GeneratorExit) and not self._store.has_ended
            if gone or isinstance(error, Exception):
                self.report_interrupt()
            raise

    def report_interrupt(self) -> None:
        """Report how an interrupted loop goes on; called by the handler of KeyboardInterrupt."""
        self.log.report_end(StopReason.INTERRUPTED, self.state, saved=self._store.saved)

    def _report_undo(self) -> None:
        """Report how the commits of this sitting are undone."""
        if self._work.commits is not None and self._work.commits.made:
            self.log.info(undo_text(self._work.commits.made))

    def _report_modified(self) -> None:
        """Report before the first iteration which gates cannot pass: no one is to pay for it."""
        with suppress(ReflexError):
            for name, files in self._work.gates.find_modified().items():
                self.log.warning(unpassable(one_line(name), format_modified(list(files))))


Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class InitialState:
    """The state to begin with, whether it is that of a run that goes on, and warnings of it."""

    state: State
    goes_on: bool
    warnings: tuple[str, ...] = ()


Begin = Callable[[SnapshotFile[State]], InitialState]


def begin_new(work: RunConfig, options: initial_state.IterateOptions, *, fresh: bool) -> Begin:
    """Return what begins a run; it refuses to where one was interrupted, unless `fresh`."""
    name = work.procedure.name

    def begin(file: SnapshotFile[State]) -> InitialState:
        found = file.read()
        if found is not None and initial_state.is_unfinished(found) and not fresh:
            raise initial_state.unfinished_error(found)
        at = utc_now()
        log_name = free_log_name(file.path.parent.parent, name, at)
        state = initial_state.fresh(name, work.bounds, options, at, log_name)
        return InitialState(state, goes_on=False, warnings=(_doubt(found),))

    return begin


def begin_again(
    work: RunConfig, options: initial_state.IterateOptions, *, reset_failures: bool
) -> Begin:
    """Return what lets a run go on; it refuses to where there is none."""
    name = work.procedure.name

    def begin(file: SnapshotFile[State]) -> InitialState:
        found = file.read()
        state = initial_state.resume_state(
            found, name, work.bounds, options, reset_failures=reset_failures
        )
        starts = starts_from_json(state.gates_at_start, "gates_at_start")
        refuse_other_gates(starts, work.gates.declarations(), name)
        warnings = (_doubt(found), format_lost_calls(found.calls if found else ()))
        return InitialState(state, goes_on=True, warnings=warnings)

    return begin


def _doubt(found: State | None) -> str:
    """Return the warning that belongs to a state which says running: we hold its lock by now."""
    if found is None or found.status is not Status.RUNNING:
        return ""
    other = initial_state.another_program()
    return f"The state says that it is running, but {other}; end that one first"


@contextmanager
def open_loop(
    work: RunConfig,
    begin: Begin,
    *,
    root: Path,
    say: Say,
    warn: Say | None = None,
    listen: Listener | None = None,
    **shown: Any,
) -> Iterator[IterationLoop]:
    """Own the run and yield what drives it; `say` gets the lines of its log, `shown` says how.

    `warn` gets what is wrong with the log file. Raises LockedError where another process drives
    the run.
    """
    name, problems = work.procedure.name, list[str]()
    report: list[Callable[[str], object]] = [problems.append]
    with state_file(root, name, lambda text: report[0](text)) as file:
        opened_with = begin(file)
        state, goes_on = opened_with.state, opened_with.goes_on
        path = log_path(root, name, state.run)
        hidden = secrets(os.environ, os.environ, ())
        log = Log(name, say, hidden=hidden, file=LogFile(path, warn or say, root=root), **shown)
        report[0] = log.error
        if goes_on:
            log.report_resume(state, work.bounds)
        else:
            log.report_start(work.bounds)
        if left := file.lease.end_leftovers():
            many = pluralize(left, "process", "processes")
            problems.append(f"ended {many} that an earlier run had left behind")
        warnings = (*opened_with.warnings, *problems, lock_warning(root), beyond_limit(state))
        for text in filter(None, warnings):
            log.warning(text)
        yield IterationLoop(work, state=state, file=file, log=log, fresh=not goes_on, listen=listen)


def events(
    work: RunConfig, begin: Begin, *, root: Path, say: Say
) -> Generator[DriverEvent, None, None]:
    """Drive a run and yield its events."""
    with open_loop(work, begin, root=root, say=say) as loop, closing(loop.events()) as found:
        try:
            yield from found
        except KeyboardInterrupt:
            loop.report_interrupt()
            raise
