"""The files that an agent may change, and paths that no artifact can be.

Promises: no link is followed out of the project; what pytest reads as configuration is never part
of it, whatever the patterns say; a file is replaced whole.
Limits: UTF-8 text only, `MOST_FILES` files of `MOST_BYTES` bytes in all.

Promises: no link is followed; what a person may have written is moved, never deleted.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_reflex.errors import (
    ArtifactError,
    ReflexError,
    StateError,
    UnreadableError,
    UsageError,
    read_or_raise,
)
from pytest_reflex.integrity.patterns import ANY_DEPTH, NOT_ENTERED, Finder
from pytest_reflex.model.plain import escape_control
from pytest_reflex.storage.atomic import remove_file, replace_file
from pytest_reflex.storage.files import read_file

MOST_FILES = 2_000
MOST_BYTES = 5_000_000
# Whatever a pattern says: these configure pytest or the interpreter.
NEVER = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.reflex.yaml", "*.pyc", "*.pyo"),
)
# Files of many tools: editable only where named literally. Their pytest sections are protected.
ONLY_BY_NAME = ("pyproject.toml", "setup.cfg", "tox.ini")
_NARROWER = "name fewer files: only those that may change"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditableFiles:
    """Patterns of paths below `root`, with slashes; a folder means everything below it.

    `*`, `?` and `[...]` stay inside a part, `**` stands for any number of folders. Names that begin
    with a dot are meant only where the pattern has the dot.
    """

    root: Path
    patterns: tuple[str, ...]

    def covers(self, path: str) -> bool:
        """Return whether a path, relative to the root and with slashes, may be changed."""
        parts = PurePosixPath(path).parts
        if not parts or path != "/".join(parts) or parts[0] == "/" or ".." in parts:
            return False
        if not NOT_ENTERED.isdisjoint(parts) or not path.isprintable():
            return False
        if any(fnmatchcase(parts[-1], name) for name in NEVER):
            return False
        if parts[-1] in ONLY_BY_NAME:
            return path in self.patterns
        return any(_fits(parts, PurePosixPath(pattern).parts) for pattern in self.patterns)

    def candidates(self) -> list[str]:
        """Return the paths of what is there, is not a folder and is meant, sorted; links too."""
        finder = Finder(self.root)
        wanted = (p for pattern in self.patterns for p in (pattern, f"{pattern}/{ANY_DEPTH}"))
        found = {os.path.relpath(path, self.root) for one in wanted for path in finder.find(one)}
        names = sorted(name.replace(os.sep, "/") for name in found)
        return [name for name in names if self.covers(name)]

    def paths(self) -> list[str]:
        """Return the files that are there, sorted; links are none."""
        return [name for name in self.candidates() if self._is_ours(name)]

    def read(self) -> dict[str, str]:
        """Return the text of every file by path; raises ArtifactError where one is not text."""
        paths, size = self.paths(), 0
        if len(paths) > MOST_FILES:
            raise ArtifactError(
                f"{len(paths):,} files may be changed; {MOST_FILES:,} are allowed", hint=_NARROWER
            )
        texts: dict[str, str] = {}
        for path in paths:
            try:
                data = read_file(self.root / path)
            except FileNotFoundError:
                continue
            size += len(data)
            if size > MOST_BYTES:
                raise ArtifactError(
                    f"the files that may be changed hold more than {MOST_BYTES:,} bytes "
                    f"(with {path})",
                    hint=_NARROWER,
                )
            texts[path] = as_text(path, data)
        return texts

    def write(self, texts: Mapping[str, str]) -> list[str]:
        """Make the files what `texts` says, each whole or not at all; return those that changed.

        An editable file that is not in `texts` is removed. Raises StateError, UsageError.
        """
        gone = [path for path in self.paths() if path not in texts]
        for path in gone:  # first: a file may be where a folder has to be
            remove_file(self.root / path)
        changed = [path for path, text in sorted(texts.items()) if not self._holds(path, text)]
        for path in changed:
            self.write_one(path, texts[path])
        return [*changed, *gone]

    def _holds(self, path: str, text: str) -> bool:
        try:
            return self._is_ours(path) and read_file(self.root / path) == text.encode()
        except UnreadableError:
            raise
        except (FileNotFoundError, StateError):
            return False

    def write_one(self, path: str, text: str) -> None:
        """Write one file; raises StateError, and UsageError where it may not be changed."""
        target = self.root / path
        if not self.covers(path) or not self._is_inside(target.parent):
            raise UsageError(f"{path} may not be changed", hint="it is none of the artifacts")
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode(), mode=0o644)

    def _is_ours(self, path: str) -> bool:
        try:
            status = read_or_raise(path, lambda: os.lstat(self.root / path))
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and self._is_inside((self.root / path).parent)

    def _is_inside(self, folder: Path) -> bool:
        return folder.resolve().is_relative_to(self.root.resolve())


def _fits(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == ANY_DEPTH and _fits(parts, wanted[1:]):
        return True
    if not parts or (parts[0].startswith(".") and not wanted[0].startswith(".")):
        return False
    if wanted[0] == ANY_DEPTH:
        return _fits(parts[1:], wanted)
    return fnmatchcase(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])


def as_text(path: str, data: bytes) -> str:
    """Return the text of a file; raises ArtifactError where it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError(
            f"is not UTF-8 text at byte {error.start}", hint=_NARROWER, about=path
        ) from None
    if "\0" in text:
        raise ArtifactError("is binary: it holds a NUL", hint=_NARROWER, about=path)
    return text


