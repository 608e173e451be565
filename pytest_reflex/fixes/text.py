"""`replace`: put a text in place of every match of a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_reflex.errors import CriteriaError
from pytest_reflex.fixes.kind import Fault, Field, FixError, Kind, Params
from pytest_reflex.search.patterns import Pattern, SearchError, compile_pattern, compile_text

SECONDS = 2.0
"""How long one search may take."""


def replace_matches(params: Params, document: str) -> str:
    """Return the document with every match replaced.

    A match that already lies inside the text it would become is left alone, so that replacing
    `foo` by `foobar` settles. Raises FixError where there are more matches than `count`, where
    the outcome would be replaced again, and where the search had to be stopped.
    """
    once, matches = _replace(params, document)
    if matches > params.get("count", matches):
        raise FixError(
            f"replace: {params['search']!r} matches {matches} times, count allows {params['count']}"
        )
    if _replace(params, once)[0] != once:
        raise FixError(f"replace: {params['search']!r} matches what it becomes, without an end")
    return once


def _replace(params: Params, document: str) -> tuple[str, int]:
    parts, done, matches = [], 0, 0
    for start, end, new in _found(params, document):
        if new == document[start:end] or _is_inside(document, start, end, new):
            continue
        parts += [document[done:start], new]
        done = end
        matches += 1
    return "".join([*parts, document[done:]]), matches


def _found(params: Params, document: str) -> list[tuple[int, int, str]]:
    """Return the matches, each with the text in its place."""
    new, most = params["with"], len(document) + 1
    pattern = _pattern(params)
    try:
        if params.get("expand"):
            return pattern.expanded(document, new, limit=most, seconds=SECONDS)
        spans = pattern.spans(document, limit=most, seconds=SECONDS)
    except SearchError as error:
        raise FixError(f"replace: {params['search']!r} was not searched: {error}") from None
    return [(start, end, new) for start, end in spans]


def _is_inside(document: str, start: int, end: int, new: str) -> bool:
    if not new:
        return False
    return document.find(new, max(end - len(new), 0), start + len(new)) >= 0


def _pattern(params: Params) -> Pattern:
    make = compile_text if params.get("literal") else compile_pattern
    return make(params["search"], ignore_case=params.get("ignore_case", False))


def replace_faults(params: Params) -> Iterable[Fault]:
    """Find an invalid pattern and a bad group reference."""
    try:
        _pattern(params)
    except CriteriaError as error:
        yield "search", f"replace: {error.problems[0].message}; literal: true takes it as text"
        return
    if params.get("literal") and params.get("expand"):
        yield "literal", "replace: literal and expand exclude each other"
    elif params.get("expand"):
        try:
            re.sub(params["search"], params["with"], "")
        except (re.error, IndexError) as error:
            yield "with", f"replace: with is not a valid expansion: {error}"


REPLACE = Kind(
    name="replace",
    fields={
        "search": Field(str, required=True, filled=True),
        "with": Field(str, required=True),
        "literal": Field(bool),
        "expand": Field(bool),
        "ignore_case": Field(bool),
        "count": Field(int),
    },
    apply=replace_matches,
    faults=replace_faults,
)
