"""Set a value in JSON by changing only the characters that hold it."""

from __future__ import annotations

import json
import re
from typing import Any

from pytest_reflex.fixes.edit import Edit, nested
from pytest_reflex.fixes.kind import FixError
from pytest_reflex.text.nodes import Node, NodeKind, descend

_INDENT = re.compile(r"\n([ \t]+)")


def set_in_json(text: str, root: Node, steps: tuple[Any, ...], value: Any) -> Edit:
    """Return the edit that makes `value` stand at the end of `steps`."""
    way = list(descend(root, steps))
    if len(way) == len(steps):
        old = way[-1][1].value
        return Edit(old.start, old.end, _render(text, value, _margin(text, old.start)))
    parent = way[-1][1].value if way else root
    rest = steps[len(way) :]
    if parent.kind is NodeKind.SCALAR:
        raise FixError(f"set: there is a plain value where {rest[0]!r} should be added")
    if parent.kind is NodeKind.LIST and rest[0] not in ("-", len(parent.entries)):
        raise FixError(f"set: the list has {len(parent.entries)} items and none at {rest[0]}")
    return _add(text, parent, rest, value)


def _add(text: str, parent: Node, rest: tuple[Any, ...], value: Any) -> Edit:
    unit = _unit(text)
    margin = _margin(text, parent.start) + unit
    if parent.entries:
        first = parent.entries[0].key or parent.entries[0].value
        own_line = "\n" in text[parent.start : first.start]
        margin = _margin(text, first.start) if own_line else _margin(text, parent.start)
    else:
        own_line = bool(unit)
    below = _render(text, nested(rest[1:], value), margin)
    new = below if parent.kind is NodeKind.LIST else f"{_string(rest[0])}: {below}"
    if parent.entries:
        at = parent.entries[-1].value.end
        return Edit(at, at, f",\n{margin}{new}" if own_line else f", {new}")
    if own_line:
        new = f"\n{margin}{new}\n{margin.removesuffix(unit)}"
    return Edit(parent.start + 1, parent.end - 1, new)


def _render(text: str, value: Any, margin: str) -> str:
    unit = _unit(text)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=unit or None).replace(
        "\n", "\n" + margin
    )


def _string(key: Any) -> str:
    return json.dumps(str(key), ensure_ascii=False)


def _unit(text: str) -> str:
    """Return the indent of one level, empty where the document is written on one line."""
    match = _INDENT.search(text)
    return match[1] if match else ""


def _margin(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
