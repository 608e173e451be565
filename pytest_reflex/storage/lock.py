"""One writer per file: the kernel's lock on the file itself, which ends with its holder.

Limits: flock binds programs that ask for it, on file systems that have it (NFS: see its manual).
"""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Protocol

from pytest_reflex.errors import LockedError, StateError, is_transient, read_or_raise, read_twice
from pytest_reflex.storage.atomic import PRIVATE
from pytest_reflex.storage.files import open_regular

_TIMEOUT = 0.5
_POLL = 0.02
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_TIMEOUT = 5.0


class Holder(Protocol):
    """What has an open file with a lock, and can let go of it."""

    def close(self) -> None: ...


_holders: weakref.WeakSet[Holder] = weakref.WeakSet()
_watching_forks = False


class HeldLock:
    """The lock of a file that is there for nothing else and is never replaced.

    Take one with `hold`; it ends with `close`, and with this process, however that ends.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        let_go_in_forks(self)

    @classmethod
    def hold(cls, path: Path, what: str) -> HeldLock:
        """Make the file where it is not there, and take its lock; `what` names what is driven.

        Raises LockedError where another process has it, StateError and OSError where there can be
        no such file.
        """
        while True:
            with suppress(FileExistsError):
                os.close(os.open(path, _NEW, PRIVATE))
            with suppress(FileNotFoundError):
                descriptor = open_regular(path, os.O_RDWR)
                try:
                    take_lock(descriptor, path, what)
                    # If the file was removed while we waited, another process could lock a new one.
                    if read_or_raise(path, partial(_is_same, path, descriptor)):
                        held, descriptor = cls(descriptor), -1
                        return held
                finally:
                    if descriptor >= 0:
                        os.close(descriptor)

    @classmethod
    def wait_for(cls, path: Path, stop: Event) -> HeldLock | None:
        """Make the file where it is not there, and wait for its lock; None where `stop` is set.

        Raises StateError and OSError where there can be no such lock.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, PRIVATE)
        try:
            while not stop.is_set():
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    stop.wait(_POLL)
                except OSError as error:
                    raise StateError(f"{path} cannot be locked: {error.strerror}") from None
                else:
                    held, descriptor = cls(descriptor), -1
                    return held
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return None

    def is_at(self, path: Path) -> bool:
        """Return whether a path still names the file: if not, the lock excludes no one.

        Where this is unknown now, it does.
        """
        try:
            return read_twice(lambda: _is_same(path, self._descriptor))
        except OSError as error:
            return is_transient(error)

    def close(self) -> None:
        """Let go; twice is fine. No LOCK_UN: that would end it for a process that shares it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _is_same(path: Path, descriptor: int) -> bool:
    return os.path.samestat(os.lstat(path), os.fstat(descriptor))


def let_go_in_forks(holder: Holder) -> None:
    """Have a fork of this process close what would keep a lock when we are gone."""
    global _watching_forks
    _holders.add(holder)
    if not _watching_forks:
        _watching_forks = True
        os.register_at_fork(after_in_child=_let_go)


def _let_go() -> None:
    for holder in list(_holders):
        holder.close()


def is_locked(path: Path) -> bool:
    """Return whether a process holds the journal for writing; a missing file is not held."""
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def take_lock(descriptor: int, path: Path, what: str = "") -> None:
    """Take the lock of an open file; raises LockedError where another process has it.

    `what` is what that process drives, by default what the folder of the file is called.
    """
    # `is_locked` holds the lock for a moment, so a single failure does not mean a running process.
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        except OSError as error:
            raise StateError(f"{path} cannot be locked: {error.strerror}") from None
    raise driven_by(what or path.parent.name, _holder(descriptor))


def driven_by(what: str, holder: int | None) -> LockedError:
    """Return the refusal to drive what another process drives, with its id where that is known."""
    by = f" (pid {holder})" if holder else ""
    return LockedError(
        f"another process is running {what}{by}",
        hint="wait for it, or interrupt it with Ctrl-C; it can be resumed",
    )


@contextmanager
def folder_lock(folder: Path) -> Iterator[bool]:
    """Hold a lock on a folder itself while a small file in it is changed.

    Yields whether it is held: a file system may have none, and one that is not given back for
    seconds is not waited for.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        yield _wait_for_lock(descriptor)
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int) -> bool:
    deadline = time.monotonic() + _FOLDER_TIMEOUT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.005)
        except OSError:
            return False
    return False


def _holder(descriptor: int) -> int | None:
    """Return the pid that holds the lock where the kernel reports it (Linux)."""
    status = os.fstat(descriptor)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1:2] == ["FLOCK"] and words[5:6] == [device]:
                return int(words[4])
    return None
