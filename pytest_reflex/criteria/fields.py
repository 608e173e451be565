"""Typed values out of a mapping that was read; a value of the wrong type is a problem with a
suggestion.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from pytest_reflex.criteria.diagnostics import (
    CONTROL,
    Diagnostics,
    Items,
    Spot,
    Table,
    WrittenFloat,
    exact_number,
    nearest,
    number_or_text,
    quote,
)
from pytest_reflex.errors import Problem
from pytest_reflex.model.plain import as_written, one_line

_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_FRACTION = re.compile(r"([0-9]+) ?/ ?([0-9]+)")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[_,' ][0-9]{3})+(?:\.[0-9]+)?")
_COMMA = re.compile(r"([0-9]+),([0-9]+)")
_LONGEST = 40
_WORD = re.compile(r"[^\s,\[\]{}\"']+")
_CLOSING = {"{": "}", "[": "]"}
_Container = TypeVar("_Container", Table, Items)


def number_hint(text: str, spot: Spot, diagnostics: Diagnostics) -> str:
    """Return what to write where a number was meant and a text was read; else nothing."""
    number = number_meant(text)
    if number == text:
        in_quotes = source(spot, diagnostics, r"[\"']") or diagnostics.path.endswith(".json")
        return "write it without quotes" if in_quotes else ""
    return f"write {number}" if number else ""


def number_meant(text: str) -> str:
    """Return the number that a text means to a person, as YAML writes it; else nothing.

    `1_000` is 1000, `80%` is 0.8, `1/3` is 0.333.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return ""
    if match := _PERCENT.fullmatch(text):
        return f"{float(Fraction(match[1]) / 100):g}"
    if match := _FRACTION.fullmatch(text):
        return f"{int(match[1]) / int(match[2]):.3g}" if int(match[2]) else ""
    if _GROUPED.fullmatch(text):
        return re.sub("[_,' ]", "", text)
    if match := _COMMA.fullmatch(text):
        return f"{match[1]}.{match[2]}"
    try:
        return "" if isinstance(number_or_text(text), str) else text
    except ValueError:
        return ""


def as_in_file(problem: Problem, value: Any, spot: Spot, diagnostics: Diagnostics) -> Problem:
    """Return a problem whose message shows a value that is not text as the file does.

    `017` is the number 17, and `~` nothing: an author looks for what is written.
    """
    if isinstance(value, str) or problem.given != one_line(as_written(value), 60):
        return problem
    written = one_line(source(spot, diagnostics), 60)
    if not written:
        return problem
    message = problem.message.removesuffix(problem.given) + written
    return replace(problem, message=message, given=written)


def source(spot: Spot, diagnostics: Diagnostics, begins: str = "") -> str:
    """Return a value that is not text as it stands in the file; nothing where that is not known.

    `begins` is a pattern for its first character, which alone is returned.
    """
    line = diagnostics.line(spot[0])[max(spot[1] - 1, 0) :] if all(spot) else ""
    if begins:
        return line[:1] if re.match(begins, line) else ""
    if line[:1] in _CLOSING:
        end = line.find(_CLOSING[line[0]]) + 1
        # Brackets within brackets are shown as the check's type shows them.
        return line[:end] if end and line.count(line[0], 0, end) == 1 else ""
    match = _WORD.match(line)
    return match[0] if match else ""


def refuse_unknown_keys(
    table: Table,
    known: Collection[str],
    diagnostics: Diagnostics,
    *,
    what: str,
    rule_id: str = "",
    hints: Mapping[str, str] | None = None,
) -> None:
    """Note every key that is not known; `hints` has words for some of them."""
    for key in table:
        if key not in known:
            diagnostics.add(
                f"{what} has no key {quote(key)}",
                table.at_key(key),
                hint=(hints or {}).get(key) or nearest(key, known),
                rule_id=rule_id,
            )


def text_at(table: Table, key: str, diagnostics: Diagnostics, rule_id: str = "") -> str:
    """Return the text under `key`; empty where it is not given or no text (a problem then)."""
    value = table.get(key)
    if type(value) is str and not (diagnostics.controls and CONTROL.search(value)):
        return value
    if key in table:
        refuse_text(key, value, table.at(key), diagnostics, rule_id)
    return ""


def nonempty_text_at(table: Table, key: str, diagnostics: Diagnostics, rule_id: str = "") -> str:
    """Return a text with something in it; not given or blank is a problem."""
    before = len(diagnostics.found)
    text = text_at(table, key, diagnostics, rule_id)
    if text and not text.isspace():
        return text
    if len(diagnostics.found) == before:
        state = "empty" if key in table else "missing"
        diagnostics.add(f"{key} is {state}", table.at(key), rule_id=rule_id)
    return ""


def table_at(table: Table, key: str, diagnostics: Diagnostics, rule_id: str = "") -> Table:
    """Return the mapping under `key`; an empty one where it is not given or no mapping."""
    return _container_at(table, key, Table, "mapping", diagnostics, rule_id)


