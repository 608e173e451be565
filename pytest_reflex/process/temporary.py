"""Temporary folders that are removed in any case: also where we are killed, by the guard."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_reflex.process.guard import GUARD


def make_folder(prefix: str) -> Path:
    """Make a private folder, to be removed with `remove_folder`."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    GUARD.keep(folder)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, write-protected or not.

    Of a link that somebody put in its place, the link alone.
    """
    if folder.is_symlink():
        folder.unlink()
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
    GUARD.drop(folder)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a private folder and remove it afterwards."""
    folder = make_folder(prefix)
    try:
        yield folder
    finally:
        remove_folder(folder)
