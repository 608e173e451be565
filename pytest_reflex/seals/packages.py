"""Installed packages: which of their files changed, by their stamps alone.

They are many and seldom change: a look asks for the stamp of each known file, and lists a folder
only where something was added to it or removed. Byte code in `__pycache__` does not count.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from pytest_reflex.seals.left_out import CACHES
from pytest_reflex.seals.manifest import Change, ChangeKind

Stamp = tuple[int, int, int]


class Packages:
    """The files below a folder of packages, as they are when this is made."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files: dict[str, Stamp] = {}
        self._folders: dict[str, int] = {}
        self.take()

    def take(self) -> None:
        """Know everything as it is now."""
        self._files, self._folders = {}, {}
        self._fingerprint = ""
        self._walk(self.folder)

    def fingerprint(self) -> str:
        """Return one hash over everything that is known."""
        self._fingerprint = self._fingerprint or self._hash()
        return self._fingerprint

    def _hash(self) -> str:
        digest = hashlib.sha256()
        for path, stamp in sorted(self._files.items()):
            digest.update(f"{path}\0{stamp}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def changes(self) -> Iterator[Change]:
        """Yield what was added, changed or removed."""
        for path, stamp in self._files.items():
            try:
                status = os.lstat(path)
            except OSError:
                yield Change(path, ChangeKind.REMOVED)
                continue
            if stamp != (status.st_ctime_ns, status.st_ino, status.st_size):
                yield Change(path, ChangeKind.CHANGED)
        for folder, time in self._folders.items():
            if time != _time_of(folder):
                yield from (Change(path, ChangeKind.ADDED) for path in self._added(folder))

    def _added(self, folder: str) -> Iterator[str]:
        """Yield the files of a folder that are not known, with all that is in new folders."""
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in CACHES and entry.path not in self._folders:
                    yield from self._added(entry.path)
            elif entry.path not in self._files:
                yield entry.path

    def _walk(self, top: str) -> None:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            self._folders[folder] = _time_of(folder)
            for entry in _entries(folder):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in CACHES:
                        waiting.append(entry.path)
                    continue
                status = entry.stat(follow_symlinks=False)
                stamp = status.st_ctime_ns, status.st_ino, status.st_size
                self._files[entry.path] = stamp


def _time_of(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # it is gone, or nobody may look
        return []
