"""Warnings about searched patterns and conditions: those that hold always, or never.

Both answers are sound and not complete: where nothing is said, nothing is known. They are read off
CPython's parse tree; searches are multi-line and line ends are `\n`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.composite import words
from pytest_reflex.criteria.diagnostics import Diagnostics, Items, Table, quote
from pytest_reflex.criteria.linting.diagnostic import Diagnostic, warning
from pytest_reflex.model.globs import selects
from pytest_reflex.model.rules import CheckSpec, Condition, Fix, Rule
from pytest_reflex.model.targets import CompiledCheck, TextSearch
from pytest_reflex.search.pattern_cost import parse
from pytest_reflex.search.patterns import SearchError, compile_pattern

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_NEWLINE = ord("\n")
_RETURN = ord("\r")

Part = tuple[str, Any]


def always_matches(pattern: str) -> bool:
    """Return whether the pattern certainly matches somewhere in every text, the empty one too."""
    tree = parse(pattern, re.MULTILINE)
    return tree is not None and _always(tree)


def never_matches(pattern: str, *, raw: bool = False) -> str:
    """Return why the pattern certainly matches nowhere; empty where it may match.

    `raw` is whether the text keeps its line ends.
    """
    tree = parse(pattern, re.MULTILINE)
    if tree is None:
        return ""
    return _never(tree, dot_is_all=bool(tree.state.flags & re.DOTALL), raw=raw)


def _always(tree: Any) -> bool:
    seen = set()
    for name, argument in _flat(tree):
        if name == "AT" and str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            seen.add("begin")
        elif name == "AT" and str(argument) in ("AT_END", "AT_END_STRING"):
            seen.add("end")
        elif name == "BRANCH":
            # An alternative with an anchor of its own would bind the others' places.
            if not any(_always(body) and not _has_anchor(body) for body in argument[1]):
                return False
        elif name not in _REPEATS or argument[0] > 0:
            return False
    return len(seen) < 2


def _has_anchor(tree: Any) -> bool:
    return any(name == "AT" for name, _ in _flat(tree))


def _never(tree: Any, *, dot_is_all: bool, raw: bool) -> str:
    parts = list(_flat(tree))
    taken = 0
    for index, (name, argument) in enumerate(parts):
        before = parts[index - 1] if index else None
        after = parts[index + 1 :]
        if name == "AT":
            reason = _find_misplaced_anchor(str(argument), before, after, taken, dot_is_all)
            if reason:
                return reason
        elif name == "LITERAL" and argument == _RETURN and not raw:
            return "line ends are \\n for a search, so that \\r is nowhere"
        elif name == "FAILURE" or (name == "ASSERT_NOT" and not len(argument[1])):
            return "(?!) holds nowhere"
        elif name == "BRANCH":
            reasons = [_never(body, dot_is_all=dot_is_all, raw=raw) for body in argument[1]]
            if all(reasons):
                return reasons[0]
        taken += _least(name, argument)
    return ""


def _find_misplaced_anchor(
    position: str, before: Part | None, after: list[Part], taken: int, dot_is_all: bool
) -> str:
    if position == "AT_BEGINNING_STRING" and taken:
        return "nothing can come before \\A"
    if position == "AT_END_STRING" and any(_least(*part) for part in after):
        return "nothing can come after \\Z"
    if position == "AT_BEGINNING" and before and _is_no_newline(before, dot_is_all):
        return "only a line break can come before ^"
    if position == "AT_END" and after and _is_no_newline(after[0], dot_is_all):
        return "only a line break can come after $"
    return ""


def _is_no_newline(part: Part, dot_is_all: bool) -> bool:
    """Return whether the part takes exactly one character, certainly not a line break."""
    name, argument = part
    if name == "LITERAL":
        return bool(argument != _NEWLINE)
    return name == "ANY" and not dot_is_all


def _flat(tree: Any) -> Iterator[Part]:
    """Yield the parts of a sequence, those of plain groups in the group's place."""
    for operation, argument in tree:
        name = str(operation)
        # Scoped flags change what a dot means.
        if name == "SUBPATTERN" and not argument[1] and not argument[2]:
            yield from _flat(argument[3])
        else:
            yield name, argument


def _least(name: str, argument: Any) -> int:
    """Return the smallest number of characters that a part takes."""
    if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
        return 1
    if name in _REPEATS:
        return int(argument[0]) * int(argument[2].getwidth()[0])
    if name == "BRANCH":
        return min(int(body.getwidth()[0]) for body in argument[1])
    return int(argument[3].getwidth()[0]) if name == "SUBPATTERN" else 0


_SLASHES = re.compile(r"/.+/[gimsux]*", re.DOTALL)
_LOOSE_DOT = re.compile(r"[\w /-]*(?:\w\.\w[\w /-]*)+")
_TWO_BACKSLASHES = re.compile(r"(?<!\\)\\\\[bBdDsSwW](?![a-zA-Z])")
_TEXTS = ("# A\n\nSome words: 1.\n", '{"a": [null]}\n')
_QUOTES = "in single quotes, one backslash is enough"


def pattern_warnings(
    check: CompiledCheck, table: Table, diagnostics: Diagnostics, rule_id: str
) -> Iterator[Diagnostic]:
    """Yield what is odd about what a check searches for; `table` is the check as written."""
    search = check.search
    if search is None:
        return
    if search.literal:
        text = search.source
        if text.strip() and text != text.strip(" \t"):
            message = f"{quote(text)} is found with the blanks at its ends only"
            hint = "leave them out, or write a pattern with [ ] if they are meant"
            spot = table.at("search")
            yield warning("edge-blanks", message, diagnostics, spot, hint=hint, rule_id=rule_id)
        return
    spot = table.at("search")
    for code, message, hint in _odd(search):
        yield warning(code, message, diagnostics, spot, hint=hint, rule_id=rule_id)


