"""Replace a file whole, and keep bytes that could not be used beside it.

Promises: after `replace_file` returned the new content survives a power cut; before that the old
content is intact, whatever failed; a link at the target is replaced, never followed.
Limits: a file system without fsync gives atomicity only; leftovers of a killed process are removed
by `remove_strays`.

Promises: what is kept is on the disk when `keep_copy` returned; nothing that is there is written
over.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

from pytest_reflex.errors import StateError, read_or_raise
from pytest_reflex.storage.files import read_if_regular

PRIVATE = 0o600

_STRAY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")
_NO_FSYNC = frozenset((errno.EINVAL, errno.ENOTSUP, errno.ENOSYS))


def replace_file(
    path: Path, data: bytes, *, mode: int = PRIVATE, staging: Path | None = None
) -> None:
    """Give `path` the content `data`; a new file gets `mode`, an old one keeps its permissions.

    It is written in the folder `staging` first (default: that of `path`; the same file system), so
    that what a killed process leaves lies where `remove_strays` may look for it. Raises
    StateError that names the path and the cause.
    """
    with ExitStack() as opened:
        folder = _open_folder(path.parent, path)
        opened.callback(os.close, folder)
        stage = folder
        if staging is not None:
            stage = _open_folder(staging, path)
            opened.callback(os.close, stage)
        try:
            _replace_in(folder, stage, path, data, _mode_of(folder, path.name, mode))
        except OSError as error:
            raise StateError(
                f"{path} could not be written: {error.strerror or error}", hint=_advice(error)
            ) from None


def _replace_in(folder: int, stage: int, path: Path, data: bytes, mode: int) -> None:
    temporary = f".{path.name[:200]}.{secrets.token_hex(6)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, PRIVATE, dir_fd=stage)
    try:
        try:
            os.fchmod(descriptor, mode)
            write_all(descriptor, data)
            sync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path.name, src_dir_fd=stage, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=stage)
        raise
    sync(folder)


def remove_file(path: Path) -> None:
    """Remove a file for good; a missing one is fine. Raises StateError."""
    folder = _open_folder(path.parent, path)
    try:
        os.unlink(path.name, dir_fd=folder)
        sync(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StateError(f"{path} could not be removed: {error.strerror or error}") from None
    finally:
        os.close(folder)


def remove_strays(folder: Path, of: str = "") -> list[str]:
    """Remove what a killed writer left in a folder, or only `of` one file; return the names.

    Call under the run's lock.
    """
    removed = []
    for name in sorted(read_or_raise(folder, lambda: os.listdir(folder))):
        if _STRAY.fullmatch(name) and name.startswith(f".{of}"):
            with suppress(OSError):
                (folder / name).unlink()
                removed.append(name)
    return removed


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync(descriptor: int) -> None:
    """Flush to the disk where the file system can; raises OSError where it should and failed."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FSYNC:
            raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _open_folder(folder: Path, path: Path) -> int:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StateError(
            f"{path} could not be written: folder {folder}: {error.strerror or error}"
        ) from None


def _mode_of(folder: int, name: str, default: int) -> int:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return default
    return stat.S_IMODE(status.st_mode) & 0o777 if stat.S_ISREG(status.st_mode) else default


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space and resume; what was there is intact"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "make the folder writable and resume"
    if error.errno in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST):
        return "move it away and resume"
    return ""


MOST_KEPT = 999

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def keep_copy(path: Path, data: bytes, word: str) -> Path:
    """Write `data` to a new file `<name>.<word>-<n>` beside `path`, and return its path.

    Where it is kept already, nothing is written. Raises StateError.
    """
    for number in range(1, MOST_KEPT + 1):
        target = path.with_name(f"{path.name}.{word}-{number}")
        try:
            descriptor = os.open(target, _FLAGS, PRIVATE)
        except FileExistsError:
            if read_if_regular(target) == data:
                return target
            continue
        except OSError as error:
            raise StateError(f"{target} could not be made: {error.strerror}") from None
        try:
            write_all(descriptor, data)
            sync(descriptor)
        except OSError as error:
            with suppress(OSError):  # a part is not a copy, and the next try would make another
                os.unlink(target)
            raise StateError(f"{target} could not be written: {error.strerror}") from None
        finally:
            os.close(descriptor)
        sync_folder(target.parent)
        return target
    raise StateError(f"{path}: there are too many copies next to it", hint="move them away")


def quarantine(path: Path, word: str) -> Path:
    """Rename whatever is at `path`, unread, to `<name>.<word>-<n>` beside it; return that path.

    Call under a lock: a file of that name that is made meanwhile would be lost. Raises StateError.
    """
    for number in range(1, MOST_KEPT + 1):
        target = path.with_name(f"{path.name}.{word}-{number}")
        if os.path.lexists(target):
            continue
        try:
            os.rename(path, target)
            sync_folder(target.parent)
        except OSError as error:
            raise StateError(f"{path} could not be moved: {error.strerror}") from None
        return target
    raise StateError(f"{path}: there are too many copies next to it", hint="move them away")
