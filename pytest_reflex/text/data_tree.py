"""JSON and YAML texts as trees that know the span of every value, for edits.

JSON is the grammar of RFC 8259, nothing beside it. Of YAML, aliases and merge keys stay what they
are, and a tag stays with its value, so that an edit sees what is written and not what it stands
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from json import JSONDecodeError, JSONDecoder
from typing import Any

from pytest_reflex.model.json_fault import json_fault
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.paths import index_of, key_in, spelt
from pytest_reflex.text.yaml_data import plain_value, yaml_events

MAX_DEPTH = 200


class NodeKind(StrEnum):
    """The shapes of a node. An alias stands for a node elsewhere and is not followed."""

    MAP = "map"
    LIST = "list"
    SCALAR = "scalar"
    ALIAS = "alias"


@dataclass(slots=True, kw_only=True)
class Node:
    """One value with the span `start` to `end` of its text.

    `flow` is True for values in brackets, braces or on one line; `entries` are the pairs of a map
    and the items of a list (key None); `value` is the data of a scalar; `anchored` where other
    places may refer to it. `by_key` has the entries of a map once one was asked for.
    """

    kind: NodeKind
    start: int
    end: int
    flow: bool = True
    value: Any = None
    entries: list[Entry] = field(default_factory=list)
    anchored: bool = False
    by_key: dict[Any, Entry] | None = field(default=None, repr=False, compare=False)


@dataclass(slots=True)
class Entry:
    """A pair of a map, or an item of a list (key None)."""

    key: Node | None
    value: Node


def data_of(node: Node) -> Any:
    """Return the plain value of a node; an alias as a one-item tuple, so that it equals itself."""
    if node.kind is NodeKind.MAP:
        return {_hashable(entry): data_of(entry.value) for entry in node.entries}
    if node.kind is NodeKind.LIST:
        return [data_of(entry.value) for entry in node.entries]
    return (node.value,) if node.kind is NodeKind.ALIAS else node.value


def descend(node: Node, steps: tuple[Any, ...]) -> Iterator[tuple[Node, Entry]]:
    """Yield (parent, entry) for each step as far as the path exists."""
    for step in steps:
        entry = _entry(node, step)
        if entry is None:
            return
        yield node, entry
        node = entry.value


def _entry(node: Node, step: Any) -> Entry | None:
    if node.kind is NodeKind.MAP and isinstance(step, str):
        if node.by_key is None:
            node.by_key = {_hashable(entry): entry for entry in reversed(node.entries)}
        if step in node.by_key:
            return node.by_key[step]
        key = key_in(node.by_key, step)
        return None if key is None else node.by_key[key]
    if node.kind is NodeKind.LIST:
        index = index_of(step)
        if index is not None and -len(node.entries) <= index < len(node.entries):
            return node.entries[index]
    return None


def _hashable(entry: Entry) -> Any:
    key = entry.key
    assert key is not None
    value = key.value if key.kind is NodeKind.SCALAR else repr(data_of(key))
    # True, 1 and 1.0 are different keys of a document and the same key of a dict.
    return value if isinstance(value, str) else _OddKey(type(value).__name__, value)


@dataclass(frozen=True, slots=True)
class _OddKey:
    """A key that is not a string; spelt as its value, equal to the same type only."""

    type: str
    value: Any

    def __str__(self) -> str:
        return spelt(self.value)


def read_yaml(text: str) -> Node | None:
    """Return the tree of the one document in the text, None where it is empty.

    Raises DataSyntaxError where it is not YAML, too deep, or more than one document.
    """
    root: Node | None = None
    stack: list[Node] = []
    keys: list[Node | None] = []
    for event in yaml_events(text):
        name = type(event).__name__
        if name == "DocumentStartEvent" and root is not None:
            line = event.start_mark.line + 1
            raise DataSyntaxError("it holds more than one YAML document", line)
        if name in ("MappingEndEvent", "SequenceEndEvent"):
            _close(stack.pop(), event)
            keys.pop()
            continue
        node = _node(text, name, event)
        if node is None:
            continue
        if stack:
            _add(stack[-1], keys, node)
        else:
            root = node
        if node.kind in (NodeKind.MAP, NodeKind.LIST):
            if len(stack) == MAX_DEPTH:
                line = event.start_mark.line + 1
                raise DataSyntaxError(f"it is nested more than {MAX_DEPTH} levels deep", line)
            stack.append(node)
            keys.append(None)
    return root


def _node(text: str, name: str, event: Any) -> Node | None:
    start, end = event.start_mark.index, event.end_mark.index
    anchored = bool(getattr(event, "anchor", None))
    if name == "AliasEvent":
        return Node(kind=NodeKind.ALIAS, start=start, end=end, value=event.anchor)
    if name == "ScalarEvent":
        block = text[start:end].lstrip("&!").startswith(("|", ">")) and not event.implicit[0]
        return Node(
            kind=NodeKind.SCALAR,
            start=start,
            end=start + len(text[start:end].rstrip("\n")) if block else end,
            flow=not block,
            value=_scalar(event),
            anchored=anchored or bool(event.tag),
        )
    if name in ("MappingStartEvent", "SequenceStartEvent"):
        return Node(
            kind=NodeKind.MAP if name == "MappingStartEvent" else NodeKind.LIST,
            start=start,
            end=end,
            flow=bool(event.flow_style),
            anchored=anchored or bool(event.tag),
        )
    return None


def _add(parent: Node, keys: list[Node | None], node: Node) -> None:
    if parent.kind is NodeKind.LIST:
        parent.entries.append(Entry(None, node))
    elif keys[-1] is None:
        keys[-1] = node
    else:
        parent.entries.append(Entry(keys[-1], node))
        keys[-1] = None


def _close(node: Node, event: Any) -> None:
    # A block collection has no closing mark of its own: its text ends with its last value.
    node.end = event.end_mark.index if node.flow else max(node.start, _last_end(node))


def _last_end(node: Node) -> int:
    if not node.entries:
        return node.end
    last = node.entries[-1]
    return max(last.value.end, last.key.end if last.key else 0)


def _scalar(event: Any) -> Any:
    if event.tag == "tag:yaml.org,2002:str":
        return event.value
    if event.tag:
        return (event.tag, event.value)
    return plain_value(event.value) if event.implicit[0] else event.value


_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = JSONDecoder()


def read_json(text: str) -> Node:
    """Return the tree of a JSON document; raises DataSyntaxError with line and column."""
    try:
        node = _value(text, _skip(text, 0), 0)
    except JSONDecodeError as error:
        message, at = json_fault(error)
        raise DataSyntaxError.at(text, at, message) from None
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


LONGEST = 2_000_000  # characters

_KEY = re.compile(r"[\w$./{}-]+")


def read_tree(text: str, *, is_json: bool) -> Node | None:
    """Return the tree of a JSON or YAML text, None for empty YAML; raises DataSyntaxError."""
    return read_json(text) if is_json else read_yaml(text)


def whole_tree(text: str) -> tuple[Node, bool] | None:
    """Return the map or list that a text is as a whole, and whether it is JSON.

    Prose such as "Note: this" is YAML too: `looks_like_data` decides.
    """
    for is_json in (True, False):
        try:
            root = read_tree(text, is_json=is_json)
        except DataSyntaxError:
            continue
        if root and root.kind in (NodeKind.MAP, NodeKind.LIST):
            return root, is_json
        return None
    return None


def looks_like_data(root: Node) -> bool:
    """Return whether every key of a map is a word, unlike in prose; a list has no keys."""
    keys = [entry.key.value for entry in root.entries if entry.key]
    return len(keys) == len(root.entries) and all(_KEY.fullmatch(str(key)) for key in keys)


def top_keys(text: str) -> list[tuple[str, Node]]:
    """Return the keys of a mapping with their values; nothing where the text is no such data."""
    whole = whole_tree(text) if len(text) <= LONGEST else None
    if whole is None or not looks_like_data(whole[0]):
        return []
    return [(str(entry.key.value), entry.value) for entry in whole[0].entries if entry.key]


def is_data(text: str) -> bool:
    """Return whether a text is structured data as a whole: a mapping with something nested in it.

    A flat one may be Markdown whose paragraphs begin with a word and a colon.
    """
    return any(value.kind is not NodeKind.SCALAR for _, value in top_keys(text))
