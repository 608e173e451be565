"""The owner of a run: a kernel lock on a separate file, and the processes its owner has started.

Promises: one owner at a time, by a lock that ends with its process (no pid, no status in a file);
who removes the lock lets no other process in while a tool of the owner is at work.
Limits: where no lock can be had, that is reported, and no process is kept out; where a tool clears
our files away and nothing shows who started it (not on Linux), no process is until it has ended.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from pytest_reflex.errors import LockedError, StateError
from pytest_reflex.process.group import find_owner, kill_abandoned
from pytest_reflex.storage.files import refuse_links
from pytest_reflex.storage.folders import make_folder
from pytest_reflex.storage.lock import HeldLock, driven_by, is_locked

RUN_DIR = "PYTEST_REFLEX_RUN_DIR"
_UNSEEN = b"# Made by pytest-reflex: what it keeps here is not to be committed.\n*\n"


def mark_of(folder: Path) -> str:
    """Return the variable by which everything that is started for the run in a folder is known."""
    return f"{RUN_DIR}={folder}"


def is_driven(lock: Path, mark: str) -> bool:
    """Return whether a process drives a run now."""
    return find_owner(mark) > 0 or is_locked(lock)


class Lease:
    """The ownership of one run; `take` it first, and `close` it in the end.

    `root` is the folder of all runs, and of no link; `path` that of the lock below it; `what` names
    the run in messages. `warn` takes what went wrong and stopped nothing.
    """

    def __init__(
        self, root: Path, path: Path, *, what: str, mark: str, warn: Callable[[str], object]
    ) -> None:
        self._root, self._path = root, path
        self._what, self._mark, self._warn = what, mark, warn
        self._lock: HeldLock | None = None
        self._unkept = False

    @property
    def owned(self) -> bool:
        """Whether we hold the lock, so that no other process can be at work in this run's name."""
        return self._lock is not None

    def take(self) -> None:
        """Take the lock; raises LockedError where another process owns the run, or StateError."""
        refuse_links(self._root, self._path.parent)
        try:
            self.make_folder()
            self._lock = HeldLock.hold(self._path, self._what)
        except LockedError:
            raise
        except (StateError, OSError) as error:
            if _is_planted(self._path):
                raise
            self._warn(f"no lock could be taken ({error}): going on; run it from here only")
        if owner := find_owner(self._mark):
            self.close()
            raise driven_by(self._what, owner)

    def close(self) -> None:
        """Let go of the lock; twice is fine."""
        if self._lock is not None:
            self._lock.close()

    def make_folder(self) -> None:
        """Make the folder of the lock; a root that is new is one that git does not see."""
        make_unseen(self._root, self._path.parent, self._warn)

    def end_leftovers(self) -> int:
        """End what an earlier owner has left running; return how many processes that were."""
        return kill_abandoned(self._mark) if self.owned else 0

    def keep(self) -> None:
        """See that we still own the run, where a tool may have cleared our files away.

        Raises LockedError where another process owns the new ones: nothing is to be done any more
        in the name of this run.
        """
        if not self._is_gone():
            return
        try:
            refuse_links(self._root, self._path.parent)
            self.make_folder()
            self.renew()
        except (StateError, OSError) as error:
            if not self._unkept:
                self._warn(f"the lock could not be kept ({error}): run it from here only")
            self._unkept = True
        else:
            self._unkept = False

    def renew(self) -> None:
        """Take the lock anew where it was cleared away; raises LockedError, StateError, OSError."""
        if not self._is_gone():
            return
        again = HeldLock.hold(self._path, self._what)
        self.close()
        self._lock = again

    def _is_gone(self) -> bool:
        return self._lock is not None and not self._lock.is_at(self._path)


def make_unseen(root: Path, folder: Path, warn: Callable[[str], object]) -> None:
    """Make a folder of runs; a `root` that is new is one that git does not see."""
    if not os.path.lexists(root):
        _make_root(root, warn)
    make_folder(folder)


def _make_root(root: Path, warn: Callable[[str], object]) -> None:
    """Make a root with the file that hides it, both at once: a kill leaves no root without it."""
    new, name = root.with_name(f"{root.name}.new"), ".gitignore"
    try:
        make_folder(new)
        refuse_links(root.parent, new)
    except (StateError, OSError):
        return  # no root can be made either, which is reported
    try:
        _write(new / name, _UNSEEN)
        os.rename(new, root)
    except OSError as error:
        if not root.exists():  # no other process has made it
            why = error.strerror
            warn(f"{root / name} could not be written ({why}): git sees what is there")


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _is_planted(path: Path) -> bool:
    """Return whether something that is not our lock file is in its place."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return not stat.S_ISREG(status.st_mode) or status.st_nlink > 1
