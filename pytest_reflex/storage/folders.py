"""The folder of a run: its name, and its removal.

Promises: no process writes the run then: its lock is held; links are removed and never followed;
for everybody else the run is there or is gone, because its folder is renamed before it is emptied.
What a killed removal left is removed by `remove_leftovers`.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import unicodedata
from contextlib import ExitStack, suppress
from pathlib import Path

from pytest_reflex.errors import StateError, UnreadableError, UsageError
from pytest_reflex.storage.atomic import sync, sync_folder
from pytest_reflex.storage.files import open_regular
from pytest_reflex.storage.lock import take_lock

MAX_ALIAS = 64
_SLUG_LENGTH = 40
_ALIAS = re.compile(r"[a-z0-9](?:[a-z0-9-]{1,62})[a-z0-9]")
_DEVICES = frozenset(("con", "prn", "aux", "nul")) | {
    f"{name}{number}" for name in ("com", "lpt") for number in range(10)
}


def slug(task: str) -> str:
    """Return an alias made of a task's first words; `loop-<hash8>` where none can be made."""
    alias = words_of(task, _SLUG_LENGTH)
    if is_alias(alias):
        return alias
    return "loop-" + hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def words_of(task: str, most: int) -> str:
    """Return a task's first words in ASCII, joined by hyphens; maybe empty.

    Of `most` characters no word is cut, unless the first one is longer.
    """
    plain = unicodedata.normalize("NFKD", task).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain[:1000]))
    if len(words) <= most:
        return words
    return words[: most + 1].rpartition("-")[0] or words[:most]


def check_alias(alias: str) -> str:
    """Return the alias; raises UsageError where it is none."""
    if not is_alias(alias):
        raise UsageError(
            f"{alias!r} is not an alias: 3 to {MAX_ALIAS} lower-case letters, digits and hyphens, "
            "no hyphen at an end, no name of a device",
            hint=f"try {slug(alias)}",
        )
    return alias


def is_alias(alias: str) -> bool:
    """Return whether a name can be that of a run."""
    return bool(_ALIAS.fullmatch(alias)) and alias not in _DEVICES


def create_run_folder(root: Path, task: str, alias: str | None = None) -> Path:
    """Make the folder of a new run and return it; only this process has made it.

    The name is `alias`, or made from the task; one that exists gets `-2`, `-3` and so on.
    Raises UsageError for a bad alias, StateError where nothing can be made.
    """
    name = slug(task) if alias is None else check_alias(alias)
    try:
        make_folder(root)
        for number in range(1, 10_000):
            folder = root / _number(name, number)
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            folder.chmod(0o700)
            sync_folder(root)
            return folder
    except OSError as error:
        raise StateError(
            f"no folder for the run could be made in {root}: {error.strerror}",
            hint="make it writable, or choose another state folder",
        ) from None
    raise StateError(f"{root} holds too many runs named {name}", hint="choose another --alias")


def make_folder(root: Path) -> None:
    """Make a state folder and what leads to it, each name durable: a run below could be lost."""
    for folder in (*reversed(root.parents), root):
        if folder.exists():
            continue
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700 if folder == root else 0o777)
        sync_folder(folder.parent)


def _number(name: str, number: int) -> str:
    if number == 1:
        return name
    suffix = f"-{number}"
    return name[: MAX_ALIAS - len(suffix)].rstrip("-") + suffix


def run_folder(root: Path, alias: str) -> Path:
    """Return the folder that an alias names; raises UsageError, or StateError for a link."""
    folder = root / check_alias(alias)
    if folder.is_symlink():
        raise StateError(f"{folder} is a symbolic link", hint="the folder of a run is never a link")
    return folder


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
    except UnreadableError:
        raise  # it may be locked
    except (FileNotFoundError, StateError):
        return
    opened.callback(os.close, descriptor)
    take_lock(descriptor, path)
    # The last holder may have removed the run, and another may have made one of that name.
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
