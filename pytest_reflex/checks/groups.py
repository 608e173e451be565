"""Checks that share a resource: those of one group never run beside each other.

Promises: one check of a group at a time, in all threads and workers that share the folder; the
kernel releases the lock of a process that dies. Limits: workers on other machines have folders of
their own, and so have two sessions that run at once.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Lock

from pytest_reflex.errors import StateError
from pytest_reflex.process.guard import make_folder, remove_folder
from pytest_reflex.storage.lock import HeldLock


class Groups:
    """The locks of one session: a file for each group, in a folder that its processes share.

    Without a `folder` that is there, a private one is made for the first lock, and removed when
    this object or the process ends.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._making = Lock()

    @contextmanager
    def hold(self, names: Iterable[str], stop: Event) -> Iterator[None]:
        """Wait for the locks of groups and hold them; names are sorted, or two could wait in vain.

        Raises StateError where they cannot be had, and where `stop` is set while it waits.
        """
        with ExitStack() as stack:
            for name in names:
                stack.callback(self._take(name, stop).close)
            yield

    def _take(self, name: str, stop: Event) -> HeldLock:
        try:
            lock = HeldLock.wait_for(self._file(name), stop)
        except (OSError, StateError) as error:
            why = error.strerror if isinstance(error, OSError) else error.problems[0].message
            raise StateError(f"the group {name} cannot be locked: {why}") from None
        if lock is None:
            raise StateError(f"the session ended while it waited for the group {name}")
        return lock

    def _file(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        with self._making:
            if self._folder is None or not self._folder.is_dir():
                self._folder = make_folder("reflex-groups-")
                weakref.finalize(self, _remove, self._folder, os.getpid())
            return self._folder / f"group-{digest[:32]}.lock"


def _remove(folder: Path, owner: int) -> None:
    # A fork of the owner has this to remove as well, and must not.
    if os.getpid() == owner:
        remove_folder(folder)