def as_patterns(given: Iterator[str] | tuple[str, ...] | list[str], root: Path) -> tuple[str, ...]:
    """Return patterns relative to the root; a folder (that is there, or by its slash) means all.

    Raises UsageError for one that leads out of the root.
    """
    found: dict[str, None] = {}
    for text in given:
        full = os.path.normpath(os.path.join(root, text))
        name = os.path.relpath(full, root).replace(os.sep, "/")
        if name.startswith("../") or name in (".", ".."):
            raise UsageError(
                f"artifacts {escape_control(text)!r} is not below {root}",
                hint="name files or folders of the project",
            )
        folder = text.endswith("/") or os.path.isdir(full)
        found[f"{name}/{ANY_DEPTH}" if folder else name] = None
    return tuple(found)


Links = Mapping[str, str]


def links_of(editable: EditableFiles) -> dict[str, str]:
    """Return where each link leads on the way to what patterns mean, by its path.

    A socket or the like leads nowhere: an empty string.
    """
    found = {}
    for path in editable.candidates():
        for step in _way(path):
            with suppress(OSError):
                mode = os.lstat(editable.root / step).st_mode
                if stat.S_ISLNK(mode):
                    found[step] = os.readlink(editable.root / step)
                elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    found[step] = ""
    return found


def faults(editable: EditableFiles, recorded: Iterable[str], links: Links) -> dict[str, str]:
    """Return why something is not an artifact, by the path that has to go.

    `recorded` are the artifacts that were there before, `links` those links that may stay.
    """
    known = set(recorded)
    found: dict[str, str] = {}
    for path in sorted({*editable.candidates(), *known}):
        place, why = _fault(editable.root, path, links, recorded=path in known)
        if why:
            found[place] = f"{place} {why}"
    return found


def _status(path: Path) -> os.stat_result:
    return read_or_raise(path, lambda: os.lstat(path))


def _fault(root: Path, path: str, links: Links, *, recorded: bool) -> tuple[str, str]:
    mode = 0
    for step in _way(path):
        try:
            mode = _status(root / step).st_mode
        except OSError:  # what is not there was removed, and that is allowed
            return step, ""
        if stat.S_ISLNK(mode):
            if os.readlink(root / step) != links.get(step):
                return step, "is a symbolic link, and no file of the project"
            if step == path or not (root / step).resolve().is_relative_to(root.resolve()):
                return step, ""
    if stat.S_ISDIR(mode):
        return path, "is a folder now, and no file" if recorded else ""
    if not stat.S_ISREG(mode):
        return path, "" if path in links else "is not a regular file"
    try:
        as_text(path, read_file(root / path, MOST_BYTES))
    except FileNotFoundError:
        return path, ""
    except UnreadableError:  # it may be one
        raise
    except ReflexError as error:
        return path, error.why
    return path, ""


def _way(path: str) -> Iterator[str]:
    """Yield the folders that lead to a path, and the path."""
    parts = PurePosixPath(path).parts
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count])


def clear(root: Path, path: str, aside: Path) -> None:
    """Take away what is at a path: links and empty folders for good, anything else to `aside`.

    Raises StateError.
    """
    place = root / path
    try:
        mode = os.lstat(place).st_mode
        if stat.S_ISDIR(mode):
            with suppress(OSError):
                place.rmdir()
                return
        elif not stat.S_ISREG(mode):
            place.unlink()
            return
        shutil.move(place, _free(aside / path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StateError(
            f"{place} could not be moved to {aside}: {error.strerror or error}",
            hint="move it away and resume",
        ) from None


def _free(wanted: Path) -> Path:
    """Return a path that nothing has, in a folder that is there."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    found, number = wanted, 1
    while os.path.lexists(found):
        number += 1
        found = wanted.with_name(f"{wanted.name}.{number}")
    return found


def clear_way(root: Path, path: str, aside: Path, links: Links) -> None:
    """Take away whatever keeps a file from being written at a path; raises StateError."""
    for step in _way(path):
        place = root / step
        linked = place.is_symlink() and step not in links
        if linked or (os.path.lexists(place) and place.is_dir() is (step == path)):
            clear(root, step, aside)
