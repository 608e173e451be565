"""YAML text to a tree that knows the span of every value, for edits.

Aliases and merge keys stay what they are, and a tag stays with its value, so that an edit sees
what is written and not what it stands for.
"""

from __future__ import annotations

from typing import Any

from pytest_reflex.documents.nodes import MAX_DEPTH, Entry, Node, NodeKind
from pytest_reflex.documents.syntax import DataSyntaxError
from pytest_reflex.documents.yaml_events import yaml_events
from pytest_reflex.documents.yaml_scalars import plain_value


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
