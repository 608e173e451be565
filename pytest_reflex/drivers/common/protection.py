"""Which files a gate relies on, and which of them are not as they were when the run began.

``Protection`` looks once when it is made; ``find_modified`` looks again. A file is compared by its
content (of configuration files by the sections that count), a program also by whether it can be
executed, a link also by its target. Promises: times alone are not a change, and a time that was set
back hides none; nothing that is not a regular file is opened.
Limits: a file of more than 16 MB is compared by its stamp; code that a gate runs can change a file
and put it back while it runs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_reflex.errors import ReflexError
from pytest_reflex.integrity.manifest import Stamp, is_settled, stamp_of
from pytest_reflex.integrity.patterns import ANY_DEPTH, NOT_ENTERED, Finder, is_meant
from pytest_reflex.integrity.tool_inputs import extract_sections
from pytest_reflex.model.plain import list_first, one_line

MOST_BYTES = 16_000_000
_SHOWN = 3
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd")

Sections = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliedFiles:
    """What a gate relies on; all paths are absolute.

    `files` are paths with the sections that count (none named: all of the file), there or not;
    `programs` are paths of which it counts too whether they can be executed. `patterns` find files
    as `integrity.patterns` has it, `named` files by their name anywhere below the project. In each
    folder of `module_folders` no module of `module_names` may appear that was not there before.
    """

    files: Mapping[str, Sections] = field(default_factory=dict)
    programs: frozenset[str] = frozenset()
    patterns: Mapping[str, Sections] = field(default_factory=dict)
    named: Mapping[str, Sections] = field(default_factory=dict)
    module_folders: frozenset[str] = frozenset()
    module_names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionStart:
    """How files were `found` when a run began, and the own `modules` of each folder."""

    found: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, frozenset[str]] = field(default_factory=dict)


Modified = Mapping[str, tuple[str, str]]
"""Files by their name, each with what it was at the start of a run, and what it is now."""


class Protection:
    """The files that one gate relies on, as they were when this was made, or at a `start`."""

    def __init__(
        self, project: Path, relied: ReliedFiles, start: ProtectionStart | None = None
    ) -> None:
        self._project, self._relied = os.path.abspath(project), relied
        self._known: dict[tuple[str, Sections], tuple[Stamp, str]] = {}
        if start is None:
            self._own: Mapping[str, frozenset[str]] = {
                folder: frozenset(name for name, _ in modules_in(folder)) & relied.module_names
                for folder in relied.module_folders
            }
            self._before = self._look()
        else:
            self._own, self._before = start.modules, dict(start.found)

    def start(self) -> ProtectionStart:
        """Return how everything was when the run began."""
        found = {path: text for path, text in self._before.items() if text}
        return ProtectionStart(found=found, modules=self._own)

    def files(self) -> tuple[str, ...]:
        """Return the names of the files that were there at the start."""
        return tuple(
            sorted(self._display_path(path) for path, found in self._before.items() if found)
        )

    def find_modified(self) -> Modified:
        """Return the names of files that were changed, added or removed since the start.

        Raises ReflexError where a file cannot be read now, although it is there.
        """
        before, now = self._before, self._look()
        found = {
            self._display_path(path): (old, new)
            for path in {*before, *now}
            if (old := before.get(path, "")) != (new := now.get(path, ""))
        }
        return dict(sorted(found.items()))

    def remember(self, modified: Modified) -> None:
        """Take files that an earlier sitting of the run left modified for what they were before.

        Files that were changed again since are taken as they are now: a person was there.
        """
        for name, (old, new) in modified.items():
            path = os.path.join(self._project, name)
            if self._covers(name, path) and self._before.get(path, "") == new:
                self._before[path] = old

    def _covers(self, name: str, path: str) -> bool:
        """Return whether a file is relied on as the gate is declared now, there or not."""
        patterns = tuple(self._relied.patterns)
        is_named = os.path.basename(path) in self._relied.named
        return path in self._before or is_named or is_meant(name, patterns)

    def _look(self) -> dict[str, str]:
        relied, found = self._relied, dict[str, str]()
        for path, sections in relied.files.items():
            found[path] = self._print(path, sections)
        for path in relied.programs:
            found[path] = self._print(path, (), is_program=True)
        finder = Finder(Path(self._project))
        for pattern, sections in relied.patterns.items():
            for path in finder.candidates(pattern):
                found[path] = self._print(path, sections, is_program=not sections)
        if relied.named:
            for path in _below(self._project, relied.named):
                # A file that is relied on whole is not also looked at in part.
                if path not in found:
                    found[path] = self._print(path, relied.named[os.path.basename(path)])
        return found | self._modules()

    def _modules(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for folder in self._relied.module_folders:
            names = self._relied.module_names - self._own.get(folder, frozenset())
            found |= {path: "module" for name, path in modules_in(folder) if name in names}
        return found

    def _print(self, path: str, sections: Sections, *, is_program: bool = False) -> str:
        """Return a text that is the same iff what counts of a path is; empty: nothing is there."""
        try:
            status = os.lstat(path)
            link = ""
            if stat.S_ISLNK(status.st_mode):
                link = f"link to {os.readlink(path)!r}: "
                status = os.stat(path)
            if stat.S_ISDIR(status.st_mode):
                return ""
            if not stat.S_ISREG(status.st_mode):
                return f"{link}no regular file"
            content = self._content(path, sections, status)
        except OSError as error:
            if error.errno in _ABSENT:
                return "a link that leads nowhere" if os.path.islink(path) else ""
            if error.errno in (errno.EACCES, errno.EPERM):
                return "unreadable"
            why = error.strerror or str(error)
            raise ReflexError(
                f"{one_line(self._display_path(path))} could not be read: {why}"
            ) from None
        if not content:
            return ""
        executable = " executable" if is_program and status.st_mode & 0o111 else ""
        return f"{link}{content}{executable}"

    def _content(self, path: str, sections: Sections, status: os.stat_result) -> str:
        stamp, key = stamp_of(status), (path, sections)
        if status.st_size > MOST_BYTES:
            return f"stamp {stamp}"
        known = self._known.get(key)
        if known and known[0] == stamp:
            return known[1]
        with open(os.open(path, _OPEN), "rb") as file:
            data = file.read(MOST_BYTES + 1)
        part = extract_sections(path, data, sections) if sections else data
        digest = "" if part is None else hashlib.sha256(part).hexdigest()
        if is_settled(status):
            self._known[key] = stamp, digest
        return digest

    def _display_path(self, path: str) -> str:
        return path.removeprefix(self._project.rstrip(os.sep) + os.sep)


def format_modified(paths: Sequence[str]) -> str:
    """Return what a gate says that relies on files which were modified."""
    return f"modified during the run: {list_first(map(one_line, paths), _SHOWN)}"


def within(pattern: str) -> tuple[str, ...]:
    """Return the patterns of what a pattern finds, and of what is in the folders that it finds."""
    return (pattern, f"{pattern.rstrip('/')}/{ANY_DEPTH}")


def modules_in(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the modules that Python finds in a folder: name and file."""
    for entry in _entries(folder):
        if module := _module(entry):
            yield entry.name.partition(".")[0], module


def _below(project: str, names: Mapping[str, object]) -> Iterator[str]:
    """Yield the files of some names below a folder; a link to a folder is followed once."""
    waiting, followed = [project], {os.path.realpath(project)}
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.name in names:
                yield entry.path
            if entry.name in NOT_ENTERED or not _is_folder(entry):
                continue
            if entry.is_symlink():
                real = os.path.realpath(entry.path)
                if real in followed:
                    continue
                followed.add(real)
            waiting.append(entry.path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        if error.errno in {*_ABSENT, errno.EACCES, errno.EPERM}:
            return []
        why = error.strerror or str(error)
        raise ReflexError(f"{one_line(folder)} could not be read: {why}") from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _module(entry: os.DirEntry[str]) -> str:
    """Return the file that makes an entry of a folder a module; empty where it is none.

    A folder without an ``__init__`` never comes before a module of its name.
    """
    if not _is_folder(entry):
        return entry.path if entry.name.endswith(MODULE_SUFFIXES) else ""
    for inner in _entries(entry.path):
        if inner.name.startswith("__init__.") and inner.name.endswith(MODULE_SUFFIXES):
            return inner.path
    return ""
