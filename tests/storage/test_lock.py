"""Locks of folders, and of a history that goes away while its lock is awaited."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from threading import Thread

from pytest_reflex.errors import ReflexError
from pytest_reflex.storage.journal import Journal
from pytest_reflex.storage.lock import folder_lock


def test_b116_nobody_else_holds_a_folder_meanwhile(tmp_path: Path) -> None:
    other = os.open(tmp_path, os.O_RDONLY)
    with folder_lock(tmp_path) as held:
        assert held
        assert not _is_free(other)
    assert _is_free(other)
    os.close(other)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_a_folder_that_is_not_there_is_not_held(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "gone") as held:
        assert not held


def test_f15_a_history_that_is_removed_while_its_lock_is_awaited_is_gone(tmp_path: Path) -> None:
    outcomes = (_opened_while_removed(tmp_path / f"{number}.jsonl") for number in range(9))
    # Who waits gives up after a moment, which a busy machine may take for the removal.
    assert next(word for word in outcomes if word != "LockedError") == "FileNotFoundError"


def _opened_while_removed(path: Path) -> str:
    """Remove a history that one thread holds and another waits for; return what comes of that."""
    holder, said = Journal.create(path), ["opened"]

    def late() -> None:
        try:
            Journal.open(path).close()
        except (FileNotFoundError, ReflexError) as error:
            said.append(type(error).__name__)

    thread = Thread(target=late)
    thread.start()
    while thread.is_alive() and _descriptors_of(path) < 2:
        pass  # it has not opened the file yet
    path.unlink()
    holder.close()
    thread.join()
    return said[-1]


def _descriptors_of(path: Path) -> int:
    """Return how many descriptors of this process are open on a file (Linux)."""
    number, found = path.stat().st_ino, 0
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found += os.stat(f"/proc/self/fd/{name}").st_ino == number
    return found
