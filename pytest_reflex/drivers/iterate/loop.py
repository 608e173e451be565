"""One sitting of an iteration loop, from its first iteration to its end: events for who listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import replace

from pytest_reflex.drivers.common import limits
from pytest_reflex.drivers.common.control import Control
from pytest_reflex.drivers.common.drive import drive
from pytest_reflex.drivers.common.events import DriverEvent, Listener, Waits
from pytest_reflex.drivers.common.protection import modified_text
from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.drivers.iterate.driver import IterateDriver
from pytest_reflex.drivers.iterate.events import started
from pytest_reflex.drivers.iterate.gate_start import starts_from_json
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.messages import undo_text, unpassable
from pytest_reflex.drivers.iterate.model import State
from pytest_reflex.drivers.iterate.store import IterateStore
from pytest_reflex.drivers.iterate.work import Work, utc_now
from pytest_reflex.errors import ExitCode, ReflexError
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.deadline import Cancel


class IterationLoop:
    """One sitting of a loop: `state` is where it stands, durable in `file` and told to `log`.

    One that is `fresh` begins a run; `listen` hears at once what is waited for within an iteration.
    """

    def __init__(
        self,
        work: Work,
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
        self._cancel, self._waits = Cancel(), Waits(listen)
        self._store = IterateStore(
            state,
            file=file,
            log=log,
            modified=work.gates.modified,
            now=now,
            fresh=fresh,
            ending=self._tell_undo,
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
        through, with the state saved as interrupted; see `interrupted`.
        """
        control = Control(self._store.requests, self._cancel)
        driver = IterateDriver(
            self._work,
            self.log,
            store=self._store,
            control=control,
            cancel=self._cancel,
            clock=self._clock,
            wait=self._waits.tell,
        )
        driven = drive(driver, self._store, control, clock=self._clock, announce=driver.announce)
        try:
            self._store.begin()
            self._tell_modified()
            driver.tell_not_held(limits.unreported(self._work.agent))
            yield started(self.state)
            with closing(driven):
                yield from self._waits.before(driven)
        except BaseException as error:
            self._cancel.set()
            self._store.leave()
            gone = isinstance(error, GeneratorExit) and not self._store.has_ended
            if gone or isinstance(error, Exception):
                self.interrupted()
            raise

    def interrupted(self) -> None:
        """Report how an interrupted loop goes on; who has a KeyboardInterrupt does that then."""
        self.log.ended(StopReason.INTERRUPTED, self.state, saved=self._store.saved)

    def _tell_undo(self) -> None:
        """Report how the commits of this sitting are undone."""
        if self._work.commits is not None and self._work.commits.made:
            self.log.info(undo_text(self._work.commits.made))

    def _tell_modified(self) -> None:
        """Tell before the first iteration which gates cannot pass: nobody is to pay for it."""
        with suppress(ReflexError):
            for name, files in self._work.gates.modified().items():
                self.log.warning(unpassable(one_line(name), modified_text(list(files))))
