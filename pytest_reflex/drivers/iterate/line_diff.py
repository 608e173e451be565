"""How many lines differ between two texts, as `git diff --numstat` counts them: added and removed.

It is the shortest edit script (Myers 1986), without the script. Where that is longer than the bound
there is a lower bound only, and so it is said.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

_MOST_EDITS = 5_000  # beyond that the search takes long

Lines: TypeAlias = "array[int]"
"""The lines of a text, each as a hash that holds within this process."""


@dataclass(frozen=True, slots=True)
class LineCount:
    """A number of lines; where it is not `exact` there are at least so many."""

    number: int
    exact: bool = True


def lines_of(data: bytes) -> Lines:
    return array("q", map(hash, data.splitlines(keepends=True)))


def changed_lines(before: Lines, after: Lines, most: int) -> LineCount | None:
    """Return how many lines were removed and added; above `most` perhaps only at least so many.

    None where the texts are too different to be counted within that.
    """
    old, new = _different(before, after)
    if not old or not new:
        return LineCount(len(old) + len(new))
    counts = Counter(old)
    counts.subtract(new)
    least = sum(map(abs, counts.values()))
    if least > most:
        return LineCount(least, exact=least == len(old) + len(new))
    found = _edits(old, new, min(most, _MOST_EDITS))
    if found is not None:
        return LineCount(found)
    return LineCount(most + 1, exact=False) if most <= _MOST_EDITS else None


def _different(before: Lines, after: Lines) -> tuple[Lines, Lines]:
    """Return what lies between the lines that two texts begin and end with alike."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def _edits(old: Sequence[int], new: Sequence[int], most: int) -> int | None:
    """Return the length of the shortest edit script; None where it is above `most`."""
    furthest = {1: 0}
    for edits in range(min(most, len(old) + len(new)) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            down, right = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
            goes_down = diagonal == -edits or (diagonal != edits and right < down)
            x = down if goes_down else right + 1
            y = x - diagonal
            while x < len(old) and 0 <= y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return edits
    return None
