"""Requests to a run that another process drives: to stop, now or after a step, and feedback.

A request stands in a file until the driver has taken it. `StopControl` is given it before each
step, and looks each second beside one. Promises: a request to stop that was seen counts, also where
it is taken back later.

It is changed under the lock of its folder, so that no request is lost between a driver and a
person, and removed when nothing stands in it any more.

Promises: a request that was lost on the way is sent again to the driver of a run; no wait takes
longer than was asked for.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pytest_reflex.errors import LockedError, StateError, UsageError
from pytest_reflex.storage.atomic import remove_file, remove_strays, replace_file
from pytest_reflex.storage.files import read_object
from pytest_reflex.storage.lock import folder_lock

STOP, NOW, FEEDBACK = "stop_requested", "stop_now", "feedback"
POLL = 1.0
"""Seconds between two looks beside a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """What is asked of one run.

    `stop` is a reason, None where no one asked; `now` ends the agent too; `feedback` maps an id to
    a text.
    """

    stop: str | None = None
    now: bool = False
    feedback: Mapping[str, str] = field(default_factory=dict)

    def __or__(self, more: Requests) -> Requests:
        return Requests(
            stop=self.stop if more.stop is None else more.stop,
            now=self.now or more.now,
            feedback={**self.feedback, **more.feedback},
        )

    def without(self, ids: Iterable[str]) -> Requests:
        """Return what is left when some feedback is taken."""
        taken = frozenset(ids)
        return replace(self, feedback={k: v for k, v in self.feedback.items() if k not in taken})

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {}
        if self.stop is not None:
            wire[STOP] = self.stop
        if self.now:
            wire[NOW] = True
        if self.feedback:
            wire[FEEDBACK] = [{"id": key, "text": text} for key, text in self.feedback.items()]
        return wire

    @classmethod
    def from_json(cls, wire: object) -> Requests:
        """Read requests; what is not as this program writes it counts as not there."""
        if not isinstance(wire, dict):
            return cls()
        stop, rows = wire.get(STOP), wire.get(FEEDBACK)
        feedback = {
            row["id"]: row["text"]
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, dict) and isinstance(row.get("id"), str)
            if isinstance(row.get("text"), str)
        }
        return cls(
            stop=None if stop is None else str(stop), now=wire.get(NOW) is True, feedback=feedback
        )


class StopControl:
    """Whether a person has asked a run to stop; sets `cancel` where the agent has to end too.

    `look` returns the requests as they stand now.
    """

    def __init__(self, look: Callable[[], Requests], cancel: threading.Event) -> None:
        self._look, self._cancel = look, cancel
        self._reason: str | None = None

    def check(self, asked: Requests) -> str | None:
        """Return the reason of a request to stop, now or at an earlier look; None for none."""
        if asked.stop is not None:
            self._reason = asked.stop
            if asked.now:
                self._cancel.set()
        return self._reason

    @property
    def has_cancelled(self) -> bool:
        """Whether a person had the step that is under way ended."""
        return self._reason is not None and self._cancel.is_set()

    @contextmanager
    def watch(self, interruptible: bool) -> Iterator[None]:
        """Look each second while a step goes on that can be cut short."""
        if not interruptible:
            yield
            return
        over = threading.Event()
        looker = threading.Thread(target=self._keep_looking, args=(over,), daemon=True)
        looker.start()
        try:
            yield
        finally:
            over.set()
            looker.join()

    def _keep_looking(self, over: threading.Event) -> None:
        while not over.wait(POLL) and not self._cancel.is_set():
            self.check(self._look())


_MOST_BYTES = 50_000_000


class ControlFile:
    """The requests to one run; every method is for any process. Raises StateError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, state: Path) -> ControlFile:
        """Return that of the run whose state file is given."""
        return cls(state.with_name(f"{state.stem}.control.json"))

    def read(self) -> Requests:
        """Return what is asked; a file that cannot be used asks nothing."""
        return Requests.from_json(read_object(self.path, _MOST_BYTES))

    def ask(self, more: Requests) -> None:
        """Add requests to those that stand."""
        self._change(lambda now: now | more)

    def take(self, feedback: Iterable[str]) -> None:
        """Remove feedback that is durable elsewhere by now."""
        taken = tuple(feedback)
        if taken:
            self._change(lambda now: now.without(taken))

    def drop_stop(self) -> None:
        """Remove a request to stop, and leave feedback for when the run goes on."""
        self._change(lambda now: replace(now, stop=None, now=False))

    def forget(
        self,
        remove: Callable[[], object],
        say: Callable[[str], object],
        then: str = "going on",
    ) -> None:
        """Remove requests that are done with; where that fails, it is said and stops nothing."""
        try:
            remove()
        except (StateError, OSError) as error:
            say(f"{self.path} could not be changed ({error}): {then}")

    def remove_strays(self) -> None:
        """Remove what was left of requests that could not be written."""
        with folder_lock(self.path.parent):
            remove_strays(self.path.parent, self.path.name)

    def clear(self) -> None:
        """Remove all requests: the run has ended, or begins."""
        self._change(lambda now: Requests())

    def _change(self, change: Callable[[Requests], Requests]) -> None:
        if change(old := self.read()) == old and (old == Requests()) == (not self.path.exists()):
            return
        with folder_lock(self.path.parent):
            new = change(self.read())
            if new == Requests():
                remove_file(self.path)
            else:
                replace_file(self.path, (json.dumps(new.to_json()) + "\n").encode())


Answer = TypeVar("Answer")
_POLL = 0.1


def act_or_ask(
    act: Callable[[], Answer],
    *,
    ask: Callable[[], object],
    is_driven: Callable[[], bool],
    is_done: Callable[[], bool],
    asked: Callable[[bool], Answer],
    wait: float,
) -> Answer:
    """Return what `act` comes to where no process drives the run, else what asking its driver does.

    `act` raises LockedError where another process drives the run. `ask` leaves a request, `is_done`
    looks whether the driver has taken it; the wait ends after `wait` seconds. `asked` makes the
    answer then: True where it was taken.
    """
    deadline = time.monotonic() + wait
    while True:
        try:
            return act()
        except LockedError:
            pass
        while is_driven():
            if is_done():
                return asked(True)
            ask()
            if time.monotonic() >= deadline:
                return asked(False)
            time.sleep(_POLL)


def check_text(what: str, text: str) -> None:
    """Refuse bytes of the command line that are not text: no agent and no file could take them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = f"at character {error.start + 1}"
        raise UsageError(f"the {what} is not UTF-8 text {place}", hint="give it in UTF-8") from None
