"""Families of characters, and the longest run of each in a text."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Any

# Larger texts are measured each time rather than kept alive.
_KEPT = 1_000_000


class Run(Enum):
    """A family of characters; the value matches its runs. ALL is every character."""

    SPACE = r"\s+"
    DIGIT = r"\d+"
    WORD = r"\w+"
    INK = r"\S+"
    LINE = r".+"
    ALL = ""


_PATTERNS = {run: re.compile(run.value) for run in Run if run.value}
_CATEGORIES = {
    "CATEGORY_SPACE": Run.SPACE,
    "CATEGORY_NOT_SPACE": Run.INK,
    "CATEGORY_DIGIT": Run.DIGIT,
    "CATEGORY_WORD": Run.WORD,
}
# Each holds those before it.
_WIDER = (Run.DIGIT, Run.WORD, Run.INK)
_WITH_NEWLINE = frozenset({"CATEGORY_SPACE", "CATEGORY_NOT_WORD", "CATEGORY_NOT_DIGIT"})


def longest_run(text: str, run: Run) -> int:
    """Return the length of the longest run of a family's characters."""
    if run is Run.ALL:
        return len(text)
    return _kept(text, run) if len(text) <= _KEPT else _measured(text, run)


def run_of_char(char: str) -> Run:
    """Return a narrow family that holds a character in either case."""
    if char.isspace():
        return Run.SPACE
    # Only ASCII: other letters may match a combining mark where case is ignored.
    if char.isascii() and (char.isalnum() or char == "_"):
        return Run.DIGIT if char.isdigit() else Run.WORD
    return Run.INK


def family_of_set(members: Any) -> Run:
    """Return a family that holds every member of a character set of CPython's parse tree."""
    names = [str(operation) for operation, _ in members]
    if names[0] == "NEGATE":
        if any(str(argument) == "CATEGORY_SPACE" for _, argument in members[1:]):
            return Run.INK
        return Run.LINE if any(_holds_newline(*member) for member in members[1:]) else Run.ALL
    families = {_family(*member) for member in members}
    if len(families) == 1:
        return families.pop()
    if families <= set(_WIDER):
        return max(families, key=_WIDER.index)
    newline = any(_holds_newline(*member) for member in members)
    return Run.ALL if newline or Run.ALL in families else Run.LINE


def _family(operation: Any, argument: Any) -> Run:
    name = str(operation)
    if name == "LITERAL":
        return run_of_char(chr(argument))
    if name == "CATEGORY":
        return _CATEGORIES.get(str(argument), Run.ALL)
    if name == "RANGE":
        low, high = chr(argument[0]), chr(argument[1])
        if low >= "0" and high <= "9":
            return Run.DIGIT
        inside = any(first <= low and high <= last for first, last in ("AZ", "az"))
        return Run.WORD if inside else Run.ALL
    return Run.ALL


def _holds_newline(operation: Any, argument: Any) -> bool:
    name = str(operation)
    if name == "LITERAL":
        return bool(argument == ord("\n"))
    if name == "RANGE":
        return bool(argument[0] <= ord("\n") <= argument[1])
    return str(argument) in _WITH_NEWLINE


def _measured(text: str, run: Run) -> int:
    return max(map(len, _PATTERNS[run].findall(text)), default=0)


@lru_cache(maxsize=8)
def _kept(text: str, run: Run) -> int:
    return _measured(text, run)
