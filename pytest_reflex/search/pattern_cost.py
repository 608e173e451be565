"""An upper bound for the work that Python's `re` may spend on one pattern and one text.

`re` tries alternatives one after the other. Without repetition of what itself has alternatives, the
number of ways through a pattern is at most the product over its parts of the ways through each, and
a repetition of one character has no more ways than the longest run of such characters in the text.
The bound reads CPython's parse tree of the pattern; what it does not know is taken as unbounded.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from functools import lru_cache
from importlib import import_module
from itertools import takewhile
from math import inf, prod
from typing import Any

# Larger texts are measured each time rather than kept alive.
_KEPT = 1_000_000


class CharacterRun(Enum):
    """A family of characters; the value matches its runs. ALL is every character."""

    SPACE = r"\s+"
    DIGIT = r"\d+"
    WORD = r"\w+"
    INK = r"\S+"
    LINE = r".+"
    ALL = ""


_PATTERNS = {run: re.compile(run.value) for run in CharacterRun if run.value}
_CATEGORIES = {
    "CATEGORY_SPACE": CharacterRun.SPACE,
    "CATEGORY_NOT_SPACE": CharacterRun.INK,
    "CATEGORY_DIGIT": CharacterRun.DIGIT,
    "CATEGORY_WORD": CharacterRun.WORD,
}
# Each holds those before it.
_WIDER = (CharacterRun.DIGIT, CharacterRun.WORD, CharacterRun.INK)
_WITH_NEWLINE = frozenset({"CATEGORY_SPACE", "CATEGORY_NOT_WORD", "CATEGORY_NOT_DIGIT"})


def longest_run(text: str, run: CharacterRun) -> int:
    """Return the length of the longest run of a family's characters."""
    if run is CharacterRun.ALL:
        return len(text)
    return _longest_run_cached(text, run) if len(text) <= _KEPT else _longest_run(text, run)


def run_of_char(char: str) -> CharacterRun:
    """Return a narrow family that holds a character in either case."""
    if char.isspace():
        return CharacterRun.SPACE
    # Only ASCII: other letters may match a combining mark where case is ignored.
    if char.isascii() and (char.isalnum() or char == "_"):
        return CharacterRun.DIGIT if char.isdigit() else CharacterRun.WORD
    return CharacterRun.INK


def family_of_set(members: Any) -> CharacterRun:
    """Return a family that holds every member of a character set of CPython's parse tree."""
    names = [str(operation) for operation, _ in members]
    if names[0] == "NEGATE":
        if any(str(argument) == "CATEGORY_SPACE" for _, argument in members[1:]):
            return CharacterRun.INK
        return (
            CharacterRun.LINE
            if any(_holds_newline(*member) for member in members[1:])
            else CharacterRun.ALL
        )
    families = {_family(*member) for member in members}
    if len(families) == 1:
        return families.pop()
    if families <= set(_WIDER):
        return max(families, key=_WIDER.index)
    newline = any(_holds_newline(*member) for member in members)
    return CharacterRun.ALL if newline or CharacterRun.ALL in families else CharacterRun.LINE


def _family(operation: Any, argument: Any) -> CharacterRun:
    name = str(operation)
    if name == "LITERAL":
        return run_of_char(chr(argument))
    if name == "CATEGORY":
        return _CATEGORIES.get(str(argument), CharacterRun.ALL)
    if name == "RANGE":
        low, high = chr(argument[0]), chr(argument[1])
        if low >= "0" and high <= "9":
            return CharacterRun.DIGIT
        inside = any(first <= low and high <= last for first, last in ("AZ", "az"))
        return CharacterRun.WORD if inside else CharacterRun.ALL
    return CharacterRun.ALL


def _holds_newline(operation: Any, argument: Any) -> bool:
    name = str(operation)
    if name == "LITERAL":
        return bool(argument == ord("\n"))
    if name == "RANGE":
        return bool(argument[0] <= ord("\n") <= argument[1])
    return str(argument) in _WITH_NEWLINE


def _longest_run(text: str, run: CharacterRun) -> int:
    return max(map(len, _PATTERNS[run].findall(text)), default=0)


@lru_cache(maxsize=8)
def _longest_run_cached(text: str, run: CharacterRun) -> int:
    return _longest_run(text, run)


Ways = float | Callable[[str], float]
"""A number of ways, or a function that gives it for a text."""

