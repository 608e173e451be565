"""The files of installed packages: what was added, changed or removed since they were looked at.

They are many and seldom change: a look asks for the stamp of each known file, and lists a folder
only where something was added to it or removed; byte code in `__pycache__` does not count. A stamp
also changes where another environment links to the same file, as those of uv and conda do: a file
that has the content that the RECORD of its distribution lists is no change. Limits: a file that no
RECORD lists is known by its stamp alone; a patched file may be put back to what was installed.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import BufferedReader
from typing import TypeVar

from pytest_reflex.errors import exists, read_again
from pytest_reflex.integrity.manifest import NO_FILE, Change, ChangeKind, is_settled
from pytest_reflex.integrity.project import CACHES

T = TypeVar("T")
U = TypeVar("U")
_Stamp = tuple[int, int, int]
_RECORD, _HASH = ".dist-info/RECORD", "sha256="
_LARGEST_RECORD = 10_000_000


class Packages:
    """The files below a folder of packages, as they are when this is made."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files: dict[str, _Stamp] = {}
        self._folders: dict[str, int] = {}
        self._records: dict[str, bytes] = {}
        self._walk()

    def fingerprint(self) -> str:
        """Return two hashes of all files: over their stamps, and over what RECORDs list of them.

        A file that no RECORD lists counts with its stamp in both.
        """
        stamps, contents = [], []
        for path, stamp in sorted(self._files.items()):
            hashed = self._hashes.get(path)
            stamps.append(f"{path}\0{stamp}\n")
            contents.append(f"{path}\0{(hashed, stamp[-1]) if hashed else stamp}\n")
        return f"{_hash(stamps)}-{_hash(contents)}"

    def agrees(self, fingerprint: str) -> bool:
        """Return whether everything is as it was where a fingerprint was taken."""
        stamps, _, contents = fingerprint.partition("-")
        own_stamps, _, own_contents = self.fingerprint().partition("-")
        if stamps == own_stamps:
            return True
        return contents == own_contents and all(
            self._is_as_recorded(path) for path, listed in self._hashes.items() if listed
        )

    def changes(self) -> Iterator[Change]:
        """Yield what was added, changed or removed.

        Raises UnreadableError where that cannot be seen for a cause that may pass.
        """
        for path, stamp in self._files.items():
            status = _status_of(path)
            if status is None:
                yield Change(path, ChangeKind.REMOVED)
            elif (now := _stamp(status)) != stamp:
                if now[-1] != stamp[-1] or not self._is_as_recorded(path):
                    yield Change(path, ChangeKind.CHANGED)
                elif is_settled(status):
                    self._files[path] = now
        for folder, time in self._folders.items():
            if time != _time_of(folder):
                yield from self._find_added(folder)

    def _find_added(self, folder: str) -> Iterator[Change]:
        """Yield the files of a folder that are not known, with all that is in new folders."""
        entries = _entries(folder)
        if entries is None and exists(folder):
            yield Change(folder, ChangeKind.CHANGED)
        for entry in entries or ():
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in CACHES and entry.path not in self._folders:
                    yield from self._find_added(entry.path)
            elif entry.path not in self._files:
                yield Change(entry.path, ChangeKind.ADDED)

    def _walk(self) -> None:
        waiting = [self.folder]
        while waiting:
            folder = waiting.pop()
            self._folders[folder] = _time_of(folder)
            for entry in _entries(folder) or ():
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in CACHES:
                        waiting.append(entry.path)
                elif status := _status_of(entry.path):
                    self._files[entry.path] = _stamp(status)
                    if entry.path.endswith(_RECORD) and status.st_size <= _LARGEST_RECORD:
                        self._note_record(entry.path)

    def _note_record(self, path: str) -> None:
        data = _see(path, lambda: _read(path), None)
        if data is not None and len(data) == self._files[path][-1]:
            self._records[path] = data

    @cached_property
    def _hashes(self) -> dict[str, str]:
        """The hash of each file that a RECORD lists, and of the RECORDs themselves.

        It is empty for a file of another size, and where two RECORDs list different hashes.
        """
        found: dict[str, str] = {}
        for record, data in self._records.items():
            found[record] = _as_recorded(hashlib.sha256(data).digest())
            base = os.path.dirname(os.path.dirname(record))
            rows = csv.reader(data.decode("utf-8", "surrogateescape").splitlines())
            with suppress(csv.Error):  # what it says until there counts
                for name, listed, size, *_ in (row for row in rows if len(row) > 2):
                    path = f"{base}/{name}"
                    if path not in self._files or path in self._records:
                        continue
                    fits = listed.startswith(_HASH) and size == str(self._files[path][-1])
                    fits = fits and found.get(path, listed) == listed
                    found[path] = listed if fits else ""
        return found

    def _is_as_recorded(self, path: str) -> bool:
        """Return whether a file has the content that its RECORD listed when that was read."""
        listed = self._hashes.get(path)
        return bool(listed) and listed == _see(path, lambda: _read_hash(path), None)


def _as_recorded(digest: bytes) -> str:
    return _HASH + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _read(path: str) -> bytes:
    with _open(path) as file:
        return file.read(_LARGEST_RECORD)


def _hash(lines: list[str]) -> str:
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _read_hash(path: str) -> str:
    with _open(path) as file:
        return _as_recorded(hashlib.file_digest(file, "sha256").digest())


@contextmanager
def _open(path: str) -> Iterator[BufferedReader]:
    """Open a regular file that is no link; raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(NO_FILE)
        yield file


def _status_of(path: str) -> os.stat_result | None:
    return _see(path, lambda: os.lstat(path), None)


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_ctime_ns, status.st_ino, status.st_size


def _time_of(folder: str) -> int:
    return _see(folder, lambda: os.stat(folder).st_ctime_ns, 0)


def _entries(folder: str) -> list[os.DirEntry[str]] | None:
    def read() -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            return list(entries)

    return _see(folder, read, None)


def _see(path: str, read: Callable[[], T], gone: U) -> T | U:
    """Return what `read` does, or `gone` where there is nothing, or nothing that may be read.

    Raises UnreadableError where that cannot be seen for a cause that may pass.
    """
    try:
        return read()
    except OSError as error:
        try:
            return read_again(path, error, read)
        except OSError:
            return gone
