"""Read an artifact once, whole, and only where it is a file or a folder of bearable size."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.errors import TRY_AGAIN, ArtifactError, for_cause, is_transient, read_twice
from pytest_reflex.model.artifact import Artifact

SIZE_LIMIT = 50_000_000
FILES_LIMIT = 20_000
SKIPPED = frozenset({".git", "__pycache__", ".venv", "node_modules"})

_CHUNK = 1 << 20
# Opening a named pipe would wait for a writer.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def read_artifact(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    limit: int = SIZE_LIMIT,
    base: Path | None = None,
) -> Artifact:
    """Return the file or folder at `path` as it is now.

    `name` is what messages show (default: the path as given); `limit` is in bytes, for a folder
    over all its files. Of a folder, everything below is read, sorted by relative name, but for
    what is named in SKIPPED, special files, and links that lead out of it or to a folder.

    Raises ArtifactError where it is missing, unreadable, no file or folder, or over the limit.
    """
    shown = name if name is not None else os.fspath(path)
    try:
        real = Path(os.path.abspath(path))
        mode = read_twice(lambda: os.stat(real)).st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from None
    if stat.S_ISDIR(mode):
        files = tuple(_read_folder(real, shown, limit, base))
        return Artifact(path=real, name=shown, files=files, base=base)
    return Artifact(path=real, name=shown, data=_read_file(real, shown, limit), base=base)


def _read_file(path: Path, shown: str, limit: int) -> bytes:
    """Return the bytes of a regular file; never more than `limit` and one chunk are held."""
    try:
        return read_twice(lambda: _read_once(path, shown, limit))
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from None


def _read_once(path: Path, shown: str, limit: int) -> bytes:
    _refuse_special(os.stat(path).st_mode, shown)
    handle = os.open(path, _OPEN_FLAGS)
    try:
        # What was a file a moment ago may be something else by now: only the open file counts.
        status = os.fstat(handle)
        _refuse_special(status.st_mode, shown)
        if status.st_size > limit:
            raise _too_large(shown, status.st_size, limit)
        return _read_bounded(handle, shown, limit, status.st_size)
    finally:
        os.close(handle)


def _read_bounded(handle: int, shown: str, limit: int, expected: int) -> bytes:
    # Mostly one read: what is large is not held twice.
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(handle, max(expected + 1 - size, _CHUNK)):
        size += len(chunk)
        if size > limit:
            raise _too_large(shown, size, limit)
        chunks.append(chunk)
    return b"".join(chunks)


def _read_folder(folder: Path, shown: str, limit: int, base: Path | None) -> Iterator[Artifact]:
    found = files_below(folder, shown)
    total = sum(_size(path) for path in found)
    if total > limit:
        raise _too_large(shown, total, limit)
    left = limit
    for path in sorted(found, key=lambda path: path.relative_to(folder).parts):
        name = path.relative_to(folder).as_posix()
        data = _read_file(path, f"{shown}/{name}", left)
        left -= len(data)
        yield Artifact(path=path, name=name, data=data, base=base)


def files_below(folder: Path, shown: str) -> list[Path]:
    """Return the files that belong to the folder as an artifact, in no certain order.

    Raises ArtifactError, with `shown` as its name.
    """
    inside = os.path.realpath(folder) + os.sep
    found: list[Path] = []

    def refuse(error: OSError) -> None:
        raise _unreadable(shown, error)

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        paths = (Path(parent, name) for name in names if name not in SKIPPED)
        found += (path for path in paths if _is_file_inside(path, inside))
        if len(found) > FILES_LIMIT:
            raise ArtifactError(
                f"{shown} holds more than {FILES_LIMIT} files", hint="name a smaller folder"
            )
    return found


def _is_file_inside(path: Path, inside: str) -> bool:
    try:
        if path.is_symlink() and not os.path.realpath(path).startswith(inside):
            return False
        return stat.S_ISREG(read_twice(lambda: os.stat(path)).st_mode)
    except OSError as error:
        if is_transient(error):
            raise _unreadable(str(path), error) from None
        return False  # a dangling link, or gone since the folder was listed
        return False


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _refuse_special(mode: int, shown: str) -> None:
    if not stat.S_ISREG(mode):
        raise ArtifactError(
            f"{shown} is {_KINDS.get(stat.S_IFMT(mode), 'a special file')}, not a file",
            hint="an artifact is a regular file or a folder",
        )


def _unreadable(shown: str, error: OSError | ValueError) -> ArtifactError:
    if isinstance(error, FileNotFoundError):
        return ArtifactError(f"{shown} does not exist", hint="check the path")
    reason = getattr(error, "strerror", None) or str(error)
    hint = TRY_AGAIN if is_transient(error) else ""
    return for_cause(ArtifactError(f"{shown} cannot be read: {reason}", hint=hint), error)


def _too_large(shown: str, size: int, limit: int) -> ArtifactError:
    return ArtifactError(
        f"{shown} is too large: {megabytes(size)}, the limit is {megabytes(limit)}",
        hint="split it, or judge a part of it",
    )


def megabytes(size: int) -> str:
    """Return a number of bytes as people read it: 512 bytes, 1.5 MB."""
    if size < 100_000:
        return f"{size} bytes"
    return f"{size / 1_000_000:.1f} MB"
