"""Read an artifact once, whole, and only where it is a file or a folder of bearable size.

And notice that it changed, or the criteria, while they were being judged.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from pytest_reflex.checks.folder import (
    OF_OURS,
    SPECIAL_FILES,
    Listing,
    TooManyFilesError,
    list_folder,
)
from pytest_reflex.errors import (
    TRY_AGAIN,
    ArtifactError,
    ExitCode,
    TooLargeError,
    for_cause,
    is_transient,
    read_twice,
)
from pytest_reflex.model.artifact import Artifact, Reason
from pytest_reflex.model.rules import Criteria

MEGABYTE = 1_000_000
SIZE_LIMIT = 50 * MEGABYTE
FILES_LIMIT = 20_000

_CHUNK = 1 << 20
# Opening a named pipe would wait for a writer.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# Of these it is this process that has no more room, whatever it reads.


def read_artifact(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    limit: int = SIZE_LIMIT,
    base: Path | None = None,
    outside: bool = False,
) -> Artifact:
    """Return the file or folder at `path` as it is now.

    `name` is what messages show (default: the path as given); `limit` is in bytes, for a folder
    over all its files. Of a folder, every file below is read, sorted by relative name; what is not
    read (see `checks.folder`, and files that cannot be read or exceed the limit alone) is in
    `left_out`. With `outside`, links that lead out of it are followed.

    Raises ArtifactError where it is missing, unreadable, no file or folder, or over the limit.
    """
    shown = name if name is not None else os.fspath(path)
    try:
        real = Path(os.path.abspath(path))
        mode = read_twice(lambda: os.stat(real)).st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from None
    if stat.S_ISDIR(mode):
        listing = listing_of(real, shown, outside=outside)
        files = tuple(_read_files(listing, shown, limit, base))
        left_out = tuple(sorted(listing.left_out, key=lambda one: one.path))
        return Artifact(
            path=real, name=shown, files=files, base=base, left_out=left_out, outside=outside
        )
    return Artifact(path=real, name=shown, data=_read_file(real, shown, limit), base=base)


def _read_file(path: Path, shown: str, limit: int) -> bytes:
    """Return the bytes of a regular file; never more than `limit` and one chunk are held."""
    try:
        return read_twice(lambda: _bytes_of(path, shown, limit))
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from None


def _bytes_of(path: Path, shown: str, limit: int) -> bytes:
    """Raises OSError and ValueError of the system, and ArtifactError for what is no such file."""
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


def listing_of(folder: Path, shown: str, *, outside: bool = False) -> Listing:
    """Return what a folder holds; raises ArtifactError, with `shown` as its name."""
    try:
        return list_folder(folder, most=FILES_LIMIT, outside=outside)
    except TooManyFilesError:
        raise ArtifactError(
            f"{shown} holds more than {FILES_LIMIT} files", hint="name a smaller folder"
        ) from None
    except OSError as error:
        raise _unreadable(shown, error) from None


def _read_files(listing: Listing, shown: str, limit: int, base: Path | None) -> Iterator[Artifact]:
    """Yield the files in the order of their names; what cannot be read is left out from then on."""
    sizes = {name: _size(path) for name, path in listing.files.items()}
    for name in [name for name, size in sizes.items() if size > limit]:
        text = f"{megabytes(sizes.pop(name))}, the limit is {megabytes(limit)}"
        listing.leave_out(name, Reason.TOO_LARGE, text)
    if (total := sum(sizes.values())) > limit:
        raise _too_large(shown, total, limit)
    left = limit
    for name in sorted(sizes, key=lambda name: name.split("/")):
        path = listing.files[name]
        try:
            data = read_twice(partial(_bytes_of, path, f"{shown}/{name}", left))
        except FileNotFoundError:  # gone since the folder was listed
            continue
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) in OF_OURS:
                raise _unreadable(f"{shown}/{name}", error) from None
            listing.leave_out(name, Reason.UNREADABLE, _why(error))
            continue
        left -= len(data)
        yield Artifact(path=path, name=name, data=data, base=base)


def files_below(folder: Path, shown: str, *, outside: bool = False) -> list[Path]:
    """Return the files that belong to the folder as an artifact, in no certain order.

    Raises ArtifactError, with `shown` as its name.
    """
    return list(listing_of(folder, shown, outside=outside).files.values())


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _refuse_special(mode: int, shown: str) -> None:
    if not stat.S_ISREG(mode):
        raise ArtifactError(
            f"{shown} is {SPECIAL_FILES.get(stat.S_IFMT(mode), 'a special file')}, not a file",
            hint="an artifact is a regular file or a folder",
        )


def _unreadable(shown: str, error: OSError | ValueError) -> ArtifactError:
    if isinstance(error, FileNotFoundError):
        return ArtifactError(f"{shown} does not exist", hint="check the path")
    hint = TRY_AGAIN if is_transient(error) else ""
    return for_cause(ArtifactError(f"{shown} cannot be read: {_why(error)}", hint=hint), error)


def _why(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _too_large(shown: str, size: int, limit: int) -> TooLargeError:
    return TooLargeError(
        f"{shown} is too large: {megabytes(size)}, the limit is {megabytes(limit)}",
        hint="split it, or check a part of it",
    )


def megabytes(size: int) -> str:
    """Return a number of bytes as people read it: 512 bytes, 1.5 MB."""
    if size < 100_000:
        return f"{size} bytes"
    return f"{size / 1_000_000:.1f} MB"


# A file that was written a moment ago can be written again within one tick of its clock.
_SETTLED = 2_000_000_000

Signature = tuple[int, int, int, int]
Signatures = dict[Path, Signature]

_UNREAD: Signature = (0, 0, 0, 0)


class FileWatch:
    """One artifact, or another file, as it was when it was read.

    `has_changed` compares times and sizes first, and the bytes where those differ or say little.
    """

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self._since = time.time_ns()
        self._signatures = _signatures(artifact)

    def has_changed(self) -> bool:
        """Return whether the bytes at the artifact's path are not those that were read.

        Raises ArtifactError where they cannot be read for a cause that may pass.
        """
        try:
            signatures = _signatures(self.artifact)
            if signatures == self._signatures and self._conclusive(signatures):
                return False
            looked = time.time_ns()
            limit, outside = _size_at(self.artifact) + 1, self.artifact.outside
            now = read_artifact(self.artifact.path, limit=limit, outside=outside)
        except ArtifactError as error:
            if error.exit_code is ExitCode.NOT_PERSISTED:
                raise
            return True  # it is gone, or larger
        if now.sha256 != self.artifact.sha256 or now.unread != self.artifact.unread:
            return True
        self._since, self._signatures = looked, signatures
        return False

    def _conclusive(self, signatures: Signatures) -> bool:
        times = (signature[0] for signature in signatures.values())
        return max(times, default=0) + _SETTLED < self._since


def watches(artifact: Artifact, others: Iterable[str] = ()) -> tuple[FileWatch, ...]:
    """Return watches over an artifact that was just read, and over other files that exist."""
    found = [FileWatch(artifact)]
    for path in dict.fromkeys(others):
        with contextlib.suppress(ArtifactError):
            found.append(FileWatch(read_artifact(path)))
    return tuple(found)


def files_of_rules(criteria: Criteria) -> list[str]:
    """Return the paths of the files that criteria and their rules were read from, sorted."""
    places = (rule.place.path for rule in criteria.rules if rule.place)
    return sorted({criteria.source, *places} - {""})


def _signatures(artifact: Artifact) -> Signatures:
    if not artifact.is_folder:
        return {artifact.path: signature(artifact.path)}
    listing = listing_of(artifact.path, artifact.name, outside=artifact.outside)
    unread = (artifact.path / one.path for one in listing.left_out if one.is_unchecked)
    found = dict.fromkeys(unread, _UNREAD)
    return {**found, **{path: signature(path) for path in listing.files.values()}}


def _size_at(artifact: Artifact) -> int:
    return sum(len(file.data) for file in artifact.files or (artifact,))


def signature(path: Path) -> Signature:
    """Return what a file is known by without reading it; that of a missing one says so."""
    try:
        status = read_twice(lambda: os.stat(path))
    except OSError:
        return (0, 0, -1, 0)
    return (status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)
