"""Where the values of a valid JSON text are written, looked up from the top down.

What a path does not go through is skipped by the C decoder: to know one place in a text of many
values costs little more than reading them, and holds two numbers for each value passed by.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from json import JSONDecoder
from typing import Any

from pytest_reflex.text.paths import index_of

_SPACE = re.compile(r"[ \t\n\r]*")
_BETWEEN = re.compile(r"[ \t\n\r]*[,:]?[ \t\n\r]*")
_DECODER = JSONDecoder()


class JsonPlaces:
    """The places in one text, `root` where its value begins; what was looked through is kept."""

    def __init__(self, text: str) -> None:
        self.root = _end_of(_SPACE, text, 0)
        self._text = text
        self._looked_into: dict[int, _Inside] = {}

    def along(self, path: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Yield the offsets of entry and value for each step, as far as the path exists.

        An entry begins with its key; the items of a list have none.
        """
        at = self.root
        for step in path:
            if not self._text.startswith(("{", "["), at):
                return
            if at not in self._looked_into:
                self._looked_into[at] = _Inside(self._text, at)
            inside = self._looked_into[at]
            number = inside.number_of(step)
            if number is None:
                return
            yield inside.entries[number], inside.values[number]
            at = inside.values[number]


class _Inside:
    """The entries of one map or list, as far as anyone has asked."""

    def __init__(self, text: str, start: int) -> None:
        self.entries = array("q")
        self.values = array("q")
        self._text = text
        self._numbers: dict[str, int] | None = {} if text[start] == "{" else None
        self._next: int | None = _end_of(_SPACE, text, start + 1)

    def number_of(self, step: Any) -> int | None:
        """Return which entry a step leads to, None where there is none."""
        if self._numbers is not None:
            while step not in self._numbers and self._one_more():
                pass
            return self._numbers.get(step)
        index = index_of(step) if isinstance(step, str | int) else None
        if index is None:
            return None
        while not 0 <= index < len(self.values) and self._one_more():
            pass
        count = len(self.values)
        return index % count if -count <= index < count else None

    def _one_more(self) -> bool:
        # The last entry is passed by only now: what is asked for may be in it.
        at = self._next
        if at is None:
            at = _next_word(self._text, _DECODER.raw_decode(self._text, self.values[-1])[1])
        if self._text[at] in "}]":
            self._next = at
            return False
        self._next = None
        self.entries.append(at)
        if self._numbers is not None:
            key, end = _DECODER.raw_decode(self._text, at)
            self._numbers[key] = len(self.values)
            at = _next_word(self._text, end)
        self.values.append(at)
        return True


def _next_word(text: str, at: int) -> int:
    # Five million times in a text of zeros: mostly there is no blank to look for.
    if text[at] == "," and text[at + 1] not in " \t\n\r":
        return at + 1
    return _end_of(_BETWEEN, text, at)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None
    return found.end()
