"""Plain data as YAML in block style that our own reader reads back as the same values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_reflex.criteria.diagnostics import plain_value
from pytest_reflex.model.plain import escape_control

_PLAIN = re.compile(r"[A-Za-z][\w ./<>()+-]*(?<! )", re.ASCII)
_STEP = "  "


def to_yaml(value: Any) -> str:
    """Return a mapping or list of texts, numbers, booleans and None as YAML, keys in their order.

    Texts are written so that they can be read: in single quotes where there are backslashes, as a
    block where there are lines.
    """
    return "\n".join(_block(value, "")) + "\n"


def scalar(value: Any) -> str:
    """Return a text, number, boolean or None as it stands on one line of YAML."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _is_plain(value):
        return value
    if value == escape_control(value) and "\n" not in value and "\t" not in value:
        return (
            "'" + value.replace("'", "''") + "'" if "\\" in value or '"' in value else _json(value)
        )
    return _json(value)


def _block(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{indent}{scalar(key)}:", item, indent, indent + _STEP)
    else:
        for item in value:
            if _is_nested(item):
                first, *rest = _block(item, indent + _STEP)
                yield f"{indent}- {first[len(indent) + 2 :]}"
                yield from rest
            else:
                yield from _entry(f"{indent}-", item, indent, indent + _STEP)


def _entry(head: str, item: Any, indent: str, deeper: str) -> Iterator[str]:
    if _is_nested(item):
        yield head
        yield from _block(item, deeper)
    elif isinstance(item, str) and _reads_as_lines(item):
        yield f"{head} |" + ("" if item.endswith("\n") else "-")
        yield from (deeper + line if line else "" for line in item.removesuffix("\n").split("\n"))
    else:
        yield f"{head} {_flat(item)}"


def _is_nested(item: Any) -> bool:
    return isinstance(item, (Mapping, list, tuple)) and bool(item) and not _is_short(item)


def _is_short(item: Any) -> bool:
    """Return whether a list or mapping is one of a few words that read well in one line."""
    values = list(item.values() if isinstance(item, Mapping) else item)
    flat = not any(isinstance(value, (Mapping, list, tuple)) for value in values)
    return flat and len(_flat(item)) <= 48 and not any("\n" in v for v in values if _is_text(v))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _flat(item: Any) -> str:
    if isinstance(item, Mapping):
        return "{" + ", ".join(f"{scalar(k)}: {_flat(v)}" for k, v in item.items()) + "}"
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(map(_flat, item)) + "]"
    return scalar(item)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and isinstance(plain_value(text), str)


def _reads_as_lines(text: str) -> bool:
    """Return whether a literal block holds the text as it is."""
    lines = text.removesuffix("\n").split("\n")
    return (
        "\n" in text.removesuffix("\n")
        and text == escape_control(text)
        and "\t" not in text
        and not lines[0].startswith(" ")
        and bool(lines[0])
        and bool(lines[-1])
        and not any(line != line.rstrip() for line in lines)
    )


def _json(text: str) -> str:
    # What is escaped here is escaped by YAML in the same way, also beyond the basic plane.
    return escape_control(json.dumps(text, ensure_ascii=False)).replace("\x7f", "\\x7f")
