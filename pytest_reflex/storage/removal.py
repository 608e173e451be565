"""Remove the folder of a run, whole, and nothing else.

Promises: nobody writes the run then: its lock is held; links are removed and never followed; for
everybody else the run is there or is gone, because its folder is renamed before it is emptied.
What a killed removal left is removed by `remove_leftovers`.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import ExitStack, suppress
from pathlib import Path

from pytest_reflex.errors import StateError
from pytest_reflex.storage.atomic import sync
from pytest_reflex.storage.files import open_regular
from pytest_reflex.storage.folders import run_folder
from pytest_reflex.storage.lock import take_lock

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LEFT = re.compile(r"\.[a-z0-9-]+\.[0-9a-f]{12}\.gone")


def remove_run(root: Path, alias: str, journal: str) -> None:
    """Remove the run that an alias names; `journal` is the name of the file that carries its lock.

    Raises UsageError for a bad alias, LockedError where a process drives the run, and StateError
    where it is gone or cannot be removed.
    """
    folder = run_folder(root, alias)
    with ExitStack() as opened:
        try:
            parent = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
            opened.callback(os.close, parent)
            held = os.open(alias, _FOLDER, dir_fd=parent)
            opened.callback(os.close, held)
            _lock(folder / journal, opened)
            if not os.path.samestat(os.fstat(held), os.stat(alias, dir_fd=parent)):
                raise FileNotFoundError
            gone = f".{alias}.{secrets.token_hex(6)}.gone"
            os.rename(alias, gone, src_dir_fd=parent, dst_dir_fd=parent)
            sync(parent)
            _remove(gone, parent)
        except FileNotFoundError:
            raise StateError(f"{folder} was removed by another process") from None
        except OSError as error:
            raise StateError(f"{folder} could not be removed: {error.strerror}") from None


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, or the link in its place; a missing one is fine.

    Call under the lock of whoever writes there. Raises StateError.
    """
    try:
        parent = os.open(path.parent, _FOLDER)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StateError(f"{path} could not be removed: {error.strerror}") from None
    try:
        _remove(path.name, parent)
        sync(parent)
    except OSError as error:
        raise StateError(f"{path} could not be removed: {error.strerror}") from None
    finally:
        os.close(parent)


def remove_leftovers(root: Path) -> None:
    """Remove what is left of runs whose removal was killed; raises StateError."""
    try:
        parent = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        for name in filter(_LEFT.fullmatch, sorted(os.listdir(parent))):
            _remove(name, parent)
    except OSError as error:
        raise StateError(f"{root} could not be cleaned: {error.strerror}") from None
    finally:
        os.close(parent)


def _lock(path: Path, opened: ExitStack) -> None:
    """Hold the lock of a run until the end; one without a journal has none."""
    try:
        descriptor = open_regular(path)
    except (FileNotFoundError, StateError):
        return
    opened.callback(os.close, descriptor)
    take_lock(descriptor, path)
    # Who had it may have removed the run, and another may have made a new one of that name.
    if not os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False)):
        raise FileNotFoundError


def _remove(name: str, parent: int) -> None:
    """Remove a file, a link or a whole folder; another process may be at it too."""
    with suppress(FileNotFoundError):
        try:
            os.unlink(name, dir_fd=parent)
            return
        except (IsADirectoryError, PermissionError):  # what POSIX has for a folder is the latter
            folder = os.open(name, _FOLDER, dir_fd=parent)
        try:
            for entry in os.listdir(folder):
                _remove(entry, folder)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=parent)
