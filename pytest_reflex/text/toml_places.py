"""Where the values of a TOML text are written: the standard reader does not say.

The text is valid when it comes here. Keys are found at the beginnings of lines, so that a value
within an inline table, or an item of an array, has the place of the key that holds it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

Places = dict[tuple[Any, ...], int]

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEAD = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEY})[ \t]*\]")
_PAIR = re.compile(rf"[ \t]*({_KEY})[ \t]*=[ \t]*")
_PARTS = re.compile(_PART)
_QUOTES = re.compile(r'"""|\'\'\'')


@lru_cache(maxsize=4)
def toml_places(text: str) -> Places:
    """Return the offset of the value at each path of keys and indices; of a table, of its head.

    It is shared between callers: do not change it.
    """
    found: Places = {}
    counts: dict[tuple[Any, ...], int] = {}
    table: tuple[Any, ...] = ()
    for start, line in _lines(text):
        if head := _HEAD.match(line):
            table = _table(_keys(head[2]), head[1] == "[[", counts)
            found.setdefault(table, start + head.start(1))
        elif pair := _PAIR.match(line):
            path = table
            for key in _keys(pair[1]):
                path = (*path, key)
                found.setdefault(path, start + pair.end())
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, each with its offset, that do not begin within a text of several lines."""
    start, quotes = 0, ""
    for line in text.split("\n"):
        if not quotes:
            yield start, line
        for mark in _QUOTES.findall(line):
            if not quotes:
                quotes = mark
            elif quotes == mark:
                quotes = ""
        start += len(line) + 1


def _table(keys: list[str], is_item: bool, counts: dict[tuple[Any, ...], int]) -> tuple[Any, ...]:
    """Return the path of a table; in an array of tables its last item is meant, or a new one.

    `counts` has how many items each array of tables has so far.
    """
    path: tuple[Any, ...] = ()
    for number, key in enumerate(keys, start=1):
        path = (*path, key)
        count = counts.get(path, 0)
        if is_item and number == len(keys):
            counts[path] = count + 1
            return (*path, count)
        if count:
            path = (*path, count - 1)
    return path


def _keys(text: str) -> list[str]:
    return [_unquoted(part) for part in _PARTS.findall(text)]


def _unquoted(part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    try:
        return str(json.loads(part)) if part.startswith('"') else part
    except ValueError:  # an escape that TOML has and JSON has not
        return part[1:-1]