def fix_warnings(
    fix: Fix, table: Table, diagnostics: Diagnostics, rule_id: str
) -> Iterator[Diagnostic]:
    """Yield what is odd about the pattern of a fix; `table` has its parameters as written."""
    search = fix.params.get("search")
    if fix.kind != "replace" or fix.params.get("literal") or not isinstance(search, str):
        return
    for code, message, hint in (*_misread(search), *_takes_all(search, fix)):
        yield warning(code, message, diagnostics, table.at("search"), hint=hint, rule_id=rule_id)


def _takes_all(search: str, fix: Fix) -> Iterator[tuple[str, str, str]]:
    ignore_case = fix.params.get("ignore_case") is True
    pattern = compile_pattern(search, ignore_case=ignore_case)
    try:
        all_of = all((0, len(t)) in pattern.spans(t, limit=1, seconds=1.0) for t in _TEXTS)
    except SearchError:
        return
    if all_of:
        message = f"{quote(search)} takes whole texts, so that nothing is left of them"
        yield "replaces-all", message, "say what is to be replaced, and no more"


def _odd(searched: TextSearch) -> Iterator[tuple[str, str, str]]:
    search, negative = searched.source, searched.most == 0
    if always_matches(search) and not searched.is_counted:
        end = "so that the check can never pass" if negative else "so that the check cannot fail"
        hint = "say what has to be there: + instead of *, or an anchor at both ends"
        yield "always-matches", f"{quote(search)} matches every text, {end}", hint
    elif reason := never_matches(search, raw=searched.raw):
        end = "so that the check cannot fail" if negative else "so that the check can never pass"
        yield "never-matches", f"{quote(search)} matches nowhere, {end}: {reason}", ""
    elif not searched.is_counted and (where := _idle(search)):
        message = f".* at the {where} of {quote(search)} changes nothing"
        yield "idle-dots", message, "leave it out: a search looks everywhere"
    yield from _misread(search)


def _misread(search: str) -> Iterator[tuple[str, str, str]]:
    """Yield what looks like a mistake, in a check and in a fix."""
    if _SLASHES.fullmatch(search):
        message = f"the slashes of {quote(search)} are part of the pattern"
        yield "slashes", message, "leave them out; ignore_case: true replaces /i"
    if _LOOSE_DOT.fullmatch(search):
        message = f"the dot in {quote(search)} stands for any character"
        yield "loose-dot", message, r"write \. or add literal: true"
    if found := _TWO_BACKSLASHES.search(search):
        yield "two-backslashes", f"{found[0]} is a backslash and a letter", _QUOTES


def _idle(search: str) -> str:
    if search.startswith((".*", ".*?")) and len(search) > 3:
        return "beginning"
    plain_end = search.endswith(".*") and not search.endswith(("\\.*", "[.*", "(.*"))
    return "end" if plain_end and len(search) > 2 else ""


_NAMES = ("a", "b/c.md", "b/c/.d", "README.md")
_ALWAYS = "leave it out, or say what the artifact has to have"
_NEVER = "the rule counts for no artifact: drop it, or change the condition"
_COUNTS = {"negate", "min_count", "max_count"}


def condition_warnings(rule: Rule, table: Table, diagnostics: Diagnostics) -> Iterator[Diagnostic]:
    """Yield what is odd about the conditions that a rule gives in this file."""
    given = table.get("when")
    entries = given if isinstance(given, Items) else [given]
    written = [entry for entry in entries if isinstance(entry, Table)]
    for condition, entry in zip(rule.when, written, strict=False):
        for code, message, hint in _odd_condition(condition, rule):
            yield warning(code, message, diagnostics, entry.spot, hint=hint, rule_id=rule.id)


def _odd_condition(condition: Condition, rule: Rule) -> Iterator[tuple[str, str, str]]:
    shown = quote(words(condition))
    holds = _constant_outcome(condition.check)
    if holds is not None:
        if holds is not condition.negated:
            yield "always-applies", f"{shown} holds for every artifact", _ALWAYS
        else:
            yield "never-applies", f"{shown} holds for no artifact", _NEVER
    elif any(_are_opposite(condition, other) for other in rule.when[: rule.when.index(condition)]):
        message = f"{shown} is the opposite of another condition: both hold for no artifact"
        yield "never-applies", message, _NEVER
    for spec in rule.checks:
        if _same(spec, condition.check):
            end = "pass" if condition.negated else "fail"
            message = f"a check asks for what {shown} has decided already: it can never {end}"
            yield "decided-check", message, "change one of the two"


def _constant_outcome(spec: CheckSpec) -> bool | None:
    """Return whether a condition always holds, or never does; None where that is not certain."""
    params = spec.params
    if spec.type == "file":
        return _constant_for_names(params["file"])
    search = params.get("search")
    if not isinstance(search, str) or params.get("literal") or _COUNTS & params.keys():
        return None
    if "section" not in params and "block" not in params and always_matches(search):
        return True
    return False if never_matches(search, raw=params.get("raw") is True) else None


def _constant_for_names(globs: str | list[str]) -> bool | None:
    globs = [globs] if isinstance(globs, str) else globs
    if all(selects(globs, name) for name in _NAMES):
        return True
    return False if all(".." in glob.split("/") for glob in globs) else None


def _are_opposite(one: Condition, other: Condition) -> bool:
    return _same(one.check, other.check) and one.negated is not other.negated


def _same(spec: CheckSpec, other: CheckSpec) -> bool:
    return spec.type == other.type and dict(spec.params) == dict(other.params)
