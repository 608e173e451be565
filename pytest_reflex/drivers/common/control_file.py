"""Requests to a run whose state is a snapshot: a file beside it, `NAME.control.json`.

It is changed under the lock of its folder, so that no request is lost between a driver and a
person, and removed when nothing stands in it any more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.errors import StateError, UnreadableError
from pytest_reflex.storage.atomic import remove_file, remove_strays, replace_file
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.storage.lock import folder_lock

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
        try:
            return Requests.from_json(json.loads(read_if_regular(self.path, _MOST_BYTES) or b"{}"))
        except UnreadableError:
            raise
        except (OSError, ValueError, RecursionError, StateError):
            return Requests()

    def ask(self, more: Requests) -> None:
        """Add requests to those that stand."""
        self._change(lambda now: now | more)

    def take(self, feedback: Iterable[str]) -> None:
        """Remove feedback that is durable elsewhere by now."""
        taken = tuple(feedback)
        if taken:
            self._change(lambda now: now.without(taken))

    def drop_stop(self) -> None:
        """Remove a request to stop, and leave feedback for whoever goes on."""
        self._change(lambda now: replace(now, stop=None, now=False))

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
