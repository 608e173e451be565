"""A fence around a whole answer: what is inside it."""

from __future__ import annotations

import re

_OPEN = re.compile(r"(`{3,}|~{3,})[ \t]*([^\n`]*)")
_MARKDOWN = frozenset(("markdown", "md"))


def single_fence(text: str) -> str | None:
    """Return the content where the whole text is one fenced block and nothing else, else None."""
    lines = text.strip().split("\n")
    opening = _OPEN.fullmatch(lines[0].rstrip())
    if not opening or len(lines) < 2 or not _closes(lines[-1], opening[1]):
        return None
    inside = lines[1:-1]
    if any(_closes(line, opening[1]) for line in inside):
        return None
    return _joined(inside)


def unwrapped(text: str) -> str:
    """Return a document without the fence that an agent put around the whole of it.

    Fences inside stay. Where the text can be read in two ways (a document that begins and ends
    with a block of its own), it is left alone.
    """
    if (inside := single_fence(text)) is not None:
        return inside
    lines = text.strip().split("\n")
    opening = _OPEN.fullmatch(lines[0].rstrip())
    if not opening or len(lines) < 2 or not _closes(lines[-1], opening[1]):
        return text
    named = opening[2].strip().lower() in _MARKDOWN
    if _ends_open(lines[1:-1]) or not (named or _ends_open(lines)):
        return text
    return _joined(lines[1:-1])


def _ends_open(lines: list[str]) -> bool:
    """Return whether a fence is still open behind the last line."""
    mark = ""
    for line in lines:
        if mark:
            mark = "" if _closes(line, mark) else mark
        elif opening := _OPEN.fullmatch(line.strip()):
            mark = opening[1]
    return bool(mark)


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and not bare.strip(mark[0])


def _joined(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)
