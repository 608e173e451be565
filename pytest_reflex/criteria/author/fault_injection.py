"""Texts into which something was planted that a rule searches for, or may forbid.

Promises: the same text and patterns give the same plants, in the same order.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_reflex.model.rules import CheckSpec, variable_name
from pytest_reflex.model.targets import CompiledCheck, TextSearch
from pytest_reflex.search.pattern_cost import parse
from pytest_reflex.search.patterns import SearchError, compile_pattern
from pytest_reflex.text.lines import split
from pytest_reflex.text.outline import outline

PLACES = 6
"""How many sections and fenced blocks get a plant of their own."""
LONGEST = 10_000
"""Characters of a match that is made from a pattern."""

_WORDS = "planted words that go on without an end and without a point "
_FAULTS = {
    "words left to do": "\nTODO: planted FIXME TBD lorem ipsum\n",
    "brackets that stay open": "\n{[(\n",
    "a link to nothing": "\n[planted](./planted-nowhere.md) ![](./planted.png)\n",
    "a sentence without an end": "\n" + _WORDS * 12 + "planted.\n",
    "a block without a language": "\n```\nplanted = (\n```\n",
    "an empty section": "\n###### Planted\n\n# Planted\n",
    "a list of another kind": "\n* planted\n+ planted\n\n__planted__ **planted**\n",
    "a secret": "\npassword: Pl4nted-s3cret-v4lue-0x51\n",
}
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_LETTERS = string.ascii_letters + string.digits + string.punctuation + " \n\té"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that was changed in one way, and which way that was."""

    what: str
    text: str


def insert_match(text: str, match: str, times: int = 1) -> Iterator[Mutant]:
    """Yield the text with `match` in it: at its end, its start, in its sections and its blocks."""
    plant = f"{match}\n" * times
    yield Mutant(f"a match planted at the end ({times})", f"{text.rstrip()}\n\n{plant}")
    yield Mutant(f"a match planted at the start ({times})", f"{plant}\n{text}")
    shape = outline(text)
    lines = split(text)
    inside = [(heading.body, f"section '{heading.title}'") for heading in shape.headings[:PLACES]]
    inside += [(fence.first, f"the block at line {fence.first}") for fence in shape.fences[:PLACES]]
    for at, where in inside:
        blank = "" if where.startswith("the block") else "\n"
        changed = [*lines[:at], f"{blank}{plant}{blank}", *lines[at:]]
        yield Mutant(f"a match planted in {where}", "".join(changed))


def insert_flaws(text: str) -> Iterator[Mutant]:
    """Yield the text with common problems at its end, and the text twice."""
    for what, fault in _FAULTS.items():
        yield Mutant(f"with {what}", text.rstrip("\n") + "\n" + fault)
    yield Mutant("twice the text", text.rstrip("\n") + "\n\n" + text)


def example_of(pattern: str, *, ignore_case: bool = False) -> str:
    """Return a text that a pattern matches somewhere; empty where none was found."""
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    tree = parse(pattern, flags)
    if tree is None:
        return ""
    search = compile_pattern(pattern, ignore_case=ignore_case)
    for least in (1, 0):
        try:
            found = _MatchWriter(least).sequence(tree)
            if found.strip() and search.spans(found, limit=1, seconds=1.0):
                return found
        except (KeyError, _TooLongError, RecursionError, SearchError):
            continue
    return ""


class _TooLongError(Exception):
    """A match would be longer than LONGEST."""


