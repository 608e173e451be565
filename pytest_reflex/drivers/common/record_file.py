"""Where the runs of drivers on the frame lie, and how one is read, listed, stopped and told."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pytest_reflex.drivers.common import lease
from pytest_reflex.drivers.common.asking import act_or_ask, check_text
from pytest_reflex.drivers.common.catalog import DAMAGED, RunRow
from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.common.control_file import ControlFile
from pytest_reflex.drivers.common.record import RUNNING, Record, dump, load
from pytest_reflex.drivers.common.snapshot import SnapshotFile, bytes_of
from pytest_reflex.errors import LockedError, ReflexError, StateError, UsageError
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

    def make_folder(self, tell: Callable[[str], object]) -> Path:
        """Make the folder of the run, for files of its driver, and return it."""
        lease.make_unseen(self._root, self.folder, tell)
        return self.folder

    def read(self) -> Record | None:
        """Return the state, None where there is none; raises StateError, and writes nothing."""
        try:
            data = bytes_of(self.path)
            return None if data is None else load(data, self.driver, self.run)
        except ValueError as error:
            raise StateError(f"{self.path} holds no state of a run: {error}") from None

    def found(self) -> Record:
        """Return the state; raises UsageError where there is none."""
        record = self.read()
        if record is None:
            raise UsageError(f"there is no run {self.run!r} of {self.driver}")
        return record

    def own(self, tell: Callable[[str], object]) -> SnapshotFile[Record]:
        """Return the state file, to be owned; `tell` takes what went wrong."""
        return SnapshotFile(
            self.path,
            root=self._root,
            run_folder=self.folder,
            dump=dump,
            load=partial(load, driver=self.driver, run=self.run),
            tell=tell,
        )

    def is_driven(self) -> bool:
        """Return whether a process drives the run now."""
        lock = self.path.with_suffix(".lock")
        return lease.is_driven(lock, lease.mark_of(self.folder))

    def stop(self, reason: str, *, now: bool, patience: float) -> bool:
        """Ask who drives the run to stop, and wait so many seconds; return whether it has ended.

        With `now` its agents and commands are ended too. Raises UsageError where nobody drives it.
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
                raise UsageError(f"no process drives {self.run}")
            return True

        return act_or_ask(
            act, ask=ask, is_driven=self.is_driven, is_done=lambda: False,
            asked=lambda done: False, patience=patience,
        )  # fmt: skip

    def give_feedback(self, text: str, *, patience: float) -> bool:
        """Hand a text to the run, and wait so many seconds; return whether its driver has it.

        A run that nobody drives has it when it is resumed; raises UsageError where none can be.
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
            if not self.found().can_go_on:
                self.control.take([key])
                raise UsageError(f"the run {self.run} has ended: nothing takes feedback any more")
            ask()
            return False

        return act_or_ask(
            act, ask=ask, is_driven=self.is_driven,
            is_done=lambda: asked and key not in self.control.read().feedback,
            asked=lambda done: done, patience=patience,
        )  # fmt: skip

    def _refuse_driven(self) -> None:
        if self.is_driven():
            raise LockedError(f"{self.run} is driven by another process")

    def row(self) -> RunRow:
        """Return what the list of all runs says of it."""
        driven = self.is_driven()
        try:
            record = self.found()
        except ReflexError as error:
            return RunRow(
                driver=self.driver, name=self.run, status=DAMAGED, driven=driven, problem=str(error)
            )
        return RunRow(
            driver=self.driver,
            name=self.run,
            status=record.shown_status(driven),
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
