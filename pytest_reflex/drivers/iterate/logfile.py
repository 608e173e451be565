"""The events of an iteration loop, and its log on disk: JSON lines, one for each.

Promises: a line is appended in one write, private to the user; what cannot be written is reported
once and stops nothing; a line that was cut short is kept aside, so that each line is whole; a file
that was removed is made again; no link is followed, nor one in place of a folder of ours.
Limits: nothing is flushed to the platter, so that a power cut may take the last lines.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.drivers.iterate.model import CutIteration, Iteration, State
from pytest_reflex.errors import ExitCode, StateError
from pytest_reflex.model.json_fault import json_object
from pytest_reflex.model.plain import escape_control
from pytest_reflex.storage.atomic import keep_copy, write_all
from pytest_reflex.storage.files import refuse_links

DRIVER = "iterate"


def start_event(state: State) -> DriverEvent:
    """Return that a run begins, or goes on behind the iterations that are done."""
    return _event(
        state,
        DriverEventKind.STARTED,
        max_iterations=state.max_iterations,
        started_at=state.started_at,
        resumed=bool(state.iteration or state.spend.calls),
    )


def begins(state: State, agent: str) -> DriverEvent:
    """Return that the next iteration is waited for, and the agent that it asks."""
    total, steps = state.max_iterations, {"iteration": agent}
    return _event(
        state, DriverEventKind.WAITING, state.iteration + 1, steps=steps, max_iterations=total
    )


def waits(state: State, reason: str) -> DriverEvent:
    """Return that the agent of the next iteration is given time, and why."""
    return _event(state, DriverEventKind.WAITING, state.iteration + 1, reason=reason)


def feedback_taken(state: State, count: int) -> DriverEvent:
    """Return that critiques of people were taken up, for the next iteration."""
    return _event(state, DriverEventKind.DECIDED, decision="feedback", count=count)


def of_outcome(state: State, outcome: Iteration | CutIteration) -> Iterator[DriverEvent]:
    """Yield what an iteration came to; `state` has it counted already."""
    if isinstance(outcome, CutIteration):
        number = state.iteration + 1
        how = "limited" if outcome.limit else "cancelled"
        detail, cost = outcome.limit, outcome.cost
        yield _event(state, DriverEventKind.ACTED, number, outcome=how, detail=detail, cost=cost)
        return
    yield _event(
        state,
        DriverEventKind.ACTED,
        seconds=round(outcome.seconds, 3),
        usd=outcome.usd,
        tokens=outcome.tokens,
        changed=outcome.changed,
        files=None if outcome.files is None else list(outcome.files),
    )
    for result in outcome.gates:
        yield _event(
            state,
            DriverEventKind.MEASURED,
            gate=result.gate.name,
            outcome=result.outcome,
            required=result.gate.required,
            summary=result.summary,
            seconds=round(result.seconds, 3),
        )
    yield _event(
        state,
        DriverEventKind.ITERATION,
        outcome=outcome.outcome,
        cause=outcome.cause.value if outcome.cause else "",
        detail=outcome.detail,
        failures=state.consecutive_failures,
        progress=outcome.progress,
    )


def stop_event(state: State, stop: Stop, code: ExitCode) -> DriverEvent:
    """Return how a run ended."""
    return _event(
        state,
        DriverEventKind.STOPPED,
        reason=stop.reason.value,
        detail=stop.detail,
        status=state.status.value,
        exit_code=int(code),
    )


def _event(
    state: State, kind: DriverEventKind, iteration: int | None = None, **fields: Any
) -> DriverEvent:
    return DriverEvent(
        driver=DRIVER,
        run=state.procedure_name,
        kind=kind,
        iteration=state.iteration if iteration is None else iteration,
        fields=fields,
    )


class LogLevel(StrEnum):
    """How much a line matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Verbosity(IntEnum):
    """What is reported: warnings, errors and the end; the seed's lines; statistics and gates
    too.
    """

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One event: a line for people and what else programs may read.

    `output` is foreign text, `excerpt` the line of it that is shown where the whole is not, `below`
    lines of our own that people are shown first. The `last` one is shown at any verbosity, a
    `silent` one is only kept. `tone` is that of its text where it is not that of its level.
    """

    event: str
    message: str
    level: LogLevel = LogLevel.INFO
    fields: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    excerpt: str = ""
    below: str = ""
    last: bool = False
    silent: bool = False
    tone: str = ""

    def is_shown(self, volume: Verbosity) -> bool:
        if self.silent:
            return False
        if self.last or self.level in (LogLevel.WARNING, LogLevel.ERROR):
            return True
        return volume >= (Verbosity.VERBOSE if self.level is LogLevel.DEBUG else Verbosity.NORMAL)


_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_NAME = re.compile(r"[0-9A-Za-z]{1,40}-[1-9]\d{0,5}", re.ASCII)
_LONGEST = 16_000_000  # bytes of a line


def log_path(root: Path, procedure: str, run: str) -> Path:
    """Return where the log of a run is, below the folder of the loop's files (`.rooda`).

    `run` is the start that its state file names, or the name that it gives to the log: a resumed
    run goes on in the same file.
    """
    return root / "log" / procedure / f"{_stamp(run)}.jsonl"


def is_log_name(text: object) -> bool:
    """Return whether a text names the log of a run that was not the first one of its second."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def free_log_name(root: Path, procedure: str, started_at: str) -> str:
    """Return the name of the log of a new run; empty where that of its start is free."""
    stamp, number = _stamp(started_at), 1
    while os.path.lexists(log_path(root, procedure, stamp if number == 1 else f"{stamp}-{number}")):
        number += 1
    return "" if number == 1 else f"{stamp}-{number}"


