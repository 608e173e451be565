"""A JSON or YAML text as a tree that knows where each value is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_reflex.text.paths import index_of, key_in, spelt

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
    return value if isinstance(value, str) else _Odd(type(value).__name__, value)


@dataclass(frozen=True, slots=True)
class _Odd:
    """A key that is not a string; spelt as its value, equal to the same type only."""

    type: str
    value: Any

    def __str__(self) -> str:
        return spelt(self.value)
