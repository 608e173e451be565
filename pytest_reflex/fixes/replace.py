"""`replace`: put a text in the place of every match of a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_reflex.fixes.kind import Field, FixError, Kind, Params


def apply(params: Params, document: str) -> str:
    """Return the document with every match replaced.

    A match that already lies inside the text it would become is left alone, so that replacing
    `foo` by `foobar` settles. Raises FixError where there are more matches than `count`, or where
    the outcome would be replaced again.
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
    matches = 0

    def becomes(match: re.Match[str]) -> str:
        nonlocal matches
        new = match.expand(params["with"]) if params.get("expand") else str(params["with"])
        if new == match[0] or _is_inside(document, match, new):
            return match[0]
        matches += 1
        return new

    return _pattern(params).sub(becomes, document), matches


def _is_inside(document: str, match: re.Match[str], new: str) -> bool:
    if not new:
        return False
    return document.find(new, max(match.end() - len(new), 0), match.start() + len(new)) >= 0


def _pattern(params: Params) -> re.Pattern[str]:
    search = params["search"]
    flags = re.MULTILINE | (re.IGNORECASE if params.get("ignore_case") else 0)
    return re.compile(re.escape(search) if params.get("literal") else search, flags)


def faults(params: Params) -> Iterable[str]:
    """Find an invalid pattern and a bad group reference."""
    try:
        pattern = _pattern(params)
    except (re.error, RecursionError, OverflowError) as error:
        yield f"replace: search is no valid pattern: {error}; literal: true takes it as text"
        return
    if params.get("literal") and params.get("expand"):
        yield "replace: literal and expand exclude each other"
    elif params.get("expand"):
        try:
            pattern.sub(params["with"], "")
        except (re.error, IndexError) as error:
            yield f"replace: with is no valid expansion: {error}"


KIND = Kind(
    name="replace",
    fields={
        "search": Field(str, required=True, filled=True),
        "with": Field(str, required=True),
        "literal": Field(bool),
        "expand": Field(bool),
        "ignore_case": Field(bool),
        "count": Field(int),
    },
    apply=apply,
    faults=faults,
)
