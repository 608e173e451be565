"""What an unquoted word of a YAML 1.2 file means (core schema, YAML 1.2.2 section 10.3)."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

LONGEST_NUMBER = 100
LARGEST_EXPONENT = 400

CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBER_STARTS = frozenset("0123456789+-.")

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_WHOLE = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o([0-7]+)|0x([0-9a-fA-F]+)")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE]([-+]?[0-9]+))?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class Written(float):
    """A decimal number that remembers how it was written, so that 0.1 is exactly 1/10."""

    __slots__ = ("text",)
    text: str

    @classmethod
    def of(cls, text: str) -> Written:
        number = cls(text)
        number.text = text
        return number

    @property
    def exact(self) -> Fraction:
        return Fraction(self.text)


def plain_value(text: str) -> Any:
    """Return None, a bool, an int, a `Written` decimal, or the text itself.

    Raises ValueError, its message a predicate, for numbers that cannot be used: NaN, infinity,
    absurd lengths and exponents.
    """
    if text in CONSTANTS:
        return CONSTANTS[text]
    return number_or_text(text) if text[0] in NUMBER_STARTS else text


def number_or_text(text: str) -> Any:
    """Return the number that the text spells, else the text; raises ValueError as `plain_value`."""
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("is not a finite number")
    based = _BASED.fullmatch(text)
    decimal = None if based else _DECIMAL.fullmatch(text)
    if not (based or decimal):
        return text
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"is a number of {len(text)} characters")
    if based:
        return int(based[1], 8) if based[1] else int(based[2], 16)
    if _WHOLE.fullmatch(text):
        return int(text)
    return _decimal(text, decimal[1] if decimal else None)


def _decimal(text: str, exponent: str | None) -> Written:
    if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
        raise ValueError("is out of range")
    number = Written.of(text)
    if not math.isfinite(number):
        raise ValueError("is out of range")
    return number


def exact_number(value: int | float) -> Fraction:
    """Return the exact value of a number that was read."""
    return value.exact if isinstance(value, Written) else Fraction(str(value))
