"""What an unquoted word of a YAML 1.2 text means (core schema, YAML 1.2.2 section 10.3)."""

from __future__ import annotations

import math
import re
from typing import Any

CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBER_STARTS = frozenset("0123456789+-.")

LONGEST_WHOLE = 400
"""Characters from which on a number is a float, infinity in effect: Python limits long integers."""

_WHOLE = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def plain_value(text: str) -> Any:
    """Return None, a bool, an int, a float, or the text itself."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    return number_or_text(text) if text[0] in NUMBER_STARTS else text


def number_or_text(text: str) -> Any:
    """Return the number that the text spells, infinity and NaN included, else the text."""
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < LONGEST_WHOLE else float(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0) if len(text) < LONGEST_WHOLE else math.inf
    return float(text.replace(".", "")) if _NOT_FINITE.fullmatch(text) else text
