"""What a measured number has to be, such as ``p95 < 100 ms``, and that number in an output."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_NUMBER = r"[-+]?(?:\d+(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?"
_COMPARE = re.compile(
    rf"(?P<name>[^=!<>≤≥]*?)\s*(?P<op>[=!<>]=|[<>=≤≥])\s*(?P<number>{_NUMBER})"
    r"\s*(?P<unit>[^\s\d]\S{0,15})?"
)
# Units of one kind, by the smallest of them; others have to be the same word.
_UNITS: Mapping[str, tuple[str, Fraction]] = {
    "ns": ("time", Fraction(1, 1_000_000_000)),
    "us": ("time", Fraction(1, 1_000_000)),
    "µs": ("time", Fraction(1, 1_000_000)),
    "ms": ("time", Fraction(1, 1000)),
    "s": ("time", Fraction(1)),
    "sec": ("time", Fraction(1)),
    "seconds": ("time", Fraction(1)),
    "min": ("time", Fraction(60)),
    "b": ("size", Fraction(1)),
    "bytes": ("size", Fraction(1)),
    "kb": ("size", Fraction(1000)),
    "mb": ("size", Fraction(1000**2)),
    "gb": ("size", Fraction(1000**3)),
    "kib": ("size", Fraction(1024)),
    "mib": ("size", Fraction(1024**2)),
    "gib": ("size", Fraction(1024**3)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """What a measured number has to be, such as ``p95 < 100 ms``."""

    text: str
    name: str
    op: str
    number: Fraction
    unit: str = ""

    def holds(self, value: Fraction) -> bool:
        return _OPERATORS[self.op](value, self.number)


def parse_comparison(text: str) -> Threshold:
    """Return the comparison that a text stands for; raises UsageError."""
    match = _COMPARE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{one_line(text, 60)!r} is not a comparison", hint="such as: p95 < 100 ms, or: >= 90"
        )
    return Threshold(
        text=" ".join(text.split()),
        name=match["name"],
        op=match["op"],
        number=_number(match["number"]),
        unit=match["unit"] or "",
    )


def number_in(output: str, wanted: Threshold) -> Fraction | None:
    """Return the number that an output has, in the unit of a comparison; the last one counts.

    Where the comparison has a name and the output has it too, only numbers behind it count. An
    output with a number of another unit has none.
    """
    tail = output[-100_000:]
    number = re.compile(rf"(?<![\w.])({_NUMBER})(?:\s?([A-Za-zµ%][\w%/]{{0,15}}))?(?![\d])")
    if wanted.name:
        named = re.compile(
            rf"(?<!\w){re.escape(wanted.name)}(?!\w)[^\d\n+-]{{0,40}}({_NUMBER})"
            r"(?:\s?([A-Za-zµ%][\w%/]{0,15}))?",
            re.IGNORECASE,
        )
        if found := list(named.finditer(tail)):
            return _in_unit(found[-1], wanted)
        # Without the name, a command that prints one number and nothing else has said it too.
        only = number.fullmatch(tail.strip())
        return _in_unit(only, wanted) if only else None
    found = list(number.finditer(tail))
    return _in_unit(found[-1], wanted) if found else None


def _in_unit(match: re.Match[str], wanted: Threshold) -> Fraction | None:
    value, unit = _number(match[1]), match[2] or ""
    if not unit or not wanted.unit or unit.lower() == wanted.unit.lower():
        return value
    mine, theirs = _UNITS.get(unit.lower()), _UNITS.get(wanted.unit.lower())
    if mine is None or theirs is None or mine[0] != theirs[0]:
        # A word behind a number may be the next word of a sentence, and no unit at all.
        return value if mine is None and theirs is None else None
    return value * mine[1] / theirs[1]


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))
