"""What must not change while a loop over a session runs: all that decides about it, but its files.

At the start everything is noted that the first session imported or read as configuration, what the
formatters of rules are, and where code could enter that is not there yet: conftest.py files,
suites, tests, modules that would stand before known ones, hooks of the interpreter. What tests read
besides (data) is held from one session to the next, because a session may write it itself.
Limits: what commands read that tests start is not known; code of the artifacts runs in the session
and could do there what it likes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.loops.judges import files_of_commands
from pytest_reflex.seals.manifest import Change, Manifest, Print, changes, take
from pytest_reflex.seals.patterns import NOT_ENTERED, escaped
from pytest_reflex.seals.world import CONFIGURATIONS, interpreter_files, pytest_files
from pytest_reflex.treeloop.child import Session
from pytest_reflex.treeloop.territory import Territory

_EVERYWHERE = ("conftest.py", "sitecustomize.py", "usercustomize.py", "*.pth", "*.reflex.yaml")
_SPEAKS = (".py", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".pth")
_HOOKS = (".pth", "entry_points.txt", "customize.py", "customize/__init__.py", "pyvenv.cfg")
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What was noted at the start, as run_started keeps it; paths below the root are relative.

    `read` are the files that the session imported or read as configuration, `names` the modules
    that nothing new may stand before in the folders `search`, `tests` the patterns of test files.
    """

    read: tuple[str, ...]
    names: tuple[str, ...]
    search: tuple[str, ...]
    tests: tuple[str, ...]
    files: Mapping[str, str]

    @classmethod
    def of(cls, session: Session, territory: Territory) -> Start:
        """Note everything, with hashes, as it is now."""
        known = {_inside(path, territory.root) for path in session.imported}
        known |= {p for p in _opened(session, territory.root) if p.endswith(_SPEAKS)}
        known |= _formatters(session, territory.root)
        noted = cls(
            read=tuple(sorted(path for path in known if not territory.covers(path))),
            names=tuple(sorted(name for name in session.names if name.isidentifier())),
            search=tuple(sorted(_inside(path, territory.root) for path in session.search)),
            tests=session.python_files,
            files={},
        )
        found = take(noted._patterns(), root=territory.root).files
        installed = _Installed(territory.root)
        digests = {
            path: one.digest for path, one in found.items() if one.counts and path not in installed
        }
        return cls(
            read=noted.read,
            names=noted.names,
            search=noted.search,
            tests=noted.tests,
            files=digests,
        )

    def manifest(self, root: Path) -> Manifest:
        empty = take((), root=root)
        return Manifest(
            root=empty.root,
            patterns=tuple(dict.fromkeys(self._patterns())),
            files={path: Print(digest) for path, digest in self.files.items()},
        )

    def _patterns(self) -> Iterator[str]:
        yield from (str(Path(one)) for one in pytest_files((Path(), *map(Path, self.search))))
        yield from (f"**/{name}" for name in (*_EVERYWHERE, *self.tests))
        yield from interpreter_files()
        yield from map(escaped, self.read)
        for folder in self.search:
            for name in self.names:
                place = escaped(Path(folder) / name)
                yield from (f"{place}.py", f"{place}/__init__.py")

    def to_json(self) -> dict[str, Any]:
        return {
            "read": list(self.read),
            "names": list(self.names),
            "search": list(self.search),
            "tests": list(self.tests),
            "files": dict(self.files),
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Start:
        lists = {key: tuple(wire[key]) for key in ("read", "names", "search", "tests")}
        return cls(**lists, files=wire["files"])


def _formatters(session: Session, root: Path) -> set[str]:
    """Return the files that the commands of formatters name."""
    rules = (rule for part in session.parts for rule in part.rules.values())
    commands = [command["argv"] for rule in rules for command in rule["commands"].values()]
    patterns = files_of_commands(commands, project=root, artifact=root)
    return set(take(patterns, root=root).files)


class TreeWatch:
    """Looks whether things are as at the start; `began` is when that was (ns since the epoch)."""

    def __init__(self, start: Start, territory: Territory, began: int) -> None:
        self._territory, self._began = territory, began
        self._manifest = start.manifest(territory.root)
        self._installed = _Installed(territory.root)
        self._data: Manifest | None = None
        self._read = frozenset(start.read)
        self._planted: tuple[str, ...] = ()
        self._strange: tuple[str, ...] = ()

    def tampering(self) -> str:
        """Return what was added, changed or removed that may not be; empty for nothing."""
        found = [str(one) for one in self._changes()]
        found += (f"{path} was added and imported" for path in self._planted)
        found += (f"{path} was imported, and is outside the project" for path in self._strange)
        return _told(found)

    def _changes(self) -> Iterator[Change]:
        looks = (self._manifest, self._data) if self._data else (self._manifest,)
        for change in (one for manifest in looks for one in changes(manifest)):
            if change.path in self._installed:
                continue
            if change.path in CONFIGURATIONS or not self._territory.covers(change.path):
                yield change

    def saw(self, session: Session) -> None:
        """Take note of a session: what it imported that was not there, and what tests read."""
        root = self._territory.root
        known = self._manifest.files
        imported = sorted(_inside(path, root) for path in session.imported)
        self._strange = tuple(p for p in imported if os.path.isabs(p) and p not in self._read)
        self._planted = tuple(
            path
            for path in imported
            if path not in known and not os.path.isabs(path) and self._is_new(path)
        )
        data = (p for p in _opened(session, root) if not p.endswith(_SPEAKS))
        unowned = [escaped(path) for path in data if not self._territory.covers(path)]
        self._data = take(unowned, root=root)

    def _is_new(self, path: str) -> bool:
        if self._territory.covers(path):
            return False
        try:
            return os.stat(self._territory.root / path).st_ctime_ns > self._began
        except OSError:
            return False


class _Installed:
    """What lies in an environment below the root and is started by no hook of the interpreter."""

    def __init__(self, root: Path) -> None:
        self._prefix = _inside(sys.prefix, root) + "/"

    def __contains__(self, path: str) -> bool:
        return path.startswith(self._prefix) and not path.endswith(_HOOKS)


def _opened(session: Session, root: Path) -> Iterator[str]:
    """Yield what a session read and did not write, below the root and not in a cache."""
    for path in session.opened - session.written:
        name = _inside(path, root)
        if NOT_ENTERED.isdisjoint(name.split("/")) and os.path.isfile(path):
            yield name


def _inside(path: str, root: Path) -> str:
    """Return a path as it is noted: relative to the root where it lies below it, with slashes."""
    base = os.path.realpath(root) + os.sep
    real = os.path.realpath(path)
    return (real.removeprefix(base) if real != base[:-1] else ".").replace(os.sep, "/")


def _told(found: Iterable[str]) -> str:
    lines = list(dict.fromkeys(found))
    more = f"; and {len(lines) - _MOST_TOLD} more" if len(lines) > _MOST_TOLD else ""
    return "; ".join(lines[:_MOST_TOLD]) + more


def inventory(root: Path, apart: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of every file below the root, caches and the folder `apart` left out."""
    found: dict[str, tuple[int, int]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in NOT_ENTERED and os.path.join(folder, name) != str(apart)
        ]
        for name in names:
            path = os.path.join(folder, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            where = os.path.relpath(path, root).replace(os.sep, "/")
            found[where] = (status.st_size, status.st_mtime_ns)
    return found
