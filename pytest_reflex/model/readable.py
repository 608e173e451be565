"""What a person reads of a text that was written for a terminal: for decisions, never for files."""

from __future__ import annotations

import re

from pytest_reflex.model.plain import HIDDEN

# ECMA-48: control sequences (colours, cursor), strings (titles, links), and two-character escapes.
_SEQUENCE = re.compile(
    r"""
    (?:\x1b\[|\x9b) [0-?]* [ -/]* [@-~]
    | (?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]) [^\x07\x1b\x9c\n]* (?:\x07|\x9c|\x1b\\)?
    | \x1b [ -/]* [0-~]
    """,
    re.VERBOSE,
)


def readable(text: str) -> str:
    """Return `text` without terminal sequences and without characters that nobody can see.

    Newlines and tabs stay; a byte-order mark, NUL and zero-width characters go.
    """
    return HIDDEN.sub("", _SEQUENCE.sub("", text))