_LONGEST_EXPANSION = 64
_ONE_WAY = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "ANY_ALL", "IN", "AT"})
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def parse(pattern: str, flags: int) -> Any:
    """Return CPython's parse tree of a valid pattern, None where it is not to be had."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("re._parser").parse(pattern, flags)
    except (ImportError, AttributeError, RecursionError, re.error):
        return None


class Cost:
    """The bound of one parsed pattern; `steps` returns it for a text.

    `prefix` is the text that every match begins with, empty where it is not known.
    """

    def __init__(self, tree: Any) -> None:
        self._ways: Ways = inf
        self._length = 1.0
        self.prefix = self._anchor = ""
        # With (?a) a blank beyond ASCII is not a blank: the families would not hold.
        if tree is not None and not tree.state.flags & re.ASCII:
            try:
                self._ways = _sequence(tree)
                self._length = _length(tree) + 1
                self._anchor = _anchor(tree)
                self.prefix = _prefix(tree)
            except (OverflowError, RecursionError):
                self._ways = inf

    @property
    def bounded(self) -> bool:
        """Whether there is a bound that depends on the text alone."""
        return callable(self._ways) or self._ways < inf

    def steps(self, text: str) -> float:
        """Return how many steps a search through the whole text may take at most."""
        return self._starts(text) * _value(self._ways, text) * self._length + len(text)

    def _starts(self, text: str) -> int:
        """Return at how many positions more than a step or two can be taken."""
        if self._anchor == "AT_BEGINNING_STRING":
            return 1
        starts = text.count("\n") if self._anchor == "AT_BEGINNING" else len(text)
        if self.prefix:
            # Occurrences that overlap are counted once.
            starts = min(starts, text.count(self.prefix) * len(self.prefix))
        return starts + 1


def _value(ways: Ways, text: str) -> float:
    return ways(text) if callable(ways) else ways


def _anchor(tree: Any) -> str:
    """Return the name of the position that a match has to begin at, empty where it is any."""
    for operation, argument in tree:
        name = str(operation)
        if name == "SUBPATTERN":
            return _anchor(argument[3])
        return str(argument) if name == "AT" else ""
    return ""


def _prefix(tree: Any) -> str:
    """Return the text that every match begins with, where case counts."""
    if tree.state.flags & re.IGNORECASE:
        return ""
    parts = [(str(operation), argument) for operation, argument in tree]
    parts = parts[1:] if parts and parts[0][0] == "AT" else parts
    return "".join(chr(a) for _, a in takewhile(lambda part: part[0] == "LITERAL", parts))


def _length(tree: Any) -> float:
    """Return the length of the longest way; comparing eight literals costs about one step."""
    total = 0.0
    for operation, argument in tree:
        name = str(operation)
        if name == "LITERAL":
            total += 1 / 8
            continue
        bodies = list(_bodies(name, argument))
        length = sum(_length(body) for body in bodies) if bodies else 1.0
        if name in _REPEATS and argument[1] <= _LONGEST_EXPANSION:
            length *= max(int(argument[1]), 1)
        total += length
    return total


def _bodies(name: str, argument: Any) -> Iterable[Any]:
    if name == "SUBPATTERN":
        return [argument[3]]
    if name == "BRANCH":
        return list(argument[1])
    if name in _REPEATS:
        return [argument[2]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    return [argument] if name == "ATOMIC_GROUP" else []


def _sequence(tree: Any) -> Ways:
    return _combine([_part(str(operation), argument) for operation, argument in tree], prod)


def _combine(ways: list[Ways], join: Callable[[Iterable[float]], float]) -> Ways:
    """Combine ways by product or sum; what does not depend on a text is combined at once."""
    if not any(callable(each) for each in ways):
        return join(each for each in ways if not callable(each))
    return lambda text: join(_value(each, text) for each in ways)


def _part(name: str, argument: Any) -> Ways:
    if name in _ONE_WAY:
        return 1.0
    if name in _REPEATS:
        return _repeat(*argument)
    if name == "BRANCH":
        return _combine([_sequence(body) for body in argument[1]], sum)
    if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
        return _combine([_sequence(body) for body in _bodies(name, argument)], prod)
    return inf  # back references, conditions, and what a later Python may add


def _repeat(least: int, most: Any, body: Any) -> Ways:
    top = inf if str(most) == "MAXREPEAT" else float(most)
    run = _run_of(body)
    if run is not None:
        return lambda text: min(top, longest_run(text, run)) + 1
    inner = _sequence(body)
    if inner == 1.0 and body.getwidth()[0] > 0:
        return lambda text: min(top, len(text)) + 1
    if top > _LONGEST_EXPANSION:
        return inf
    return lambda text: (top - least + 1) * _power(_value(inner, text), top)


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return inf


def _run_of(body: Any) -> CharacterRun | None:
    """Return the family that holds every character a body of one character can match."""
    if len(body) != 1:
        return None
    name, argument = str(body[0][0]), body[0][1]
    if name == "SUBPATTERN" and not argument[1] and not argument[2]:
        return _run_of(argument[3])
    if name == "ANY":
        return CharacterRun.LINE
    if name == "LITERAL":
        return run_of_char(chr(argument))
    if name == "NOT_LITERAL":
        return CharacterRun.LINE if chr(argument) == "\n" else CharacterRun.ALL
    if name == "IN":
        return family_of_set(argument)
    return CharacterRun.ALL if name == "ANY_ALL" else None
