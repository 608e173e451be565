"""One writer per file: the kernel's lock on the file itself, which ends with its holder.

Limits: flock binds programs that ask for it, on file systems that have it (NFS: see its manual).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_reflex.errors import LockedError, StateError
from pytest_reflex.store.regular import open_regular

_PATIENCE = 0.5
_FOLDER_PATIENCE = 5.0


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


def take_lock(descriptor: int, path: Path) -> None:
    """Take the lock of an open file; raises LockedError where another process has it."""
    # Whoever looks with `is_locked` holds the lock for a moment, so one refusal says nothing.
    deadline = time.monotonic() + _PATIENCE
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
    holder = _holder(descriptor)
    raise LockedError(
        f"{path.parent.name} is driven by another process{f' (pid {holder})' if holder else ''}",
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
        yield _taken_in_time(descriptor)
    finally:
        os.close(descriptor)


def _taken_in_time(descriptor: int) -> bool:
    deadline = time.monotonic() + _FOLDER_PATIENCE
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
    """Return the pid that holds the lock where the kernel tells (Linux)."""
    status = os.fstat(descriptor)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1:2] == ["FLOCK"] and words[5:6] == [device]:
                return int(words[4])
    return None
