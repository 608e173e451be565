"""The lines in which the keys of TOML and INI texts stand; their parsers of Python do not say."""

from __future__ import annotations

import re
from typing import Any

from pytest_reflex.text.yaml_data import Marks

_TABLE_HEADER = re.compile(r"[ \t]*\[(\[?)([^\]\n]+)\]")
_TOML_KEY = re.compile(
    r"""[ \t]*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*[\w"'-]+)*)[ \t]*="""
)
_INI_KEY = re.compile(r"([^\s=:#;\[][^=:\n]*?)[ \t]*(?:[=:]|$)")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def toml_lines(text: str, value: Any) -> Marks:
    """Return the lines of keys by table; what stands inside an inline table is not looked for."""
    marks: Marks = {}
    table, tables = value, dict[int, int]()
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _TABLE_HEADER.match(line):
            table = _walked(value, _parts(header[2]), number, marks, tables, bool(header[1]))
        elif (key := _TOML_KEY.match(line)) and table is not None:
            _walked(table, _parts(key[1]), number, marks, {}, False)
    return marks


def ini_lines(text: str, value: dict[str, dict[str, Any]]) -> Marks:
    """Return the lines of sections and of the keys in them."""
    marks: Marks = {}
    table: dict[str, Any] = value
    for number, line in enumerate(text.split("\n"), start=1):
        if (header := _TABLE_HEADER.match(line)) and header[2] in value:
            table = value[header[2]]
            _mark(marks, value, header[2], number)
        elif (key := _INI_KEY.match(line)) and key[1] in table:
            _mark(marks, table, key[1], number)
    return marks


def _walked(
    value: Any, parts: list[str], number: int, marks: Marks, counts: dict[int, int], many: bool
) -> Any:
    """Mark the keys on the way down; return what stands at the end, None where nothing does."""
    for index, part in enumerate(parts):
        if not isinstance(value, dict) or part not in value:
            return None
        _mark(marks, value, part, number)
        value = value[part]
        if isinstance(value, list) and value:
            last = index == len(parts) - 1
            if last and not many:
                return value
            counts[id(value)] = min(counts.get(id(value), -1) + last, len(value) - 1)
            position = max(counts[id(value)], 0)
            _mark(marks, value, position, number)
            value = value[position]
    return value


def _mark(marks: Marks, table: Any, key: Any, number: int) -> None:
    marks.setdefault(id(table), {}).setdefault(key, number)


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(text)]
