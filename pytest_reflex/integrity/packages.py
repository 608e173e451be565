"""The files of installed packages: what was added, changed or removed since they were looked at.

They are many and seldom change: a look asks for the stamp of each known file, and lists a folder
only where something was added to it or removed; byte code in `__pycache__` does not count. A stamp
also changes where another environment links to the same file, as those of uv and conda do: a file
that has the content of which the RECORD of its distribution tells is no change. Limit: a file that
no RECORD names is known by its stamp alone.
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

from pytest_reflex.errors import read_again
from pytest_reflex.integrity.manifest import NO_FILE, Change, ChangeKind
from pytest_reflex.integrity.project import CACHES

T = TypeVar("T")
_Stamp = tuple[int, int, int]
_RECORD, _HASH = ".dist-info/RECORD", "sha256="


class Packages:
    """The files below a folder of packages, as they are when this is made."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files: dict[str, _Stamp] = {}
        self._folders: dict[str, int] = {}
        self._records: dict[str, bytes] = {}
        self._walk()

    def fingerprint(self) -> str:
        """Return two hashes of all that is known: by stamps, and by content where it is told."""
        stamps, contents = [], []
        for path, stamp in sorted(self._files.items()):
            stamps.append(f"{path}\0{stamp}\n")
            contents.append(f"{path}\0{self._hashes.get(path, stamp)}\n")
        return f"{_hash(stamps)}-{_hash(contents)}"

    def agrees(self, fingerprint: str) -> bool:
        """Return whether everything is as it was where a fingerprint was taken."""
        stamps, _, contents = fingerprint.partition("-")
        own_stamps, _, own_contents = self.fingerprint().partition("-")
        if stamps == own_stamps:
            return True
        return contents == own_contents and all(map(self._is_as_recorded, self._hashes))

    def changes(self) -> Iterator[Change]:
        """Yield what was added, changed or removed.

        Raises UnreadableError where that cannot be seen for a cause that may pass.
        """
        for path, stamp in self._files.items():
            now = _stamp_of(path)
            if now is None:
                yield Change(path, ChangeKind.REMOVED)
            elif now != stamp:
                if self._is_as_recorded(path):
                    self._files[path] = now
                else:
                    yield Change(path, ChangeKind.CHANGED)
        for folder, time in self._folders.items():
            if time != _time_of(folder):
                yield from (Change(path, ChangeKind.ADDED) for path in self._find_added(folder))

    def _find_added(self, folder: str) -> Iterator[str]:
        """Yield the files of a folder that are not known, with all that is in new folders."""
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in CACHES and entry.path not in self._folders:
                    yield from self._find_added(entry.path)
            elif entry.path not in self._files:
                yield entry.path

    def _walk(self) -> None:
        waiting = [self.folder]
        while waiting:
            folder = waiting.pop()
            self._folders[folder] = _time_of(folder)
            for entry in _entries(folder):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in CACHES:
                        waiting.append(entry.path)
                elif stamp := _stamp_of(entry.path):
                    self._files[entry.path] = stamp
                    if entry.path.endswith(_RECORD):
                        self._note_record(entry.path)

    def _note_record(self, path: str) -> None:
        if (data := _see(path, lambda: _read(path), None)) is not None:
            self._records[path] = data

    @cached_property
    def _hashes(self) -> dict[str, str]:
        """The hash of each file that a RECORD names, and of the RECORDs themselves."""
        found = {}
        for record, data in self._records.items():
            found[record] = _as_recorded(hashlib.sha256(data).digest())
            base = os.path.dirname(os.path.dirname(record))
            rows = csv.reader(data.decode("utf-8", "surrogateescape").splitlines())
            with suppress(csv.Error):  # what it says until there counts
                for row in rows:
                    path = f"{base}/{row[0]}" if len(row) > 1 else ""
                    if path in self._files and row[1].startswith(_HASH):
                        found[path] = row[1]
        return found

    def _is_as_recorded(self, path: str) -> bool:
        """Return whether a file has the content that its RECORD told of when it was looked at."""
        told = self._hashes.get(path)
        return told is not None and told == _see(path, lambda: _read_hash(path), "")


def _as_recorded(digest: bytes) -> str:
    return _HASH + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _read(path: str) -> bytes:
    with _open(path) as file:
        return file.read()


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


def _stamp_of(path: str) -> _Stamp | None:
    def read() -> _Stamp:
        status = os.lstat(path)
        return status.st_ctime_ns, status.st_ino, status.st_size

    return _see(path, read, None)


def _time_of(folder: str) -> int:
    return _see(folder, lambda: os.stat(folder).st_mtime_ns, 0)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    def read() -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            return list(entries)

    return _see(folder, read, [])


def _see(path: str, read: Callable[[], T], gone: T) -> T:
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
