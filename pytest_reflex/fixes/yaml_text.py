"""Plain values as YAML block text, quoted so that YAML 1.1 and 1.2 read the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.text.yaml_events import plain_value

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
    return quoted(value)


def inline(value: Any) -> str:
    """Return any value on one line: JSON, which is YAML too."""
    if isinstance(value, float) and not _is_finite(value):
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inline(k)}: {inline(v)}" for k, v in value.items()) + "}"
    if _is_list(value):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(value: str) -> str:
    """Return a double-quoted string; what YAML does not print raw is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]", _escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _is_finite(value: float) -> bool:
    return value - value == 0


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
