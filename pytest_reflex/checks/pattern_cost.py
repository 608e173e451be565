"""An upper bound for the work that Python's `re` may spend on one pattern and one text.

`re` tries alternatives one after the other. Without repetition of what itself has alternatives, the
number of ways through a pattern is at most the product over its parts of the ways through each, and
a repetition of one character has no more ways than the longest run of such characters in the text.
The bound reads CPython's parse tree of the pattern; what it does not know is taken as unbounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from importlib import import_module
from typing import Any

UNBOUNDED = float("inf")

_LONGEST_EXPANSION = 64
_KEPT = 1_000_000


class Run(Enum):
    """Families of characters whose longest run in a text is measured."""

    SPACE = re.compile(r"\s+")
    WORD = re.compile(r"\w+")
    LINE = re.compile(r".+")
    ALL = None


def parse(pattern: str, flags: int) -> Any:
    """Return CPython's parse tree of a valid pattern, None where it is not to be had."""
    try:
        return import_module("re._parser").parse(pattern, flags)
    except (ImportError, AttributeError, RecursionError, re.error):
        return None


def steps(tree: Any, text: str) -> float:
    """Return how many steps a search through the whole text may take at most."""
    if tree is None:
        return UNBOUNDED
    try:
        return _starts(tree, text) * _ways(tree, text) * (_nodes(tree) + 1) + len(text)
    except (OverflowError, RecursionError):
        return UNBOUNDED


def _starts(tree: Any, text: str) -> int:
    """Return at how many positions more than one step can be taken."""
    name, argument = _first(tree)
    if name == "AT" and str(argument) == "AT_BEGINNING":
        return text.count("\n") + 1
    if name == "AT" and str(argument) == "AT_BEGINNING_STRING":
        return 1
    return len(text) + 1


def _first(tree: Any) -> tuple[str, Any]:
    for operation, argument in tree:
        name = str(operation)
        return _first(argument[3]) if name == "SUBPATTERN" else (name, argument)
    return ("", None)


def _nodes(tree: Any) -> float:
    """Return the length of the longest way; comparing eight literals costs about one step."""
    total = 0.0
    for operation, argument in tree:
        name = str(operation)
        bodies = list(_bodies(name, argument))
        length = sum(_nodes(body) for body in bodies) if bodies else 1.0
        if name.endswith("REPEAT") and argument[1] <= _LONGEST_EXPANSION:
            length *= int(argument[1])
        total += 1 / 8 if name == "LITERAL" else length
    return total


def _bodies(name: str, argument: Any) -> Iterable[Any]:
    if name == "SUBPATTERN":
        return [argument[3]]
    if name == "BRANCH":
        return list(argument[1])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [argument[2]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    return [argument] if name == "ATOMIC_GROUP" else []


def _ways(tree: Any, text: str) -> float:
    ways = 1.0
    for operation, argument in tree:
        ways *= _ways_of(str(operation), argument, text)
    return ways


def _ways_of(name: str, argument: Any, text: str) -> float:
    if name in ("LITERAL", "NOT_LITERAL", "ANY", "ANY_ALL", "IN", "AT", "CATEGORY", "RANGE"):
        return 1.0
    if name == "BRANCH":
        return sum(_ways(body, text) for body in argument[1])
    if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
        return max(1.0, *(_ways(body, text) for body in _bodies(name, argument)))
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _ways_of_repeat(*argument, text=text)
    return UNBOUNDED  # back references, conditions, and what a later Python may add


def _ways_of_repeat(least: int, most: Any, body: Any, *, text: str) -> float:
    top = UNBOUNDED if str(most) == "MAXREPEAT" else float(most)
    run = _run_of(body)
    if run is not None:
        return min(top, longest_run(text, run)) + 1
    inner = _ways(body, text)
    if inner == 1.0 and body.getwidth()[0] > 0:
        return min(top, len(text)) + 1
    if top <= _LONGEST_EXPANSION:
        return float((top - least + 1) * inner**top)
    return UNBOUNDED


def _run_of(body: Any) -> Run | None:
    """Return the family that holds every character a body of one character can match."""
    if len(body) != 1:
        return None
    name, argument = str(body[0][0]), body[0][1]
    if name == "SUBPATTERN" and not argument[1] and not argument[2]:
        return _run_of(argument[3])
    if name == "ANY":
        return Run.LINE
    if name == "LITERAL":
        return _family(chr(argument))
    if name == "NOT_LITERAL":
        return Run.LINE if chr(argument) == "\n" else Run.ALL
    if name == "IN":
        return _run_of_set(argument)
    return Run.ALL if name == "ANY_ALL" else None


def _run_of_set(members: Any) -> Run:
    names = [str(operation) for operation, _ in members]
    if names[0] == "NEGATE":
        return Run.LINE if any(_holds_newline(*member) for member in members[1:]) else Run.ALL
    families = {_family_of(*member) for member in members}
    if len(families) == 1:
        return families.pop()
    newline = any(_holds_newline(*member) for member in members)
    return Run.ALL if newline or Run.ALL in families else Run.LINE


def _family_of(operation: Any, argument: Any) -> Run:
    name = str(operation)
    if name == "LITERAL":
        return _family(chr(argument))
    if name == "CATEGORY":
        words = {"CATEGORY_SPACE": Run.SPACE, "CATEGORY_WORD": Run.WORD, "CATEGORY_DIGIT": Run.WORD}
        return words.get(str(argument), Run.ALL)
    if name == "RANGE":
        ends = f"{chr(argument[0])}{chr(argument[1])}"
        inside = any(low <= ends[0] and ends[1] <= high for low, high in ("09", "AZ", "az"))
        return Run.WORD if inside else Run.ALL
    return Run.ALL


def _family(char: str) -> Run:
    if char.isspace():
        return Run.SPACE
    # Only ASCII: other letters may match a combining mark where case is ignored.
    return Run.WORD if char.isascii() and (char.isalnum() or char == "_") else Run.LINE


def _holds_newline(operation: Any, argument: Any) -> bool:
    name = str(operation)
    if name == "LITERAL":
        return bool(argument == 10)
    if name == "RANGE":
        return bool(argument[0] <= 10 <= argument[1])
    return str(argument) in ("CATEGORY_SPACE", "CATEGORY_NOT_WORD", "CATEGORY_NOT_DIGIT")


def longest_run(text: str, run: Run) -> int:
    """Return the length of the longest run of a family's characters."""
    if run is Run.ALL:
        return len(text)
    # Large texts are not kept alive for it.
    return _measured(text, run) if len(text) <= _KEPT else _measured.__wrapped__(text, run)


@lru_cache(maxsize=8)
def _measured(text: str, run: Run) -> int:
    found = run.value.finditer(text)
    return max((match.end() - match.start() for match in found), default=0)
