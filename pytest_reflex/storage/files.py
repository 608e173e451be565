"""Opening state files safely, and what kind of file system they lie on.

Limits: the kind is known on Linux only; elsewhere it is an empty text.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError, UnreadableError, read_again, read_or_raise

MAX_BYTES = 1_000_000_000

_NO_LINKS = "state files and their folders are never links"
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def open_regular(path: Path, flags: int = os.O_RDONLY, *, folder: int | None = None) -> int:
    """Return a descriptor of a regular file that is not a link and has no second name to write by.

    With `folder`, a descriptor, the file is looked for there, whatever lies at its path. Raises
    FileNotFoundError where it is missing, StateError for everything else.
    """
    try:
        name = path if folder is None else path.name
        try:
            descriptor = os.open(name, flags | _FLAGS, dir_fd=folder)
        except OSError as error:
            again = partial(os.open, name, flags | _FLAGS, dir_fd=folder)
            descriptor = read_again(path, error, again)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refusal(path, error) from None
    try:
        status = status_of(descriptor, path)
    except StateError:
        os.close(descriptor)
        raise
    writes = flags & (os.O_WRONLY | os.O_RDWR)
    if not stat.S_ISREG(status.st_mode):
        problem = "is not a regular file"
    elif writes and status.st_nlink > 1:
        problem = "has a second name (a hard link), which writing would change too"
    else:
        return descriptor
    os.close(descriptor)
    raise StateError(problem, hint="move it away and try again", about=path)


def read_file(path: Path, limit: int = MAX_BYTES, *, folder: int | None = None) -> bytes:
    """Return the bytes of a regular file, in `folder` as `open_regular` has it.

    Raises FileNotFoundError and StateError.
    """
    descriptor = open_regular(path, folder=folder)
    try:
        return read_all(descriptor, path, limit)
    finally:
        os.close(descriptor)


def read_if_regular(path: Path, limit: int = MAX_BYTES) -> bytes | None:
    """Return the bytes of a file, None where there is no regular file; raises StateError."""
    try:
        try:
            status = os.lstat(path)
        except OSError as error:
            status = read_again(path, error, partial(os.lstat, path))
        return read_file(path, limit) if stat.S_ISREG(status.st_mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StateError(f"could not be opened: {error.strerror}", about=path) from None


MAX_OBJECT = 500_000_000


def read_object(path: Path, limit: int = MAX_OBJECT) -> dict[str, Any]:
    """Return a JSON object, or an empty one where there is no regular file that holds one.

    Raises UnreadableError.
    """
    try:
        found = json.loads(read_if_regular(path, limit) or b"{}")
    except UnreadableError:  # it may hold one
        raise
    except (OSError, ValueError, RecursionError, StateError):
        return {}
    return found if isinstance(found, dict) else {}


def read_all(descriptor: int, path: Path, limit: int = MAX_BYTES) -> bytes:
    """Return everything from the start of an open file."""
    size = status_of(descriptor, path).st_size
    if size > limit:
        raise StateError(f"is too large: {size:,} bytes, the limit is {limit:,}", about=path)
    try:
        try:
            return _read_from_start(descriptor)
        except OSError as error:
            return read_again(path, error, partial(_read_from_start, descriptor))
    except OSError as error:
        raise StateError(f"could not be read: {error.strerror}", about=path) from None


def _read_from_start(descriptor: int) -> bytes:
    parts = []
    offset = 0
    while part := os.pread(descriptor, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def status_of(descriptor: int, path: Path) -> os.stat_result:
    """Return the status of an open file; raises UnreadableError."""
    try:
        return os.fstat(descriptor)
    except OSError as error:
        return read_again(path, error, partial(os.fstat, descriptor))


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, none where there is no such folder; raises UnreadableError."""
    try:
        return sorted(read_or_raise(folder, lambda: os.listdir(folder)))
    except (FileNotFoundError, NotADirectoryError):
        return []


def refuse_links(top: Path, folder: Path) -> None:
    """Raise StateError where a folder, from `top` down to `folder`, is a symbolic link.

    Limits: a link that is put there between this look and the use of the folder is not caught.
    """
    below = folder.relative_to(top).parts
    for depth in range(len(below) + 1):
        if os.path.islink(found := top.joinpath(*below[:depth])):
            raise StateError(f"{found} is a symbolic link", hint=f"{_NO_LINKS}: remove it")


def _refusal(path: Path, error: OSError) -> StateError:
    if error.errno == errno.ELOOP or os.path.islink(path):
        return StateError("is a symbolic link", hint=f"{_NO_LINKS}: remove it", about=path)
    return StateError(f"could not be opened: {error.strerror}", about=path)


# Locks of these are kept by another machine or a program, or not at all (RELIABILITY: advisory).
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|ocfs2|ncpfs|virtiofs|fuse(\..*)?"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def kind_of(folder: Path, mounts: str | None = None) -> str:
    """Return the kind of file system that a folder is on, empty where it is not known.

    `mounts` is the text of /proc/self/mountinfo, read where it is not given.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    place = str(folder.resolve())
    kind, longest = "", -1
    for line in mounts.split("\n"):
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
        below = place == point or place.startswith(point.rstrip("/") + "/")
        if below and len(point) >= longest:  # what is mounted later lies above
            kind, longest = after.split()[0], len(point)
    return kind


def is_remote(kind: str) -> bool:
    """Return whether a kind of file system is shared over a network, or made by a program."""
    return _NETWORK.fullmatch(kind) is not None


def lock_warning(folder: Path, mounts: str | None = None) -> str:
    """Return a warning about the lock of a loop in a folder, empty for a local file system."""
    kind = kind_of(folder, mounts)
    if not is_remote(kind):
        return ""
    return (
        f"The state folder is on a file system of kind {kind}: its lock may not reach other "
        "machines. Run a loop on one machine at a time."
    )


def why_no_lock(folder: Path) -> str:
    """Return why files in a folder cannot be locked, empty where they can; none is left there."""
    try:
        import fcntl

        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return "this system has no flock"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def nearest_folder(path: Path) -> Path:
    """Return a folder, or what is there of the way to it."""
    for folder in (path, *path.parents):
        if os.path.isdir(folder):
            return folder
    return Path(os.sep)
