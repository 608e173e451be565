"""Where the state of an iteration loop lies, who owns it, and how it is kept.

Promises: one owner at a time, by a kernel lock that ends with its process (no pid, no status in a
file), and beside it by what it has started: who removes the lock lets nobody in while a tool is at
work; a reader sees the old state or the new one; a file that cannot be read is kept aside before
anything is written over it; what cannot be written is told and stops nothing.
Limits: where no lock can be had, that is told, and nobody is kept out; where a tool clears our
files away and nothing tells who started it (not on Linux), nobody is until it has ended.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from pytest_reflex.drivers.iterate.model import State
from pytest_reflex.drivers.iterate.state import dump, load
from pytest_reflex.errors import LockedError, StateError, UnreadableError, read_or_raise
from pytest_reflex.process.group import kill_abandoned, living_owner
from pytest_reflex.store.aside import keep_aside, move_aside
from pytest_reflex.store.atomic import remove_file, remove_strays, replace_file
from pytest_reflex.store.folders import make_folder
from pytest_reflex.store.lock import HeldLock, driven_by, is_locked
from pytest_reflex.store.regular import read_file, refuse_links

Tell = Callable[[str], object]
RUN_DIR = "PYTEST_REFLEX_RUN_DIR"
_MOST_BYTES = 50_000_000  # with the hashes of what gates rely on
_CORRUPT = "corrupt"
_UNSEEN = b"# Made by pytest-reflex: what it keeps here is not to be committed.\n*\n"


def state_path(root: Path, procedure: str) -> Path:
    """Return the state file of a procedure; `root` is the folder of all that iterate keeps."""
    return root / "state" / f"{procedure}.json"


def lock_path(root: Path, procedure: str) -> Path:
    """Return the file that whoever drives a procedure holds; it is never replaced."""
    return root / "state" / f"{procedure}.lock"


def read_state(root: Path, procedure: str) -> State | None:
    """Return the state of a procedure, None where there is none; nothing is written.

    Raises StateError for a file that cannot be read or holds no state.
    """
    path = state_path(root, procedure)
    hint = f"a new run keeps it aside: pytest-reflex iterate run {procedure}"
    try:
        data = _bytes_of(path)
        return None if data is None else load(data, procedure)
    except ValueError as error:
        message = f"{path} holds no state of an iteration loop: {error}"
        raise StateError(message, hint=hint) from None
    except UnreadableError:
        raise
    except StateError as error:
        if path.is_symlink():
            raise
        raise StateError(error.problems[0].message, hint=hint) from None


def run_folder(root: Path, procedure: str) -> Path:
    """Return the folder that tools of a procedure are told of as theirs: by it they are known."""
    return (root / "log" / procedure).absolute()


def is_driven(root: Path, procedure: str) -> bool:
    """Return whether a process drives a procedure now."""
    return living_owner(_mark(root, procedure)) > 0 or is_locked(lock_path(root, procedure))


def _mark(root: Path, procedure: str) -> str:
    return f"{RUN_DIR}={run_folder(root, procedure)}"


class StateFile:
    """The state file of a procedure while this process owns it; use it with `with`.

    `tell` takes what went wrong and stopped nothing. `saved` says whether the file holds what was
    to be saved last.
    """

    def __init__(self, root: Path, procedure: str, tell: Tell) -> None:
        self._root, self.path = root, state_path(root, procedure)
        self.saved = True
        self._lock_path, self._mark = lock_path(root, procedure), _mark(root, procedure)
        self._procedure, self._tell = procedure, tell
        self._lock: HeldLock | None = None
        self._spoilt = self._lost = self._unkept = False

    def __enter__(self) -> StateFile:
        refuse_links(self._root, self.path.parent)
        try:
            self._make_folder()
            self._lock = HeldLock.hold(self._lock_path, self._procedure)
        except LockedError:
            raise
        except (StateError, OSError) as error:
            if _is_planted(self._lock_path):
                raise
            self._tell(f"no lock could be taken ({error}): going on; drive it from here only")
        if owner := living_owner(self._mark):
            self.close()
            raise driven_by(self._procedure, owner)
        if self.owned:
            with suppress(OSError):
                remove_strays(self.path.parent, self.path.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _make_folder(self) -> None:
        """Make the folder of the state; a root that is new is one that git does not see."""
        new = not self._root.exists()
        make_folder(self.path.parent)
        if new:
            with suppress(OSError):
                _create(self._root / ".gitignore", _UNSEEN)

    def close(self) -> None:
        """Let go of the lock; twice is fine."""
        if self._lock is not None:
            self._lock.close()

    @property
    def owned(self) -> bool:
        """Whether we hold the lock, so that nobody else can be at work in this run's name."""
        return self._lock is not None

    def end_leftovers(self) -> int:
        """End what an earlier owner has left running; return how many processes that were."""
        return kill_abandoned(self._mark) if self.owned else 0

    def keep(self) -> None:
        """See that we still own the run, where a tool may have cleared our files away.

        Raises LockedError where another process owns the new ones: nothing is to be done any more
        in the name of this run.
        """
        if self._lock is None or self._lock.is_at(self._lock_path):
            return
        try:
            refuse_links(self._root, self.path.parent)
            self._make_folder()
            self._keep_lock()
        except (StateError, OSError) as error:
            if not self._unkept:
                self._tell(f"the lock could not be kept ({error}): drive it from here only")
            self._unkept = True
        else:
            self._unkept = False

    def read(self) -> State | None:
        """Return the state; None where there is none, or where it had to be kept aside.

        Raises StateError for a link, since what it points to is none of ours, and UnreadableError.
        """
        try:
            data = _bytes_of(self.path)
        except UnreadableError:  # it may hold the state
            raise
        except StateError as error:
            if self.path.is_symlink():
                raise
            self._move_aside(error.problems[0].message.removeprefix(f"{self.path} "))
            return None
        try:
            return None if data is None else load(data, self._procedure)
        except ValueError as error:
            self._keep_aside(data or b"", str(error))
        return None

    def _keep_aside(self, data: bytes, why: str) -> None:
        self._put_aside(lambda: keep_aside(self.path, data, _CORRUPT), why)

    def _move_aside(self, why: str) -> None:
        self._put_aside(lambda: move_aside(self.path, _CORRUPT), why)

    def _put_aside(self, put: Callable[[], Path], why: str) -> None:
        told = f"the state {self.path} cannot be used ({why}): starting fresh"
        try:
            kept = put()
        except (StateError, OSError) as error:
            self._spoilt = True
            self._tell(
                f"{told}; it could not be kept aside ({error}), so nothing is saved: move it away"
            )
        else:
            self._tell(f"{told}; it is kept as {kept.name}")

    def save(self, state: State) -> bool:
        """Put a state in the file's place, durably; return whether that could be done.

        Raises LockedError where the files were removed, and another process owns the new ones.
        """
        if self._lost:
            return False
        try:
            if self._spoilt:
                raise StateError(f"{self.path} is damaged and could not be kept aside")
            refuse_links(self._root, self.path.parent)
            self._make_folder()
            self._keep_lock()
            replace_file(self.path, dump(state))
        except (StateError, OSError) as error:
            self.saved = False
            self._tell(f"the state could not be saved ({error}): going on")
        else:
            self.saved = True
        return self.saved

    def _keep_lock(self) -> None:
        """Take the lock anew where an agent cleared everything away, and our lock with it."""
        if self._lock is None or self._lock.is_at(self._lock_path):
            return
        try:
            again = HeldLock.hold(self._lock_path, self._procedure)
        except LockedError:
            self._lost, self.saved = True, False
            raise
        self._lock.close()
        self._lock = again

    def remove(self) -> bool:
        """Remove the file of a run that is complete; return whether all was kept until then.

        What could not be saved last stays so: where there is nothing to remove, nothing is mended.
        """
        if self._lost:
            return False
        try:
            if not self._spoilt and self.path.parent.is_dir():
                refuse_links(self._root, self.path.parent)
                remove_file(self.path)
        except (StateError, OSError) as error:
            self.saved = False
            self._tell(f"the state could not be removed ({error})")
        return self.saved


def _create(path: Path, data: bytes) -> None:
    """Write a small file that is not there yet."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _is_planted(path: Path) -> bool:
    """Return whether something that is no file of ours is in the place of one."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return not stat.S_ISREG(status.st_mode) or status.st_nlink > 1


def _bytes_of(path: Path) -> bytes | None:
    try:
        read_or_raise(path, lambda: os.lstat(path))
        return read_file(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StateError(f"{path} could not be read: {error.strerror}") from None
