"""What the links of a project lead to: a look at the project does not follow them.

Limit: of a folder outside with more than `MOST_FILES` files, and of a file above `MOST_BYTES`,
nothing is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.seals.left_out import is_left_out
from pytest_reflex.seals.patterns import escaped

MOST_FILES = 10_000
MOST_BYTES = 16_000_000
_OF_SYSTEM = ("/dev/", "/proc/", "/sys/")
_ORDINARY = ("/dev/shm/",)


def is_of_system(path: str) -> bool:
    """Return whether a path is one of the kernel's own: what lies there changes all the time."""
    return path.startswith(_OF_SYSTEM) and not path.startswith(_ORDINARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Patterns of the files, and the folders, that links lead to and no look comes to."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, links: Iterable[str], project: Path, state: Path | None = None) -> Behind:
        """Return what `links`, relative to the project, lead to, without what holds `state`."""
        base = os.path.realpath(project)
        found = dict.fromkeys(os.path.realpath(os.path.join(base, link)) for link in links)
        own = os.path.realpath(state) + os.sep if state else ""
        places = [
            place
            for place in found
            if not _is_looked_at(place, base)
            and not is_of_system(place)
            and not own.startswith(place + os.sep)
        ]
        return cls(
            files=tuple(escaped(place) for place in places if _is_small(place)),
            folders=tuple(place for place in places if _is_few(place, base)),
        )


def _is_looked_at(place: str, base: str) -> bool:
    inside = os.path.relpath(place, base).replace(os.sep, "/")
    return not inside.startswith("../") and not is_left_out(inside)


def _is_small(place: str) -> bool:
    with suppress(OSError):  # it may go at this moment
        return os.path.isfile(place) and os.path.getsize(place) <= MOST_BYTES
    return False


def _is_few(place: str, base: str) -> bool:
    """Return whether a folder outside the project holds few enough files, and not the project."""
    if not os.path.isdir(place) or os.path.commonpath([place, base]) in (place, base):
        return False
    count = 0
    for _, _, names in os.walk(place):
        count += len(names)
        if count > MOST_FILES:
            return False
    return True
