"""A quick reader for criteria in plain block style: one `key: value` or `- item` in each line.

Promises: it returns exactly what `build.build` returns, or None where a line is anything else
(block scalars, escapes, anchors, trailing comments, a fault of any kind): then the real parser
reads the file. It is six times faster than building from events, and imports no library.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

from pytest_reflex.criteria.nodes import MAX_DEPTH, Items, Table
from pytest_reflex.criteria.values import plain_value
from pytest_reflex.documents.yaml_events import CONSTANTS, NUMBER_STARTS

MOST_LINES = 300_000

_Node = TypeVar("_Node", Table, Items)

# Characters that YAML forbids, folds or treats as a line break.
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_WORD = r"[A-Za-z_][\w-]{0,99}"
_HEAD = re.compile(rf"( *)(- )?({_WORD}):?", re.ASCII)
_TYPED_STARTS = NUMBER_STARTS | {word[0] for word in CONSTANTS if word}
_NO_START = frozenset(" -?:,[]{}#&*!|>'\"%@`")
_ITEM = r"[^\s\-?:,\[\]{}#&*!|>'\"%@`][^:#,\[\]{}\"']*(?<! )|\"[^\"\\]*\"|'[^']*'"
_FLOW_LIST = re.compile(rf"\[(?:{_ITEM})(?:, (?:{_ITEM}))*\]")
_FLOW_ITEM = re.compile(_ITEM)
_PAIR = rf"({_WORD}): ({_ITEM})"
_FLOW_MAPPING = re.compile(rf"\{{{_WORD}: (?:{_ITEM})(?:, {_WORD}: (?:{_ITEM}))*\}}", re.ASCII)
_FLOW_PAIR = re.compile(_PAIR, re.ASCII)


def read_plain_lines(text: str) -> Table | None:
    """Return the mapping in a text of plain lines; None where the parser has to read it."""
    lines = text.split("\n")
    if len(lines) > MOST_LINES or _is_odd(text):
        return None
    try:
        return _Lines().read(lines)
    except _NotPlainError:
        return None


class _NotPlainError(Exception):
    """This text is not what this reader knows."""


def _is_odd(text: str) -> bool:
    if text.isascii():
        # Ten times faster than a pattern: nothing but what is allowed must be left.
        return bool(text.encode("ascii").translate(None, _USUAL))
    return bool(_ODD.search(text))


_USUAL = bytes(range(0x20, 0x7F)) + b"\n"
_Shape = tuple[int, int, str]
_UNKNOWN = object()
_SHORT = 24
_DEEPEST = MAX_DEPTH - 2


class _Lines:
    """Open containers with their columns (0-based), and the key whose block may follow.

    Beginnings of lines and short values repeat from rule to rule: what was made of them is kept.
    """

    def __init__(self) -> None:
        self._stack: list[tuple[int, Any]] = []
        self._root: Table | None = None
        self._awaited = ""
        self._heads: dict[str, _Shape] = {}
        self._bare: dict[str, _Shape] = {}

    def read(self, lines: list[str]) -> Table | None:
        heads, bare = self._heads, self._bare
        values: dict[str, Any] = {}
        indent = -1
        for number, line in enumerate(lines, 1):
            head, colon, rest = line.partition(": ")
            shape = heads.get(head) if colon else bare.get(head)
            if shape is None:
                shape = self._learn(line, head, colon, number)
                if shape is None:
                    indent = -1
                    continue
            column, dash, word = shape
            if column != indent or dash:
                table = self._table(number, column, dash)
                spots = table.spots
                indent = column
            if word in table:
                raise _NotPlainError
            if colon:
                value = values.get(rest, _UNKNOWN)
                if value is _UNKNOWN:
                    value = _value(rest, number, column + len(word) + 3)
                    if len(rest) < _SHORT and rest[0] not in "[{":
                        values[rest] = value
                table[word] = value
                spots.append(number)
            else:
                table[word] = None
                spots.append((number, column + 1, number, column + len(word) + 2))
                self._awaited = word
                indent = -1
        return self._root

    def _learn(self, line: str, head: str, colon: str, number: int) -> _Shape | None:
        """Return column, width of the dash, and key of a line; None where it holds no key."""
        match = _HEAD.fullmatch(head)
        if match and head.endswith(":") != bool(colon) and match[3] not in CONSTANTS:
            dash = len(match[2] or "")
            shape = len(match[1]) + dash, dash, match[3]
            (self._heads if colon else self._bare)[head] = shape
            return shape
        text = line.lstrip(" ")
        if text.startswith("- "):
            self._add_item(text[2:], number, len(line) - len(text))
        elif text and text[0] != "#":
            raise _NotPlainError
        return None

    def _table(self, number: int, column: int, dash: int) -> Table:
        """Return the mapping that a line's key belongs to, opening it where it is new."""
        if not dash and self._stack:
            return self._container(Table, number, column)
        table = Table((number, column + 1))
        if dash:
            items = self._container(Items, number, column - dash)
            items.append(table)
            items.spots.append(table.spot)
        elif column:
            raise _NotPlainError
        else:
            self._root = table
        self._stack.append((column, table))
        return table

    def _add_item(self, item: str, number: int, column: int) -> None:
        items = self._container(Items, number, column)
        spot = number, column + 3
        items.append(_value(item, *spot))
        items.spots.append(spot)

    def _container(self, kind: type[_Node], number: int, column: int) -> _Node:
        """Return the open container at a column, or a new one under the awaited key."""
        stack = self._stack
        if self._awaited:
            indent, parent = stack[-1]
            if column > indent or (column == indent and kind is Items):
                node = kind((number, column + 1))
                parent[self._awaited] = node
                parent.spots[-1] = parent.spots[-1][:2] + node.spot
                self._awaited = ""
                stack.append((column, node))
                if len(stack) > _DEEPEST:
                    raise _NotPlainError
                return node
            self._awaited = ""
        while stack:
            indent, parent = stack[-1]
            if indent < column:
                break
            if indent == column and type(parent) is kind:
                return parent
            stack.pop()
        raise _NotPlainError


def _value(text: str, number: int, column: int) -> Any:
    """Return the value of what stands behind a key or dash; `column` is 1-based."""
    if not text:
        raise _NotPlainError
    first = text[0]
    if first not in _NO_START:
        if text[-1] in " :" or ": " in text or " #" in text:
            raise _NotPlainError
        return _plain(text) if first in _TYPED_STARTS else text
    if first == '"' or first == "'":
        if text.find(first, 1) != len(text) - 1 or (first == '"' and "\\" in text):
            raise _NotPlainError
        return text[1:-1]
    if first == "[" and _FLOW_LIST.fullmatch(text):
        return _flow_list(text, number, column)
    if first == "{" and _FLOW_MAPPING.fullmatch(text):
        return _flow_mapping(text, number, column)
    raise _NotPlainError


def _plain(text: str) -> Any:
    try:
        return plain_value(text)
    except ValueError:
        raise _NotPlainError from None


def _flow_list(text: str, number: int, column: int) -> Items:
    items = Items((number, column))
    for match in _FLOW_ITEM.finditer(text, 1):
        spot = number, column + match.start()
        items.append(_value(match[0], *spot))
        items.spots.append(spot)
    return items


def _flow_mapping(text: str, number: int, column: int) -> Table:
    table = Table((number, column))
    for match in _FLOW_PAIR.finditer(text, 1):
        key = match[1]
        if key in table or key in CONSTANTS:
            raise _NotPlainError
        after = column + match.start(2)
        table[key] = _value(match[2], number, after)
        table.spots.append((number, column + match.start(), number, after))
    return table
