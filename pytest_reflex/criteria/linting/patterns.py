"""Warnings about what a content check or a fix searches for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.criteria.diagnostics import Table
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.linting.certainty import always_matches, never_matches
from pytest_reflex.criteria.linting.remark import Remark, warning
from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.rules import Fix
from pytest_reflex.model.targets import CompiledCheck, TextSearch
from pytest_reflex.search.patterns import SearchError, compile_pattern

_SLASHES = re.compile(r"/.+/[gimsux]*", re.DOTALL)
_LOOSE_DOT = re.compile(r"[\w /-]*(?:\w\.\w[\w /-]*)+")
_TWO_BACKSLASHES = re.compile(r"(?<!\\)\\\\[bBdDsSwW](?![a-zA-Z])")
_TEXTS = ("# A\n\nSome words: 1.\n", '{"a": [null]}\n')
_QUOTES = "in single quotes, one backslash is enough"


def pattern_warnings(
    check: CompiledCheck, table: Table, faults: Faults, rule_id: str
) -> Iterator[Remark]:
    """Yield what is odd about what a check searches for; `table` is the check as written."""
    search = check.search
    if search is None:
        return
    if search.literal:
        text = search.source
        if text.strip() and text != text.strip(" \t"):
            message = f"{quoted(text)} is found with the blanks at its ends only"
            hint = "leave them out, or write a pattern with [ ] if they are meant"
            spot = table.at("search")
            yield warning("edge-blanks", message, faults, spot, hint=hint, rule_id=rule_id)
        return
    spot = table.at("search")
    for code, message, hint in _odd(search):
        yield warning(code, message, faults, spot, hint=hint, rule_id=rule_id)


def fix_warnings(fix: Fix, table: Table, faults: Faults, rule_id: str) -> Iterator[Remark]:
    """Yield what is odd about the pattern of a fix; `table` has its parameters as written."""
    search = fix.params.get("search")
    if fix.kind != "replace" or fix.params.get("literal") or not isinstance(search, str):
        return
    for code, message, hint in (*_misread(search), *_takes_all(search, fix)):
        yield warning(code, message, faults, table.at("search"), hint=hint, rule_id=rule_id)


def _takes_all(search: str, fix: Fix) -> Iterator[tuple[str, str, str]]:
    ignore_case = fix.params.get("ignore_case") is True
    pattern = compile_pattern(search, ignore_case=ignore_case)
    try:
        all_of = all((0, len(t)) in pattern.spans(t, limit=1, seconds=1.0) for t in _TEXTS)
    except SearchError:
        return
    if all_of:
        message = f"{quoted(search)} takes whole texts, so that nothing is left of them"
        yield "replaces-all", message, "say what is to be replaced, and no more"


def _odd(searched: TextSearch) -> Iterator[tuple[str, str, str]]:
    search, negative = searched.source, searched.most == 0
    if always_matches(search) and not searched.is_counted:
        end = "so that the check can never pass" if negative else "so that the check cannot fail"
        hint = "say what has to be there: + instead of *, or an anchor at both ends"
        yield "always-matches", f"{quoted(search)} matches every text, {end}", hint
    elif reason := never_matches(search, raw=searched.raw):
        end = "so that the check cannot fail" if negative else "so that the check can never pass"
        yield "never-matches", f"{quoted(search)} matches nowhere, {end}: {reason}", ""
    elif not searched.is_counted and (where := _idle(search)):
        message = f".* at the {where} of {quoted(search)} changes nothing"
        yield "idle-dots", message, "leave it out: a search looks everywhere"
    yield from _misread(search)


def _misread(search: str) -> Iterator[tuple[str, str, str]]:
    """Yield what looks like a slip of the pen, in a check and in a fix."""
    if _SLASHES.fullmatch(search):
        message = f"the slashes of {quoted(search)} are part of the pattern"
        yield "slashes", message, "leave them out; ignore_case: true replaces /i"
    if _LOOSE_DOT.fullmatch(search):
        message = f"the dot in {quoted(search)} stands for any character"
        yield "loose-dot", message, r"write \. or add literal: true"
    if found := _TWO_BACKSLASHES.search(search):
        yield "two-backslashes", f"{found[0]} is a backslash and a letter", _QUOTES


def _idle(search: str) -> str:
    if search.startswith((".*", ".*?")) and len(search) > 3:
        return "beginning"
    plain_end = search.endswith(".*") and not search.endswith(("\\.*", "[.*", "(.*"))
    return "end" if plain_end and len(search) > 2 else ""
