"""Whether a tool ran into a rate limit: by a field of its structured output, never by its prose.

`limit` of an agent maps places to the values that mean one; a text between slashes is a pattern
over a field that carries an error message. It is looked at only where the tool says that it failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_reflex.agents.answers import STRUCTURED, Output, Source, source, values
from pytest_reflex.search.patterns import SearchError, compile_pattern

_MOST_SECONDS = 1e9
_MOST_SEARCHED = 10_000
_SEARCH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A place, and the values there that mean that a limit was reached."""

    place: Source
    wanted: tuple[int | str, ...]

    def seen(self, output: Output) -> bool:
        return any(
            _is(found, wanted) for found in values(self.place, output) for wanted in self.wanted
        )

    def texts(self, output: Output) -> Iterator[str]:
        """Yield the values at the place that are meant; of one with a group, what that holds."""
        for found in values(self.place, output):
            wanted = [one for one in self.wanted if _is(found, one)]
            if wanted:
                yield _part(str(found), wanted[0])


def read_marks(value: Any, kinds: tuple[str, ...] = STRUCTURED) -> tuple[Mark, ...]:
    """Read `limit` of an agent's table; raises ValueError with what it must be."""
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a table of places with values, not {value!r}")
    return tuple(Mark(source(place, kinds), _wanted(found)) for place, found in value.items())


def _wanted(value: Any) -> tuple[int | str, ...]:
    found = value if isinstance(value, list) else [value]
    for item in found:
        if isinstance(item, bool) or not isinstance(item, int | str) or item == "":
            raise ValueError(f"must have numbers or texts as values, not {item!r}")
        if isinstance(item, str) and (pattern := _pattern(item)) is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"has a pattern that is none: {item!r}: {error}") from None
    if not found:
        raise ValueError("needs at least one value for each place")
    return tuple(found)


def _is(found: Any, wanted: int | str) -> bool:
    if isinstance(found, bool):
        return False
    if isinstance(wanted, str) and (pattern := _pattern(wanted)) is not None:
        return isinstance(found, str) and _searched(pattern, found) is not None
    return bool(found == wanted)


def _part(found: str, wanted: int | str) -> str:
    pattern = _pattern(wanted) if isinstance(wanted, str) else None
    grouped = pattern and re.compile(pattern).groups
    return (_searched(pattern, found, r"\1") if pattern and grouped else None) or found


def _searched(pattern: str, text: str, template: str = "") -> str | None:
    """Return what a pattern finds first, None for nothing, also where it takes too long."""
    try:
        found = compile_pattern(pattern).expanded(
            text[:_MOST_SEARCHED], template, limit=1, seconds=_SEARCH_SECONDS
        )
    except SearchError:
        return None
    return found[0][2] if found else None


def _pattern(wanted: str) -> str | None:
    return wanted[1:-1] if len(wanted) > 2 and wanted[0] == wanted[-1] == "/" else None


def retry_after(places: tuple[Source, ...], output: Output) -> float | None:
    """Return how many seconds a tool asks to wait, None where it does not say."""
    for place in places:
        for found in values(place, output):
            try:
                seconds = float(found) if isinstance(found, int | float | str) else -1.0
            except ValueError:
                continue
            if not isinstance(found, bool) and 0 <= seconds <= _MOST_SECONDS:
                return seconds
    return None
