"""Globs: which files a pattern means. One dialect wherever files are selected.

``*``, ``?`` and ``[...]`` stand for characters of one name, ``**`` for any number of folders, none
too, and ``{a,b}`` for one or the other. A folder means all that is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache

ANY_DEPTH = "**"
MOST_ALTERNATIVES = 1000

_CHOICE = re.compile(r"(?<!\[)\{([^{}/]*,[^{}/]*)\}")

Parts = tuple[str, ...]


@lru_cache(maxsize=512)
def alternatives(pattern: str) -> tuple[str, ...]:
    """Return what a pattern says in each of its choices; a brace in brackets is not a choice."""
    found, whole = [pattern], list[str]()
    while found and len(found) + len(whole) < MOST_ALTERNATIVES:
        one = found.pop(0)
        choice = _CHOICE.search(one)
        if choice is None:
            whole.append(one)
        else:
            words = choice[1].split(",")
            found += [one[: choice.start()] + word + one[choice.end() :] for word in words]
    return tuple(dict.fromkeys([*whole, *found]))


@lru_cache(maxsize=512)
def name_matcher(part: str) -> Callable[[str], object]:
    """Return what says whether a part of a pattern means a name."""
    return re.compile(translate(part)).match


@lru_cache(maxsize=4096)
def fits(parts: Parts, wanted: Parts) -> bool:
    """Return whether a pattern in parts means a path in parts, or a folder that it is in."""
    if not wanted:
        return True
    if wanted[0] == ANY_DEPTH:
        return fits(parts, wanted[1:]) or (bool(parts) and fits(parts[1:], wanted))
    return bool(parts) and bool(name_matcher(wanted[0])(parts[0])) and fits(parts[1:], wanted[1:])


def selects(patterns: Sequence[str], name: str) -> bool:
    """Return whether one of the patterns means a file of a folder; `name` starts in the folder.

    A pattern without a slash means a name at any depth, one with a slash starts in the folder.
    """
    parts = tuple(name.split("/"))
    return any(fits(parts, wanted) for pattern in patterns for wanted in _parse(pattern))


def may_select_below(patterns: Sequence[str], folder: str) -> bool:
    """Return whether one of the patterns could mean a file in the folder of this name."""
    parts = tuple(folder.split("/"))
    return any(_leads_into(parts, wanted) for pattern in patterns for wanted in _parse(pattern))


@lru_cache(maxsize=512)
def _parse(pattern: str) -> tuple[Parts, ...]:
    found = []
    for one in alternatives(pattern):
        parts = tuple(part for part in one.split("/") if part not in ("", "."))
        found.append(parts if "/" in one.rstrip("/") else (ANY_DEPTH, *parts))
    return tuple(
        parts for parts in found if parts not in ((), (ANY_DEPTH,)) or ANY_DEPTH in pattern
    )


def _leads_into(folder: Parts, wanted: Parts) -> bool:
    for part, name in zip(wanted, folder, strict=False):
        if part == ANY_DEPTH:
            return True
        if not name_matcher(part)(name):
            return False
    return True
