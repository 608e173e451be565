"""What changed between two texts, small enough for a line of history, and how to apply it.

A delta is a list of steps over lines that end with LF: ["=", n] keeps n lines, ["-", n] drops n,
["+", text] adds text. Applied to the text it was made from, it gives the other text exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pytest_reflex.errors import StateError
from pytest_reflex.storage.parts import Changed, find_changes

__all__ = ["Changed", "apply_delta", "find_changes", "make_delta", "split_lines"]

# Beyond these difflib is too slow, and the middle is replaced whole.
_MOST_LINES = 4_000
_MOST_PAIRS = 100_000


def split_lines(text: str) -> list[str]:
    """Return the lines with their ends; only LF ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def make_delta(old: str, new: str) -> list[list[Any]]:
    """Return the steps from `old` to `new`; empty where they are equal."""
    a, b = split_lines(old), split_lines(new)
    if a == b:
        return []
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    steps: list[list[Any]] = [["=", start]] if start else []
    if middle_a and middle_b and _is_small(middle_a, middle_b):
        steps += _compare(middle_a, middle_b)
    else:
        steps += _replace(middle_a, middle_b)
    return [*steps, ["=", end]] if end else steps


def apply_delta(old: str, delta: Sequence[Sequence[Any]]) -> str:
    """Return the text that a delta leads to; raises StateError where it does not fit `old`."""
    lines = split_lines(old)
    parts = []
    at = 0
    for step in delta:
        match list(step):
            case ["+", str(text)]:
                parts.append(text)
            case [("=" | "-") as kind, int(count)] if 0 < count <= len(lines) - at:
                if kind == "=":
                    parts += lines[at : at + count]
                at += count
            case _:
                raise StateError(f"a delta does not fit its text at line {at + 1}: {step!r:.80}")
    if delta and at != len(lines):
        raise StateError(f"a delta covers {at} of the {len(lines)} lines of its text")
    return "".join(parts) if delta else old


def _is_small(a: list[str], b: list[str]) -> bool:
    """Return whether difflib has few pairs of equal lines to look at.

    In 200 lines and more it leaves out those that make up over a hundredth of the text.
    """
    if len(a) + len(b) > _MOST_LINES:
        return False
    counts = Counter(b)
    most = len(b) if len(b) < 200 else len(b) // 100 + 1
    return sum(counts[line] for line in a if counts[line] <= most) <= _MOST_PAIRS


def _compare(a: list[str], b: list[str]) -> list[list[Any]]:
    from difflib import SequenceMatcher

    steps: list[list[Any]] = []
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b).get_opcodes():
        if kind == "equal":
            steps.append(["=", a2 - a1])
        else:
            steps += _replace(a[a1:a2], b[b1:b2])
    return steps


def _replace(a: list[str], b: list[str]) -> list[list[Any]]:
    steps: list[list[Any]] = [["-", len(a)]] if a else []
    return [*steps, ["+", "".join(b)]] if b else steps


def _common(a: list[str], b: list[str]) -> int:
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count
