"""What an author wrote where a value is of the wrong kind, and what may have been meant by it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from pytest_reflex.criteria.diagnostics import number_or_text
from pytest_reflex.criteria.faults import Faults, Spot
from pytest_reflex.errors import Problem
from pytest_reflex.model.plain import as_written, one_line

_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_FRACTION = re.compile(r"([0-9]+) ?/ ?([0-9]+)")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[_,' ][0-9]{3})+(?:\.[0-9]+)?")
_COMMA = re.compile(r"([0-9]+),([0-9]+)")
_LONGEST = 40
_WORD = re.compile(r"[^\s,\[\]{}\"']+")
_CLOSING = {"{": "}", "[": "]"}


def number_hint(text: str, spot: Spot, faults: Faults) -> str:
    """Return what to write where a number was meant and a text was read; else nothing."""
    number = number_meant(text)
    if number == text:
        in_quotes = source(spot, faults, r"[\"']") or faults.path.endswith(".json")
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


def as_in_file(problem: Problem, value: Any, spot: Spot, faults: Faults) -> Problem:
    """Return a problem whose message shows a value that is not text as the file does.

    `017` is the number 17, and `~` nothing: an author looks for what is written.
    """
    if isinstance(value, str) or problem.given != one_line(as_written(value), 60):
        return problem
    written = one_line(source(spot, faults), 60)
    if not written:
        return problem
    message = problem.message.removesuffix(problem.given) + written
    return replace(problem, message=message, given=written)


def source(spot: Spot, faults: Faults, begins: str = "") -> str:
    """Return a value that is not text as it stands in the file; nothing where that is not known.

    `begins` is a pattern for its first character, which alone is returned.
    """
    line = faults.line(spot[0])[max(spot[1] - 1, 0) :] if all(spot) else ""
    if begins:
        return line[:1] if re.match(begins, line) else ""
    if line[:1] in _CLOSING:
        end = line.find(_CLOSING[line[0]]) + 1
        # Brackets within brackets are shown as the check's type shows them.
        return line[:end] if end and line.count(line[0], 0, end) == 1 else ""
    match = _WORD.match(line)
    return match[0] if match else ""