def list_at(table: Table, key: str, diagnostics: Diagnostics, rule_id: str = "") -> Items:
    """Return the list under `key`; an empty one where it is not given or no list."""
    return _container_at(table, key, Items, "list", diagnostics, rule_id)


def _container_at(
    table: Table,
    key: str,
    kind: type[_Container],
    word: str,
    diagnostics: Diagnostics,
    rule_id: str,
) -> _Container:
    value = table.get(key)
    if isinstance(value, kind):
        return value
    if key in table and value is not None:
        diagnostics.add(
            f"{key} must be a {word}, not {kind_of(value)}", table.at(key), rule_id=rule_id
        )
    return kind(table.spot)


def texts_at(
    table: Table, key: str, diagnostics: Diagnostics, rule_id: str = ""
) -> list[tuple[str, Spot]]:
    """Return one text or a list of texts with their positions."""
    value = table.get(key)
    if isinstance(value, str):
        return [(value, table.at(key))]
    items = list_at(table, key, diagnostics, rule_id)
    found = []
    for index, item in enumerate(items):
        if isinstance(item, str) and not CONTROL.search(item):
            found.append((item, items.at(index)))
        else:
            refuse_text(f"an item of {key}", item, items.at(index), diagnostics, rule_id)
    return found


def number_at(
    table: Table, key: str, diagnostics: Diagnostics, rule_id: str = ""
) -> Fraction | None:
    """Return the exact number under `key`, None where it is none (a problem then)."""
    value = table.get(key)
    if type(value) is int or type(value) is WrittenFloat:
        return exact_number(value)
    spot = table.at(key)
    if value is None and diagnostics.retell_number(key, spot, rule_id=rule_id):
        return None
    hint = number_hint(value, spot, diagnostics) if isinstance(value, str) else ""
    diagnostics.add(
        f"{key} must be a number, not {kind_of(value)}", spot, hint=hint, rule_id=rule_id
    )
    return None


def word_at(
    table: Table,
    key: str,
    words: Collection[str],
    diagnostics: Diagnostics,
    rule_id: str = "",
    *,
    hint: str = "",
) -> str | None:
    """Return the value under `key` if it is one of `words`, else None (a problem then)."""
    value = table.get(key)
    if type(value) is str and value in words:
        return value
    known = tuple(words)
    diagnostics.add(
        f"{key} must be one of {', '.join(known)}, not {kind_of(value)}",
        table.at(key),
        hint=hint or (nearest(value, known) if isinstance(value, str) else ""),
        rule_id=rule_id,
    )
    return None


def kind_of(value: Any) -> str:
    """Return what a value is in words, the value itself where it is short."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value.text if isinstance(value, WrittenFloat) else value}"
    if isinstance(value, str):
        return f"the text {quote(value)}"
    return "a mapping" if isinstance(value, dict) else "a list"


def refuse_text(
    what: str, value: Any, spot: Spot, diagnostics: Diagnostics, rule_id: str = ""
) -> None:
    """Note that a value is not text, or one with a control character, and what to do about it."""
    found = CONTROL.search(value) if isinstance(value, str) else None
    if found:
        escape = "\\b" if found[0] == "\b" else "a backslash sequence"
        message = f"{what} holds the control character U+{ord(found[0]):04X}"
        hint = f"in double quotes {escape} means that character: use single quotes"
    else:
        message = f"{what} must be a text, not {kind_of(value)}"
        hint = quoting_hint(value)
        if value is None and "#" in diagnostics.line(spot[0]):
            hint = "an unquoted # starts a comment: put the text in quotes"
    diagnostics.add(message, spot, hint=hint, rule_id=rule_id)


class NamedParameter(NamedTuple):
    """The parameter that a message is about; no key where it names none."""

    key: str
    value: Any
    spot: Spot


def find_parameter(problem: Problem, table: Table) -> NamedParameter:
    """Return the parameter that a problem is about, as far as its path leads into the table.

    The place is the value's; the key's own where that is what is wrong; the table's start where the
    path leads nowhere.
    """
    key = ""
    for name in problem.path:
        inner = table.get(key) if key else table
        if not isinstance(inner, Table) or name not in inner:
            break
        table, key = inner, name
    at_key = problem.of_key and key == problem.path[-1]
    return NamedParameter(key, table.get(key), table.at_key(key) if at_key else table.at(key))


def quoting_hint(value: Any) -> str:
    """Return what to do where a text was meant and YAML read something else; else nothing."""
    if isinstance(value, dict) and value and not any(v is not None for v in value.values()):
        return "unquoted braces are a mapping in YAML: put the text in quotes"
    if isinstance(value, list):
        return "unquoted brackets are a list in YAML: put the text in quotes"
    if isinstance(value, (bool, int, float)):
        return "put it in quotes"
    return ""
