"""The lock of a folder: one process at a time changes a small file in it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pytest_reflex.store.lock import folder_lock


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
