"""What an unquoted word of a criteria file means: YAML 1.2, but numbers are exact or refused."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from pytest_reflex.documents import yaml_events
from pytest_reflex.documents.yaml_events import CONSTANTS, NUMBER_STARTS

LONGEST_NUMBER = 100
LARGEST_EXPONENT = 400

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


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


class NotFiniteError(ValueError):
    """A number that is none: infinite, or not a number."""


def number_or_text(text: str) -> Any:
    """Return the number that the text spells, else the text; raises ValueError as `plain_value`."""
    number = yaml_events.number_or_text(text)
    if isinstance(number, str):
        return text
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"is a number of {len(text)} characters")
    return number if isinstance(number, int) else _decimal(text, number)


def _decimal(text: str, number: float) -> Written:
    if text[-1].isalpha():
        raise NotFiniteError("is not a finite number")
    exponent = text.lower().partition("e")[2]
    if not math.isfinite(number) or abs(int(exponent or 0)) > LARGEST_EXPONENT:
        raise ValueError("is out of range")
    return Written.of(text)


def exact_number(value: int | float) -> Fraction:
    """Return the exact value of a number that was read."""
    return value.exact if isinstance(value, Written) else Fraction(str(value))
