"""YAML text to a tree with positions, from the events of ruamel.yaml's C parser (YAML 1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.documents.nodes import MAX_DEPTH, Entry, Node, NodeError, NodeKind

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_INFINITY = re.compile(r"([-+]?)\.(inf|Inf|INF)")
_NAN = frozenset((".nan", ".NaN", ".NAN"))


def read_yaml(text: str) -> Node | None:
    """Return the tree of the one document in the text, None where it is empty.

    Raises NodeError where it is not YAML, too deep, or more than one document.
    """
    root: Node | None = None
    stack: list[Node] = []
    keys: list[Node | None] = []
    for event in _events(text):
        name = type(event).__name__
        if name == "DocumentStartEvent" and root is not None:
            raise NodeError("it holds more than one YAML document")
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
                raise NodeError(f"it is nested more than {MAX_DEPTH} levels deep")
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


def plain_value(word: str) -> Any:
    """Return what an unquoted YAML 1.2 scalar means."""
    if word in _NULL:
        return None
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    if len(word) < 400 and _INT.fullmatch(word):
        return int(word, 0) if word[:2] in ("0o", "0x") else int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if match := _INFINITY.fullmatch(word):
        return float(match[1] + "inf")
    return float("nan") if word in _NAN else word


def _events(text: str) -> Iterator[Any]:
    from ruamel.yaml.error import YAMLError

    try:
        yield from _parse(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise NodeError(where + str(getattr(error, "problem", None) or error)) from None
    except (RecursionError, ValueError, UnicodeEncodeError) as error:
        raise NodeError(f"it cannot be read as YAML: {error}") from None


def _parse(text: str) -> Iterator[Any]:
    try:
        from _ruamel_yaml import CParser
    except ImportError:
        from ruamel.yaml import YAML

        yield from YAML(typ="safe", pure=True).parse(text)
        return
    parser = CParser(text)
    while parser.check_event():
        yield parser.get_event()
