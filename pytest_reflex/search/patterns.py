"""Patterns that cannot hang a gate: Python's `re` is the dialect, the engine depends on the case.

A pattern without metacharacters is looked up with `str.find`. In a long text RE2 serves, where it
is installed and means the same. Where the work of `re` is provably small, it runs here; and what
is left goes to a process that is killed at the deadline.
"""

from __future__ import annotations

import re
import warnings
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from pytest_reflex.errors import CriteriaError, Place, Problem
from pytest_reflex.model.plain import one_line
from pytest_reflex.search import pattern_cost, pattern_re2
from pytest_reflex.search.search_process import SEARCHES, SearchError

Spans = list[tuple[int, int]]

# About a third of a second where every step is taken; an ordinary search takes few of them.
STEPS = 20_000_000

# Characters from which on RE2 is worth its import; it is some five times faster than `re`.
LONG = 4000

_META = re.compile(r"[\\^$.|?*+()\[\]{}]")

__all__ = [
    "LONG",
    "STEPS",
    "Engine",
    "Pattern",
    "SearchError",
    "Spans",
    "compile_pattern",
    "compile_text",
    "pattern_problems",
]


class Engine(StrEnum):
    """How a pattern is looked for."""

    TEXT = "text"
    RE2 = "re2"
    RE = "re"
    WORKER = "re worker"


class Pattern:
    """What a search looks for; made by `compile_text` and `compile_pattern`."""

    def __init__(self, source: str, compiled: re.Pattern[str] | None) -> None:
        self.source = source
        self._compiled = compiled

    @property
    def plain(self) -> str:
        """The text that is looked up as it stands; empty for what needs an engine."""
        return "" if self._compiled else self.source

    def spans(self, text: str, *, limit: int, seconds: float) -> Spans:
        """Return where it matches, without overlaps, at most `limit` times.

        Raises SearchError where the search had to be stopped.
        """
        if self._compiled is None:
            return _plain_spans(self.source, text, limit)
        begin = text.find(self._cost.prefix)
        if begin < 0:
            return []
        if len(text) > LONG or self._cost.steps(text) > STEPS:
            other = self._other
            spans = other.spans(text, limit) if other else None
            if spans is not None:
                return spans
        if self._cost.steps(text) <= STEPS:
            return _find_spans(self._compiled, text, begin, limit)
        return SEARCHES.spans(self.source, self._compiled.flags, text, limit, seconds)

    def expand(
        self, text: str, template: str, *, limit: int, seconds: float
    ) -> list[tuple[int, int, str]]:
        """Return where it matches, each with what a template of `re` comes to there.

        Raises SearchError where the search had to be stopped.
        """
        compiled = self._compiled or re.compile(re.escape(self.source))
        if self._compiled is None or self._cost.steps(text) <= STEPS:
            found = islice(compiled.finditer(text), limit)
            return [(*match.span(), match.expand(template)) for match in found]
        return SEARCHES.expand(self.source, compiled.flags, template, text, limit, seconds)

    @property
    def engine(self) -> Engine:
        """What searches long texts; a short one is searched by `re` where that is bounded."""
        if self._compiled is None:
            return Engine.TEXT
        if self._other:
            return Engine.RE2
        return Engine.RE if self._cost.bounded else Engine.WORKER

    @cached_property
    def _tree(self) -> Any:
        return pattern_cost.parse(self.source, re.MULTILINE | self._flags)

    @cached_property
    def _cost(self) -> pattern_cost.Cost:
        return pattern_cost.Cost(self._tree)

    @cached_property
    def _other(self) -> pattern_re2.Re2 | None:
        return pattern_re2.translate(self._tree, re.MULTILINE | self._flags)

    @property
    def _flags(self) -> int:
        return self._compiled.flags & re.IGNORECASE if self._compiled else 0


def compile_text(text: str, *, ignore_case: bool = False) -> Pattern:
    """Return the pattern that matches `text` as it stands."""
    if ignore_case:
        source = re.escape(text)
        return Pattern(source, re.compile(source, re.MULTILINE | re.IGNORECASE))
    return Pattern(text, None)


def compile_pattern(
    source: str, *, ignore_case: bool = False, key: str = "search", place: Place | None = None
) -> Pattern:
    """Return a pattern of Python's `re`, multi-line; raises CriteriaError where it is invalid.

    `key` is the parameter that holds it.
    """
    try:
        return _compile(source, ignore_case)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        reason = str(error) or type(error).__name__
        hint = "to search for a text as it stands, add literal: true" if key == "search" else ""
        message = f"{key} is not a valid pattern: {reason}: {one_line(source, 80)}"
        problem = Problem(message=message, place=place, hint=hint, path=(key,))
        raise CriteriaError([problem]) from None


def pattern_problems(source: Any, *, key: str, place: Place | None) -> tuple[Problem, ...]:
    """Return why a parameter is not a pattern; nothing for a value that is not text."""
    if not isinstance(source, str):
        return ()
    try:
        compile_pattern(source, key=key, place=place)
    except CriteriaError as error:
        return error.problems
    return ()


# Criteria are read before they are compiled: large ones too have each pattern made once.
@lru_cache(maxsize=16_384)
def _compile(source: str, ignore_case: bool) -> Pattern:
    if not ignore_case and not _META.search(source):
        return Pattern(source, None)
    with warnings.catch_warnings():
        # What a later Python may read otherwise is still valid in this one.
        warnings.simplefilter("ignore")
        return Pattern(
            source, re.compile(source, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
        )


def _plain_spans(wanted: str, text: str, limit: int) -> Spans:
    found: Spans = []
    start = text.find(wanted)
    while start >= 0 and len(found) < limit:
        found.append((start, start + len(wanted)))
        start = text.find(wanted, start + max(len(wanted), 1))
    return found


def _find_spans(compiled: re.Pattern[str], text: str, begin: int, limit: int) -> Spans:
    found: Spans = []
    for match in compiled.finditer(text, begin):
        found.append(match.span())
        if len(found) >= limit:
            break
    return found
