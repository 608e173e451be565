"""The record of a run on the disk: where it lies, how it is read and listed, and the store that
writes it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common import lease
from pytest_reflex.drivers.common.control import ControlFile, Requests, act_or_ask, check_text
from pytest_reflex.drivers.common.drive import PollResult, Stop
from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind, utc_now
from pytest_reflex.drivers.common.record import (
    DAMAGED,
    RUNNING,
    CallsUnderWay,
    DriverRecord,
    RunRow,
    dump,
    load,
)
from pytest_reflex.drivers.common.snapshot import SnapshotFile, bytes_of
from pytest_reflex.errors import ExitCode, LockedError, ReflexError, StateError, UsageError
from pytest_reflex.model.run import Cost
from pytest_reflex.model.stop import ENDS
from pytest_reflex.settings import Settings
from pytest_reflex.storage.files import names_in

ROOT = ".pytest-reflex"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class RunFile:
    """The files of one run of a driver, below a project; it may not be there."""

    def __init__(self, project: Path, driver: str, run: str) -> None:
        for what, name in (("driver", driver), ("run", run)):
            if not _NAME.fullmatch(name):
                hint = "letters, digits, _ and -, at most 64"
                raise UsageError(f"{name!r} is not a name of a {what}", hint=hint)
        self.driver, self.run, self._root = driver, run, project / ROOT
        self.folder = (self._root / "runs" / driver / run).absolute()
        self.path = self.folder.with_name(f"{run}.json")
        self.control = ControlFile.beside(self.path)

    def make_folder(self, warn: Callable[[str], object]) -> Path:
        """Make the folder of the run, for files of its driver, and return it."""
        lease.make_unseen(self._root, self.folder, warn)
        return self.folder

    def read(self) -> DriverRecord | None:
        """Return the state, None where there is none; raises StateError, and writes nothing."""
        try:
            data = bytes_of(self.path)
            return None if data is None else load(data, self.driver, self.run)
        except ValueError as error:
            raise StateError(f"{self.path} holds no state of a run: {error}") from None

    def load(self) -> DriverRecord:
        """Return the state; raises UsageError where there is none."""
        record = self.read()
        if record is None:
            raise UsageError(f"there is no run {self.run!r} of {self.driver}")
        return record

    def own(self, warn: Callable[[str], object]) -> SnapshotFile[DriverRecord]:
        """Return the state file, to be owned; `warn` takes what went wrong."""
        return SnapshotFile(
            self.path,
            root=self._root,
            run_folder=self.folder,
            dump=dump,
            load=partial(load, driver=self.driver, run=self.run),
            warn=warn,
        )

    def is_driven(self) -> bool:
        """Return whether a process drives the run now."""
        lock = self.path.with_suffix(".lock")
        return lease.is_driven(lock, lease.mark_of(self.folder))

    def stop(self, reason: str, *, now: bool, wait: float) -> bool:
        """Ask the driver of the run to stop, and wait so many seconds; return whether it has ended.

        With `now` its agents and commands are ended too. Raises UsageError where no process drives
        it.
        """
        check_text("reason", reason)
        asked = False

        def ask() -> None:
            nonlocal asked
            asked = True
            self.control.ask(Requests(stop=reason, now=now))

        def act() -> bool:
            self._refuse_driven()
            if not asked:
                raise UsageError(f"no process is running {self.run}")
            return True

        return act_or_ask(
            act, ask=ask, is_driven=self.is_driven, is_done=lambda: False,
            asked=lambda done: False, wait=wait,
        )  # fmt: skip

    def give_feedback(self, text: str, *, wait: float) -> bool:
        """Hand a text to the run, and wait so many seconds; return whether its driver has it.

        A run that no process drives has it when it is resumed; raises UsageError where none can be.
        """
        check_text("feedback", text)
        key = secrets.token_hex(6)
        asked = False

        def ask() -> None:
            nonlocal asked
            if not asked:
                self.control.ask(Requests(feedback={key: text}))
            asked = True

        def act() -> bool:
            self._refuse_driven()
            if not self.load().can_go_on:
                self.control.take([key])
                raise UsageError(f"the run {self.run} has ended: nothing takes feedback any more")
            ask()
            return False

        return act_or_ask(
            act, ask=ask, is_driven=self.is_driven,
            is_done=lambda: asked and key not in self.control.read().feedback,
            asked=lambda done: done, wait=wait,
        )  # fmt: skip

    def _refuse_driven(self) -> None:
        if self.is_driven():
            raise LockedError(f"another process is running {self.run}")

    def row(self) -> RunRow:
        """Return what the list of all runs says of it."""
        driven = self.is_driven()
        try:
            record = self.load()
        except ReflexError as error:
            return RunRow(
                driver=self.driver, name=self.run, status=DAMAGED, driven=driven, problem=str(error)
            )
        return RunRow(
            driver=self.driver,
            name=self.run,
            status=record.display_status(driven),
            interrupted=record.status == RUNNING and not driven,
            driven=driven,
            started_at=record.started_at,
            changed_at=record.changed_at,
            iteration=record.iteration,
            max_iterations=record.max_iterations,
            spend=record.spend if driven else record.paid,
        )


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield a row for each run of each driver that keeps its runs here."""
    for driver in sorted(names_in(project / ROOT / "runs")):
        folder = project / ROOT / "runs" / driver
        names = {name.removesuffix(".json") for name in names_in(folder) if name.endswith(".json")}
        if _NAME.fullmatch(driver):
            for name in filter(_NAME.fullmatch, sorted(names)):
                yield RunFile(project, driver, name).row()


