"""Patterns of paths: which files they find below a folder, and whether one of them means a name.

A pattern is a glob (see `model.globs`) that is relative to a root, or absolute; ``escape_path``
makes one of a path.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from glob import escape, has_magic
from pathlib import Path, PurePath

from pytest_reflex.errors import is_transient, read_again, read_or_raise
from pytest_reflex.model.globs import ANY_DEPTH as ANY_DEPTH
from pytest_reflex.model.globs import alternatives, fits, name_matcher

# Folders that ``**`` does not enter: nothing that pytest collects lies there.
NOT_ENTERED = frozenset(
    {
        *(".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", ".venv", "venv"),
        *(".pytest_cache", ".mypy_cache", ".ruff_cache"),
    }
)

Names = tuple[list[str], list[str]]


def escape_path(path: Path | str) -> str:
    """Return the pattern that means exactly this path."""
    return escape(PurePath(path).as_posix()).replace("{", "[{]")


def escape_paths(paths: Iterable[Path | str]) -> list[str]:
    """Return `escape_path` of each path."""
    return [escape_path(path) for path in paths]


class Finder:
    """Finds files by patterns; a folder is read once, however many patterns lead through it."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.abspath(root)
        self._read: dict[str, Names] = {}
        self._followed: set[str] = set()

    def find(self, pattern: str) -> Iterator[str]:
        """Yield the paths of what is there, is not a folder, and matches."""
        for path in self.candidates(pattern):
            if _is_file(path):
                yield path

    def all_candidates(self, patterns: Iterable[str], apart: Sequence[str]) -> dict[str, str]:
        """Return the candidates of all patterns by name, without what an `apart` pattern means.

        A name is relative to the root where the path lies below it, with slashes, and is printable.
        """
        base = self._root.rstrip(os.sep) + os.sep
        found: dict[str, str] = {}
        for pattern in patterns:
            for path in self.candidates(pattern):
                name = path.removeprefix(base).replace(os.sep, "/")
                if not name.isascii():
                    # A name that is not UTF-8 could not be written into a history.
                    name = name.encode("utf-8", "backslashreplace").decode()
                if name not in found and not is_meant(name, apart):
                    found[name] = path
        return found

    def candidates(self, pattern: str) -> Iterator[str]:
        """Yield the paths that match; where a last part has no wildcard, whatever is there."""
        for one in _choices(pattern):
            fixed, parts = _split(one)
            self._followed = set()
            start = os.path.join(self._root, fixed)
            if parts:
                yield from self._below(start, parts)
            else:
                yield start

    def _below(self, folder: str, parts: tuple[str, ...]) -> Iterator[str]:
        part, rest = parts[0], parts[1:]
        if part == ANY_DEPTH:
            yield from self._below(folder, rest or ("*",))
            for name in self._names(folder)[0]:
                path = os.path.join(folder, name)
                if name not in NOT_ENTERED and self._is_new(path):
                    yield from self._below(path, parts)
        elif not has_magic(part):
            path = os.path.join(folder, part)
            yield from self._below(path, rest) if rest else (path,)
        else:
            folders, files = self._names(folder)
            is_wanted = name_matcher(part)
            for name in folders if rest else files:
                if is_wanted(name):
                    path = os.path.join(folder, name)
                    yield from self._below(path, rest) if rest else (path,)

    def _is_new(self, folder: str) -> bool:
        """Return whether a folder is to be entered: a link that was followed before is not."""
        if not os.path.islink(folder):
            return True
        real = os.path.realpath(folder)
        known = real in self._followed
        self._followed.add(real)
        return not known

    def _names(self, folder: str) -> Names:
        """Return the names of the folders and of everything else in a folder."""
        if folder not in self._read:
            # A folder that is missing or not readable has no names.
            self._read[folder] = ([], [])
            with suppress(OSError):
                try:
                    self._read[folder] = _list_names(folder)
                except OSError as error:
                    self._read[folder] = read_again(folder, error, lambda: _list_names(folder))
        return self._read[folder]


def _is_file(path: str) -> bool:
    """Return whether something is there that is not a folder, nor a link to one."""
    try:
        mode = read_or_raise(path, lambda: os.lstat(path)).st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        with suppress(OSError):
            mode = read_or_raise(path, lambda: os.stat(path)).st_mode
    return not stat.S_ISDIR(mode)


def _list_names(folder: str) -> Names:
    found: Names = ([], [])
    with os.scandir(folder) as entries:
        for entry in entries:
            found[not _is_folder(entry)].append(entry.name)
    return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as error:
        if is_transient(error):
            raise
        return False  # a link that leads to itself


@lru_cache(maxsize=4096)
def _split(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Return the path that a pattern begins with, and the parts from the first wildcard on."""
    parts = PurePath(pattern).parts
    count = next((n for n, part in enumerate(parts) if has_magic(part)), len(parts))
    return os.path.join(*parts[:count]) if count else "", parts[count:]


def is_meant(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a pattern matches a name (parts joined by ``/``) or a folder that it is in."""
    parts = PurePath(name).parts if patterns else ()
    return any(
        fits(parts, PurePath(one).parts) for pattern in patterns for one in _choices(pattern)
    )


def _choices(pattern: str) -> tuple[str, ...]:
    return alternatives(pattern) if "{" in pattern else (pattern,)
