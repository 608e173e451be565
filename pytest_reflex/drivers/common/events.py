"""What happens in a run of any driver, in one vocabulary, and its log for programs.

Promises: a line is written whole, in one go, when what it reports is durable; a secret of our
environment is in none; what cannot be written is reported once and stops nothing. A file that
cannot be opened is refused before a run begins.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.plain import escape_control, visible_json
from pytest_reflex.process.environment import own_secrets, redact
from pytest_reflex.storage.atomic import write_all


class DriverEventKind(StrEnum):
    """The kinds of events that all drivers share.

    A run has `started` (also where it goes on); an `iteration` has ended; a `step` beside the
    agent's work is done; the agent has `acted`; a check or gate has `measured`; the driver or a
    person has `decided` something; the driver is `waiting` for a step, an agent, or the end of a
    rate limit; the run has `stopped`. All but `waiting` are durable.
    """

    STARTED = "started"
    ITERATION = "iteration"
    STEP = "step"
    MEASURED = "measured"
    DECIDED = "decided"
    ACTED = "acted"
    WAITING = "waiting"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverEvent:
    """Something that happened in a run.

    `run` is the name of the run in its driver; `iteration` is the one that it is about, 0 before
    the first; `fields` say more, and can be written as JSON.
    """

    driver: str
    run: str
    kind: DriverEventKind
    iteration: int
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: the names of the attributes are its keys."""
        return {
            "driver": self.driver,
            "run": self.run,
            "kind": self.kind.value,
            "iteration": self.iteration,
            "fields": dict(self.fields),
        }


Listener = Callable[[DriverEvent], object]


class StepEvents:
    """Events within a step: a listener gets them at once, else they come before the next event."""

    def __init__(self, listen: Listener | None) -> None:
        self._kept = deque[DriverEvent]()
        self.send: Listener = listen or self._kept.append

    def before(self, events: Iterator[DriverEvent]) -> Iterator[DriverEvent]:
        """Yield the events, and before each of them what was kept."""
        for event in events:
            while self._kept:
                yield self._kept.popleft()
            yield event


STDOUT = "-"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


@contextmanager
def event_log(
    place: str | None,
    *,
    flag: str,
    out: Callable[[str], object],
    warn: Callable[[str], object],
) -> Iterator[Listener]:
    """Yield what writes events to a `place`: a path, "-" for lines to `out`, or None for nowhere.

    `flag` is the option that names the place, `warn` gets what goes wrong. Raises UsageError.
    """
    if place is None:
        yield lambda event: None
    elif place == STDOUT:
        yield _EventWriter(out, "standard output", warn).write
    else:
        descriptor = _open(place, flag)

        def append(line: str) -> None:
            write_all(descriptor, f"{line}\n".encode())

        try:
            yield _EventWriter(append, place, warn).write
        finally:
            os.close(descriptor)


def _open(place: str, flag: str) -> int:
    why, hint = "it is empty", "is a variable unset?"
    try:
        if place:
            return os.open(Path(place).absolute(), _FLAGS, 0o666)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "name a file in a folder that is there, or - for standard output"
    raise UsageError(f"{flag} {escape_control(place)!r} cannot be written: {why}", hint=hint)


class _EventWriter:
    """Writes an event as a line, from any thread; what went wrong once is not tried again."""

    def __init__(
        self, put: Callable[[str], object], name: str, warn: Callable[[str], object]
    ) -> None:
        self._put, self._name, self._warn = put, name, warn
        self._lock, self._hidden, self._failed = Lock(), own_secrets(), False

    def write(self, event: DriverEvent) -> None:
        now = datetime.now(UTC)
        time = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
        line = visible_json({"time": time, **_without(self._hidden, event.to_json())})
        with self._lock:
            if self._failed:
                return
            try:
                self._put(line)
            except (OSError, ReflexError) as error:
                self._failed = True
                why = getattr(error, "strerror", None) or str(error)
        if self._failed:
            self._warn(
                f"events could not be written to {escape_control(self._name)} ({why}): going on"
            )


def _without(hidden: Mapping[str, str], value: Any) -> Any:
    """Return a value of JSON with references in place of secrets."""
    if isinstance(value, str):
        return redact(value, hidden)
    if isinstance(value, Mapping):
        return {key: _without(hidden, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without(hidden, inner) for inner in value]
    return value


def utc_now() -> str:
    """Return the time as state files have it."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