Say = Callable[[str], object]
Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a driver has decided to do; an iteration has ended with it where it says so.

    A step that `hears` has the feedback of people in its questions, which is dropped once it was
    asked. A step that is not `limited` is done although a limit is met: it uses what was paid for.
    """

    name: str
    ends_iteration: bool = True
    interruptible: bool = True
    hears: bool = True
    limited: bool = True


@dataclass(frozen=True, slots=True)
class CompletedStep:
    """A step with its price: what it came to (None where it was cut short), and the data then."""

    step: NextStep
    cost: Cost | None
    fields: Fields | None = None
    data: Fields = field(default_factory=dict)


class RecordStore:
    """The state of one run while this process owns it."""

    def __init__(
        self, record: DriverRecord, file: SnapshotFile[DriverRecord], runs: RunFile, say: Say
    ) -> None:
        self._record, self._file, self._runs, self._say = record, file, runs, say
        self._heard: set[str] = set()
        self._left = False
        self.calls = CallsUnderWay(self._save_calls)

    @property
    def state(self) -> DriverRecord:
        return self._record

    def requests(self) -> Requests:
        """Return what people ask; what cannot be read now is asked at the next look."""
        try:
            return self._runs.control.read()
        except StateError:
            return Requests()

    def begin(self, *, resumed: bool) -> Iterator[DriverEvent]:
        """Save the state with which the sitting begins; a new run drops requests to an old one."""
        self._save(self._record)
        if not resumed:
            self._forget(self._runs.control.clear)
        limits = {"max_iterations": self._record.max_iterations, "budget": self._record.budget}
        yield self._event(DriverEventKind.STARTED, resumed=resumed, **limits)

    def poll(self) -> Generator[DriverEvent, None, PollResult]:
        """Make durable what people say, once; they are not asked to say it again."""
        requests = self.requests()
        asked = requests.feedback
        known = self._heard | self._record.feedback.keys()
        if new := {key: text for key, text in asked.items() if key not in known}:
            self._save(replace(self._record, feedback={**self._record.feedback, **new}))
            self._heard.update(new)
            yield self._event(DriverEventKind.DECIDED, decision="feedback", count=len(new))
        if self._file.saved:
            self._forget(lambda: self._runs.control.take(asked))
        return PollResult(requests=requests)

    def commit(self, done: CompletedStep) -> Iterator[DriverEvent]:
        """Save what a step came to; one that was cut short is paid for, and has not been."""
        record = replace(
            self._record,
            spend=self._record.spend.plus(done.cost),
            calls_under_way=(),
            changed_at=utc_now(),
        )
        if done.fields is not None:
            ends = int(done.step.ends_iteration)
            record = replace(record, iteration=record.iteration + ends)
            heard = {} if done.cost and done.step.hears else record.feedback
            record = replace(record, data=done.data, feedback=heard)
        self._save(record)
        if done.cost:
            cost = {key: value for key, value in done.cost.items() if key != "unknown"}
            yield self._event(DriverEventKind.ACTED, step=done.step.name, **cost)
        if done.fields is not None:
            kind = DriverEventKind.ITERATION if done.step.ends_iteration else DriverEventKind.STEP
            yield self._event(kind, **{**done.fields, "step": done.step.name})

    def end(self, stop: Stop) -> Iterator[DriverEvent]:
        """Save the end of the run."""
        yield from self.poll()
        self._save(self._record.end(stop, utc_now()))
        self._left = True
        self._forget(self._runs.control.drop_stop)
        code = ENDS[stop.reason].exit_code
        code = code if self._file.saved or code else ExitCode.NOT_PERSISTED
        fields = {"reason": stop.reason.value, "detail": stop.detail, "exit_code": int(code)}
        yield self._event(DriverEventKind.STOPPED, **fields)

    def _save_calls(self, calls: tuple[Cost, ...]) -> None:
        self._record = replace(self._record, calls_under_way=calls)
        self._file.save(self._record, quietly=True)

    def count_pending_calls(self) -> None:
        """Have calls in the spend that were paid and came to nothing; `leave` saves it."""
        spend = self._record.spend.plus(self.calls.take())
        self._record = replace(self._record, spend=spend, calls_under_way=())

    def leave(self) -> None:
        """Save the state as interrupted."""
        if not self._left:
            self._left = True
            self._save(self._record.leave())

    def _save(self, record: DriverRecord) -> None:
        self._record = record
        self._file.save(record)

    def _forget(self, remove: Callable[[], None]) -> None:
        self._runs.control.forget(remove, self._say)

    def _event(self, kind: DriverEventKind, **fields: Any) -> DriverEvent:
        record = self._record
        return DriverEvent(
            driver=record.driver,
            run=record.run,
            kind=kind,
            iteration=record.iteration,
            fields=fields,
        )
