"""Set a value in JSON or YAML by changing only the characters that hold it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.fixes.kind import FixError
from pytest_reflex.text.data_tree import Entry, Node, NodeKind, descend
from pytest_reflex.text.yaml_data import plain_value


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `new` in place of the characters from `start` to `end`."""

    start: int
    end: int
    new: str


def nest(steps: tuple[Any, ...], value: Any) -> Any:
    """Return `value` under new maps, one for each step."""
    for step in reversed(steps):
        if isinstance(step, int):
            raise FixError(f"set: there is no list to put item {step} into")
        value = [value] if step == "-" else {str(step): value}
    return value


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
    below = _render(text, nest(rest[1:], value), margin)
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


_PLAIN = re.compile(r"[A-Za-z_/][\w/{}.,()+@%$;'\- ]*[\w/{}.()+%$]|[A-Za-z_/]")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z_/][\w/.()+@%$'\- ]*[\w/.()+%$]|[A-Za-z_/]")
_OLD_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_PRINTABLE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\t\r]*")


@dataclass(frozen=True, slots=True)
class Style:
    """Blanks per level of maps, and from a key to the dashes of its list."""

    step: int = 2
    dash: int = 2


def after_key(value: Any, indent: int, style: Style) -> str:
    """Return what follows `key:`, without a final line end; `indent` is the key's column."""
    if isinstance(value, Mapping) and value:
        return "\n" + pairs(value, indent + style.step, style, first=" " * (indent + style.step))
    if _is_list(value) and value:
        return "\n" + items(value, indent + style.dash, style)
    return " " + scalar(value, indent, style)


def pairs(value: Mapping[Any, Any], indent: int, style: Style, *, first: str = "") -> str:
    """Return a map's lines at a column; `first` stands before the first key."""
    margin = "\n" + " " * indent
    return first + margin.join(
        word(key) + ":" + after_key(below, indent, style) for key, below in value.items()
    )


def items(value: Sequence[Any], indent: int, style: Style) -> str:
    """Return a list's lines with the dashes at a column."""
    return "\n".join(" " * indent + "- " + after_dash(item, indent, style) for item in value)


def after_dash(value: Any, indent: int, style: Style) -> str:
    """Return what follows `- `; `indent` is the dash's column."""
    if isinstance(value, Mapping) and value:
        return pairs(value, indent + 2, style)
    if _is_list(value) and value:
        return items(value, indent + 2, style).lstrip(" ")
    return scalar(value, indent, style)


def scalar(value: Any, indent: int, style: Style) -> str:
    """Return a scalar or empty collection; several lines of text become a literal block."""
    if not isinstance(value, str):
        return inline(value)
    if "\n" in value and _fits_block(value):
        chomp = "-" if not value.endswith("\n") else "+" if value.endswith("\n\n") else ""
        margin = " " * (indent + style.step)
        lines = value.removesuffix("\n").split("\n")
        return f"|{chomp}\n" + "\n".join(margin + line if line else "" for line in lines)
    return word(value)


def _fits_block(value: str) -> bool:
    lines = [line for line in value.split("\n") if line]
    clean = _PRINTABLE.fullmatch(value.replace("\n", ""))
    return bool(lines) and bool(clean) and not lines[0].startswith(" ") and value[0] != "\n"


def word(value: Any, *, flow: bool = False) -> str:
    """Return a scalar on one line, without quotes where it means the same to every reader."""
    if not isinstance(value, str):
        return inline(value)
    plain = (_PLAIN_IN_FLOW if flow else _PLAIN).fullmatch(value)
    if plain and value.lower() not in _OLD_WORDS and plain_value(value) == value:
        return value
    return quote(value)


def inline(value: Any) -> str:
    """Return any value on one line: JSON, which is YAML too."""
    if isinstance(value, float) and not _is_finite(value):
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inline(k)}: {inline(v)}" for k, v in value.items()) + "}"
    if _is_list(value):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return quote(value) if isinstance(value, str) else json.dumps(value)


def quote(value: str) -> str:
    """Return a double-quoted string; what YAML does not print raw is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]", _escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _is_finite(value: float) -> bool:
    return value - value == 0


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


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
        return _replace(text, way, nest(rest, value), style)
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
    key, below = str(rest[0]), nest(rest[1:], value)
    if parent.flow:
        return _add_in_flow(parent, f"{word(key, flow=True)}: {inline(below)}")
    first = parent.entries[0].key
    assert first is not None
    column = _column(text, first.start)
    return _add_lines(text, parent, f"{word(key)}:{after_key(below, column, style)}", column)


def _add_item(text: str, parent: Node, rest: tuple[Any, ...], value: Any, style: Style) -> Edit:
    if rest[0] not in ("-", len(parent.entries), str(len(parent.entries))):
        raise FixError(f"set: the list has {len(parent.entries)} items and none at {rest[0]}")
    below = nest(rest[1:], value)
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
