"""Patterns of which is certain, whatever the text is, that they match, or that they do not.

Both answers are sound and not complete: where nothing is said, nothing is known. They are read off
CPython's parse tree; searches are multi-line and line ends are `\\n`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.search.pattern_cost import parse

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
            if not any(_always(body) and not _anchored(body) for body in argument[1]):
                return False
        elif name not in _REPEATS or argument[0] > 0:
            return False
    return len(seen) < 2


def _anchored(tree: Any) -> bool:
    return any(name == "AT" for name, _ in _flat(tree))


def _never(tree: Any, *, dot_is_all: bool, raw: bool) -> str:
    parts = list(_flat(tree))
    taken = 0
    for index, (name, argument) in enumerate(parts):
        before = parts[index - 1] if index else None
        after = parts[index + 1 :]
        if name == "AT":
            reason = _misplaced(str(argument), before, after, taken, dot_is_all)
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


def _misplaced(
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