class _MatchWriter:
    """Writes a match of CPython's parse tree; a repetition is done `least` times at least."""

    def __init__(self, least: int) -> None:
        self.least = least
        self.groups: dict[Any, str] = {}

    def sequence(self, tree: Any) -> str:
        return "".join(self._item(str(op), argument) for op, argument in tree)

    def _item(self, op: str, argument: Any) -> str:
        if op == "LITERAL":
            return chr(argument)
        if op == "NOT_LITERAL":
            return next(c for c in _LETTERS if ord(c) != argument)
        if op in ("ANY", "ANY_ALL"):
            return "x"
        if op == "IN":
            return _of_set(argument)
        if op == "BRANCH":
            return self.sequence(argument[1][0])
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, inner = argument
            times = min(max(int(low), self.least), int(high))
            text = self.sequence(inner)
            if len(text) * times > LONGEST:
                raise _TooLongError
            return text * times
        if op == "SUBPATTERN":
            text = self.sequence(argument[3])
            self.groups[argument[0]] = text
            return text
        if op == "GROUPREF":
            return self.groups[argument]
        return self.sequence(argument) if op == "ATOMIC_GROUP" else ""


def _of_set(items: Any) -> str:
    """Return a character of a set; raises KeyError where none is known."""
    negated = any(str(op) == "NEGATE" for op, _ in items)
    own = [chr(a if str(op) == "LITERAL" else a[0]) for op, a in items if _is_plain(str(op))]
    tests = [_test(str(op), argument) for op, argument in items if str(op) != "NEGATE"]
    letters: list[str] = [*own, *_LETTERS]
    for letter in letters:
        if any(test(letter) for test in tests) != negated:
            return letter
    raise KeyError("no character of the set is known")


def _is_plain(op: str) -> bool:
    return op in ("LITERAL", "RANGE")


def _test(op: str, argument: Any) -> Callable[[str], bool]:
    if op in ("LITERAL", "RANGE"):
        first, last = (argument, argument) if op == "LITERAL" else argument
        return lambda letter: bool(first <= ord(letter) <= last)
    kind = re.compile(_CATEGORIES[str(argument)])
    return lambda letter: bool(kind.match(letter))


MOST = 2000
"""Matches that are looked for in a text, and that are planted into one."""
LARGEST = 1_000_000
"""Characters that are planted at once."""
_SECONDS = 1.0


def find_matches(checks: Iterable[CompiledCheck], text: str) -> list[tuple[int, int]]:
    """Return the regions of a text that searches of checks match, in order, without overlaps.

    Where there are more matches than are looked for, the last region goes on to the end.
    """
    found: list[tuple[int, int]] = []
    for search in _searches(checks):
        try:
            spans = search.spans(text, limit=MOST, seconds=_SECONDS)
        except SearchError:
            continue
        regions = [(span[0], span[1]) for span in spans if span[1] > span[0]]
        if len(spans) >= MOST and regions:
            regions[-1] = (regions[-1][0], len(text))
        found += regions
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
    return apart


def plants(checks: Iterable[CompiledCheck], text: str) -> Iterator[Mutant]:
    """Yield texts that have one match too many of what checks forbid or limit."""
    for search in _searches(checks):
        most = _most(search)
        match = _example(search) if most is not None else ""
        if match and most is not None and len(match) * (most + 1) <= LARGEST:
            yield from insert_match(text, match, most + 1)


def without_example(checks: Iterable[CompiledCheck]) -> bool:
    """Return whether a check forbids something of which no example could be made."""
    found = (search for search in _searches(checks) if _most(search) is not None)
    return any(not _example(search) for search in found)


def _most(search: TextSearch) -> int | None:
    """Return how many matches are allowed; None for any number, or more than are planted."""
    return search.most if search.most is not None and search.most < MOST else None


def _example(search: TextSearch) -> str:
    if search.literal:
        return search.source
    return example_of(search.source, ignore_case=search.ignore_case)


def globs_of(checks: Iterable[CheckSpec], variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the globs by which checks choose files of a folder."""
    for spec in checks:
        for one in spec.alternatives or (spec,):
            value = one.params.get("files", ())
            value = variables.get(variable_name(value), value)
            yield from (value,) if isinstance(value, str) else value


def _searches(checks: Iterable[CompiledCheck]) -> Iterator[TextSearch]:
    """Yield what checks look for, those among alternatives included."""
    for check in checks:
        yield from (part.search for part in check.parts if part.search)
