"""What a session of a loop imports from outside the project, and did not at the start.

All in the project is looked at between sessions (`drivers/reflex/project_watch.py`). Limits: code
of the artifacts runs in the session and could do there what it likes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.pytest_loop.child import Session
from pytest_reflex.drivers.pytest_loop.territory import Territory
from pytest_reflex.integrity.tool_inputs import CONFIGURATIONS

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The files outside the project that the first session imported, as run_started keeps them."""

    read: tuple[str, ...]

    @classmethod
    def of(cls, session: Session, territory: Territory) -> Start:
        imported = (_inside(path, territory.root) for path in session.imported)
        return cls(read=tuple(sorted(path for path in imported if os.path.isabs(path))))

    def to_json(self) -> dict[str, Any]:
        return {"read": list(self.read)}

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Start:
        return cls(read=tuple(wire["read"]))


class TreeWatch:
    """Hears what each session imported, and says what of that nobody knew at the start."""

    def __init__(self, start: Start, root: Path) -> None:
        self._known, self._root = frozenset(start.read), root
        self._strange: tuple[str, ...] = ()

    def tampering(self) -> str:
        """Return what was imported and came from elsewhere; empty for nothing."""
        return _named(f"{path} was imported, and is outside the project" for path in self._strange)

    def saw(self, session: Session) -> None:
        """Take note of a session."""
        imported = sorted(_inside(path, self._root) for path in session.imported)
        self._strange = tuple(p for p in imported if os.path.isabs(p) and p not in self._known)


def configurations(territory: Territory) -> list[str]:
    """Return the files that may be changed in all but what they say to pytest."""
    return [name for name in CONFIGURATIONS if territory.covers(name)]


def _inside(path: str, root: Path) -> str:
    """Return a path as it is noted: relative to the root where it lies below it, with slashes."""
    base = os.path.realpath(root) + os.sep
    real = os.path.realpath(path)
    return (real.removeprefix(base) if real != base[:-1] else ".").replace(os.sep, "/")


def _named(found: Iterable[str]) -> str:
    lines = list(dict.fromkeys(found))
    more = f"; and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
    return "; ".join(lines[:_MOST_NAMED]) + more
