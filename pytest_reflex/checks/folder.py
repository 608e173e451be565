"""What a folder holds: the files that are read with it, and what is left out, with the reason.

Promises: every entry below the folder is a file, lies in a folder that was listed, or is left out
by a reason of its own; a file is never opened here, and no link is followed twice.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pytest_reflex.errors import read_twice
from pytest_reflex.model.artifact import Reason, SkippedFile

EXCLUDED_NAMES = frozenset(
    {
        *(".git", ".hg", ".svn"),
        *(".venv", "node_modules", "__pycache__", ".tox", ".nox"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    }
)
"""Names of files and folders, at any depth, that belong to tools and not to the artifact."""

SPECIAL_FILES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
OF_OURS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors of this process, which do not concern the file that it could not read."""

_LEADS_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class TooManyFilesError(Exception):
    """A folder holds more files than are read."""


@dataclass(slots=True)
class Listing:
    """The files by their names in the folder, and what was left out."""

    files: dict[str, Path] = field(default_factory=dict)
    left_out: list[SkippedFile] = field(default_factory=list)

    def leave_out(
        self, path: str, reason: Reason, detail: str = "", *, is_folder: bool = False
    ) -> None:
        one = SkippedFile(path=path, reason=reason, detail=detail, is_folder=is_folder)
        self.left_out.append(one)


def list_folder(folder: Path, *, most: int, outside: bool = False) -> Listing:
    """Return what the folder holds; with `outside`, links that lead out of it are followed.

    Raises OSError where the folder itself cannot be listed, TooManyFilesError beyond `most` files.
    """
    walk = _Walk(folder, most, outside)
    walk.run()
    return walk.listing


def _entries(path: str) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return sorted(entries, key=lambda entry: entry.name)


class _Walk:
    def __init__(self, folder: Path, most: int, outside: bool) -> None:
        self.listing = Listing()
        self._most, self._outside = most, outside
        self._root = os.path.realpath(folder)
        self._inside = self._root.rstrip(os.sep) + os.sep
        self._followed: dict[str, str] = {}  # where links led, and by which name they were read
        self._waiting = [(os.fspath(folder), "")]

    def run(self) -> None:
        while self._waiting:
            path, name = self._waiting.pop()
            try:
                found = read_twice(partial(_entries, path))
            except OSError as error:
                if not name:
                    raise
                self._note_error(name, error)
                continue
            for entry in found:
                below = f"{name}/{entry.name}" if name else entry.name
                try:
                    self._sort(entry, below)
                except OSError as error:
                    self._note_error(below, error)

    def _note_error(self, name: str, error: OSError) -> None:
        if error.errno == errno.ENOENT:  # gone since its folder was listed
            return
        if error.errno in OF_OURS:
            raise error
        why = error.strerror or str(error)
        self.listing.leave_out(name, Reason.UNREADABLE, why, is_folder=True)

    def _sort(self, entry: os.DirEntry[str], name: str) -> None:
        if entry.name in EXCLUDED_NAMES:
            self.listing.leave_out(name, Reason.EXCLUDED, is_folder=True)
        elif entry.is_symlink():
            self._sort_link(entry.path, name)
        elif entry.is_dir(follow_symlinks=False):
            self._waiting.append((entry.path, name))
        elif entry.is_file(follow_symlinks=False):
            self._add(name, entry.path)
        else:
            self._leave_special(name, entry.stat(follow_symlinks=False).st_mode)

    def _sort_link(self, path: str, name: str) -> None:
        real = os.path.realpath(path)
        stays = real == self._root or real.startswith(self._inside)
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            if error.errno in _LEADS_NOWHERE:
                self.listing.leave_out(name, Reason.DANGLING_LINK)
            elif stays or self._outside:
                self._note_error(name, error)
            else:
                self.listing.leave_out(name, Reason.LINK_OUTSIDE, real, is_folder=True)
            return
        is_folder = stat.S_ISDIR(mode)
        if stat.S_ISSOCK(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            self._leave_special(name, mode)
        elif not stays and not self._outside:
            self.listing.leave_out(name, Reason.LINK_OUTSIDE, real, is_folder=is_folder)
        elif is_folder:
            self._sort_linked_folder(path, name, real, stays)
        elif stat.S_ISREG(mode):
            self._add(name, path)
        else:
            self._leave_special(name, mode)

    def _sort_linked_folder(self, path: str, name: str, real: str, stays: bool) -> None:
        if stays:
            target = os.path.relpath(real, self._root).replace(os.sep, "/")
            excluded = not EXCLUDED_NAMES.isdisjoint(target.split("/"))
            reason = Reason.EXCLUDED if excluded else Reason.LINK_INSIDE
            self.listing.leave_out(name, reason, target, is_folder=True)
        elif real in self._followed:
            self.listing.leave_out(name, Reason.LINK_INSIDE, self._followed[real], is_folder=True)
        else:
            self._followed[real] = name
            self._waiting.append((path, name))

    def _leave_special(self, name: str, mode: int) -> None:
        what = SPECIAL_FILES.get(stat.S_IFMT(mode), "a special file")
        # Reading a pipe may give any text.
        reason = Reason.UNREADABLE if stat.S_ISFIFO(mode) else Reason.SPECIAL
        self.listing.leave_out(name, reason, what)

    def _add(self, name: str, path: str) -> None:
        self.listing.files[name] = Path(path)
        if len(self.listing.files) > self._most:
            raise TooManyFilesError
