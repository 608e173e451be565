"""JSON text to a tree with positions; the grammar of RFC 8259, nothing beside it."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from pytest_reflex.documents.nodes import MAX_DEPTH, Entry, Node, NodeKind
from pytest_reflex.documents.syntax import DataSyntaxError

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = JSONDecoder()


def read_json(text: str) -> Node:
    """Return the tree of a JSON document; raises DataSyntaxError with line and column."""
    try:
        node = _value(text, _skip(text, 0), 0)
    except JSONDecodeError as error:
        raise DataSyntaxError.at(text, error.pos, error.msg) from None
    rest = _skip(text, node.end)
    if rest < len(text):
        raise DataSyntaxError.at(text, rest, "more text after the document")
    return node


def _value(text: str, at: int, depth: int) -> Node:
    mark = text[at : at + 1]
    if mark in ("{", "["):
        if depth == MAX_DEPTH:
            raise DataSyntaxError.at(text, at, f"nested more than {MAX_DEPTH} levels deep")
        return _collection(text, at, depth, "}" if mark == "{" else "]")
    if mark == '"':
        return _string(text, at)
    for word, meaning in _WORDS.items():
        if text.startswith(word, at):
            return Node(kind=NodeKind.SCALAR, start=at, end=at + len(word), value=meaning)
    number = _NUMBER.match(text, at)
    if not number:
        raise DataSyntaxError.at(text, at, "expected a value")
    whole = number[1] is None and number[2] is None and len(number[0]) < 4000
    value = int(number[0]) if whole else float(number[0])
    return Node(kind=NodeKind.SCALAR, start=at, end=number.end(), value=value)


def _collection(text: str, at: int, depth: int, closing: str) -> Node:
    kind = NodeKind.MAP if closing == "}" else NodeKind.LIST
    node = Node(kind=kind, start=at, end=at)
    at = _skip(text, at + 1)
    while text[at : at + 1] != closing:
        if node.entries:
            at = _skip(text, _expect(text, at, ","))
        key: Node | None = None
        if kind is NodeKind.MAP:
            key = _string(text, at)
            at = _skip(text, _expect(text, _skip(text, key.end), ":"))
        value = _value(text, at, depth + 1)
        node.entries.append(Entry(key, value))
        at = _skip(text, value.end)
    node.end = at + 1
    return node


def _string(text: str, at: int) -> Node:
    _expect(text, at, '"')
    value, end = _DECODER.raw_decode(text, at)
    return Node(kind=NodeKind.SCALAR, start=at, end=end, value=value)


def _expect(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise DataSyntaxError.at(text, at, f"expected {mark}")
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