def by_start(name: str) -> tuple[str, int]:
    """Return by what the names of logs are sorted: the start, then the number in its second."""
    stamp, _, number = name.removesuffix(".jsonl").partition("-")
    return stamp, int(number) if number.isascii() and number.isdigit() else 0


def _stamp(run: str) -> str:
    return run if is_log_name(run) else "".join(char for char in run if char.isalnum())


def keep_partial(folder: Path, run: str, number: int, text: str) -> Path:
    """Keep what the tool of an iteration had written, beside the log of its run.

    `folder` is that of the logs of a procedure. Returns the new file; raises StateError.
    """
    place = folder / f"{_stamp(run)}.iteration-{number}"
    try:
        refuse_links(folder.parent.parent, folder)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StateError(f"{folder} could not be made: {error.strerror}") from None
    return keep_copy(place, text.encode("utf-8", "backslashreplace"), "partial")


class LogFile:
    """Appends to a file that is opened at the first line; `report` gets each problem once.

    `root` is the folder of all that iterate keeps; the file lies below it.
    """

    def __init__(
        self, path: Path, report: Callable[[str], None], *, root: Path | None = None
    ) -> None:
        self.path = path
        self._report, self._reported = report, set[str]()
        self._root = path.parent if root is None else root
        self._descriptor: int | None = None

    def append(self, line: str) -> None:
        """Append one line, given without its end."""
        try:
            descriptor = self._open()
            self._end_last_line(descriptor)
            _write_line(descriptor, line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            self._report_failure(error.strerror or str(error))
        except StateError as error:
            self._report_failure(error.problems[0].message)

    def close(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        # An agent that clears the tree of what git ignores clears this away as well.
        if self._descriptor is not None and not _is_at(self.path, self._descriptor):
            self.close()
            self._say("gone", "was removed while it was written: it goes on in a new file")
        if self._descriptor is None:
            refuse_links(self._root, self.path.parent)
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, _FLAGS, 0o600)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise OSError("it is not a regular file")
            self._descriptor = descriptor
        return self._descriptor

    def _end_last_line(self, descriptor: int) -> None:
        """Have the file end with a whole line, also where writing the last one was cut short."""
        last = _read_partial_line(descriptor)
        if not last:
            return
        if json_object(last) is not None:
            write_all(descriptor, b"\n")
            return
        kept = keep_copy(self.path, last, "torn")
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(last))
        self._say("torn", f"has a last line that was cut short: a copy is kept as {kept.name}")

    def _report_failure(self, reason: str) -> None:
        self._say("failed", f"could not be written ({escape_control(reason)}): going on")

    def _say(self, kind: str, what: str) -> None:
        if kind not in self._reported:
            self._reported.add(kind)
            self._report(f"the log {escape_control(str(self.path))} {what}")


def _write_line(descriptor: int, data: bytes) -> None:
    """Write a whole line or nothing: a part that a full disk cut off is removed."""
    before = os.fstat(descriptor).st_size
    try:
        write_all(descriptor, data)
    except OSError:
        with suppress(OSError):
            if os.fstat(descriptor).st_size - before < len(data):
                os.ftruncate(descriptor, before)
        raise


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def _read_partial_line(descriptor: int) -> bytes:
    """Return what stands behind the last end of a line."""
    size = os.fstat(descriptor).st_size
    if not size or os.pread(descriptor, 1, size - 1) == b"\n":
        return b""
    start = max(size - _LONGEST, 0)
    data = os.pread(descriptor, _LONGEST, start)
    if start and b"\n" not in data:
        raise OSError(f"its last line has more than {_LONGEST:,} bytes")
    return data[data.rfind(b"\n") + 1 :]
