"""Set a value in YAML by changing only the characters that hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_reflex.fixes.edit import Edit, nested
from pytest_reflex.fixes.kind import FixError
from pytest_reflex.fixes.yaml_text import Style, after_dash, after_key, inline, word
from pytest_reflex.text.nodes import Entry, Node, NodeKind, descend

_BLOCK = frozenset((NodeKind.MAP, NodeKind.LIST))


def set_in_yaml(text: str, root: Node, steps: tuple[Any, ...], value: Any) -> Edit:
    """Return the edit that makes `value` stand at the end of `steps`."""
    way = list(descend(root, steps))
    style = _style(text, root)
    if len(way) == len(steps):
        return _replace(text, way, value, style)
    parent = way[-1][1].value if way else root
    rest = steps[len(way) :]
    if parent.kind is NodeKind.SCALAR and parent.value is None and way:
        return _replace(text, way, nested(rest, value), style)
    if parent.kind is NodeKind.MAP:
        return _add_pair(text, parent, rest, value, style)
    if parent.kind is NodeKind.LIST:
        return _add_item(text, parent, rest, value, style)
    kind = "an alias" if parent.kind is NodeKind.ALIAS else "a plain value"
    raise FixError(f"set: there is {kind} where {steps[len(way)]!r} should be added")


def _replace(text: str, way: list[tuple[Node, Entry]], value: Any, style: Style) -> Edit:
    parent, entry = way[-1]
    old = entry.value
    if old.anchored or old.kind is NodeKind.ALIAS:
        raise FixError("set: the value has an anchor, a tag or is an alias; change it by hand")
    written = old.end > old.start
    if parent.flow or (written and old.flow and _line_goes_on(text, old.end)):
        return Edit(old.start, old.end, inline(value))
    if written and old.flow and _is_short(value):
        return Edit(old.start, old.end, word(value))
    if entry.key is None:
        dash = text.rindex("-", 0, old.start)
        new = after_dash(value, _column(text, dash), style)
        return Edit(dash + 1, old.end if written else dash + 1, " " + new)
    colon = text.index(":", entry.key.end)
    return Edit(colon + 1, old.end if written else colon + 1, _below(value, text, entry.key, style))


def _is_short(value: Any) -> bool:
    return "\n" not in value if isinstance(value, str) else not (_is_many(value) and value)


def _is_many(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _line_goes_on(text: str, offset: int) -> bool:
    end = text.find("\n", offset)
    return bool(text[offset : end if end >= 0 else None].strip())


def _below(value: Any, text: str, key: Node, style: Style) -> str:
    return after_key(value, _column(text, key.start), style)


def _add_pair(text: str, parent: Node, rest: tuple[Any, ...], value: Any, style: Style) -> Edit:
    key, below = str(rest[0]), nested(rest[1:], value)
    if parent.flow:
        return _add_in_flow(parent, f"{word(key, flow=True)}: {inline(below)}")
    first = parent.entries[0].key
    assert first is not None
    column = _column(text, first.start)
    return _add_lines(text, parent, f"{word(key)}:{after_key(below, column, style)}", column)


def _add_item(text: str, parent: Node, rest: tuple[Any, ...], value: Any, style: Style) -> Edit:
    if rest[0] not in ("-", len(parent.entries), str(len(parent.entries))):
        raise FixError(f"set: the list has {len(parent.entries)} items and none at {rest[0]}")
    below = nested(rest[1:], value)
    if parent.flow:
        return _add_in_flow(parent, inline(below))
    column = _column(text, parent.start)
    return _add_lines(text, parent, "- " + after_dash(below, column, style), column)


def _add_in_flow(parent: Node, new: str) -> Edit:
    if not parent.entries:
        return Edit(parent.start + 1, parent.end - 1, new)
    at = parent.entries[-1].value.end
    return Edit(at, at, ", " + new)


def _add_lines(text: str, parent: Node, new: str, column: int) -> Edit:
    end = text.find("\n", parent.end)
    margin = " " * column
    if end < 0:
        return Edit(len(text), len(text), f"\n{margin}{new}")
    return Edit(end + 1, end + 1, f"{margin}{new}\n")


def _column(text: str, offset: int) -> int:
    return offset - text.rfind("\n", 0, offset) - 1


def _style(text: str, root: Node) -> Style:
    steps: Counter[int] = Counter()
    dashes: Counter[int] = Counter()
    for key, value in _block_pairs(root):
        deeper = _column(text, value.start) - _column(text, key.start)
        (steps if value.kind is NodeKind.MAP else dashes)[deeper] += 1
    step = next((n for n, _ in steps.most_common() if n > 0), 2)
    dash = next((n for n, _ in dashes.most_common() if n >= 0), step)
    return Style(step=step, dash=dash)


def _block_pairs(root: Node) -> Iterator[tuple[Node, Node]]:
    stack = [root]
    while stack:
        node = stack.pop()
        for entry in node.entries:
            below = entry.value
            if below.kind in _BLOCK and not below.flow:
                stack.append(below)
                if entry.key is not None:
                    yield entry.key, below
