"""Targets: which measurement of a sensor is good enough (SPEC section 5).

A target is ``exit == 0``, ``stdout ~ /re/``, ``value(/re/) >= 90``, and of criteria ``passed`` or
``score >= 0.9``. It is parsed once; whether it is met follows from what was measured alone.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_reflex.errors import CriteriaError
from pytest_reflex.search.patterns import compile_pattern

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_NUMBER = r"[-+]?[0-9]+(?:\.[0-9]+)?"
_COMPARED = re.compile(
    rf"(?P<what>exit|score|value\s*\(\s*/(?P<of>.+)/\s*\))\s*(?P<op>[=!<>]=|[<>])\s*"
    rf"(?P<number>{_NUMBER})",
    re.S,
)
_SAYS = re.compile(r"stdout\s*~\s*/(?P<of>.+)/", re.S)
FORMS = "exit == N, stdout ~ /re/, value(/re/) >= N, passed or score >= N"
OF_CRITERIA = ("passed", "score")


@dataclass(frozen=True, slots=True)
class Target:
    """One target: `what` is exit, stdout, value, passed or score; `text` is how it was written."""

    text: str
    what: str
    pattern: str = ""
    op: str = "=="
    number: Fraction = Fraction(0)

    @property
    def of_criteria(self) -> bool:
        return self.what in OF_CRITERIA

    def holds(self, value: Fraction | int) -> bool:
        """Return whether a number meets the comparison."""
        return _OPERATORS[self.op](value, self.number)


EXIT_ZERO = Target("exit == 0", "exit")
PASSED = Target("passed", "passed")


def parse_target(text: str) -> Target:
    """Return the target that a text stands for; raises ValueError with what is wrong."""
    text = text.strip()
    if text == "passed":
        return PASSED
    if match := _SAYS.fullmatch(text):
        return Target(text, "stdout", _pattern(match["of"]))
    if match := _COMPARED.fullmatch(text):
        what, number = match["what"], Fraction(match["number"])
        if match["of"] is not None:
            return Target(text, "value", _pattern(match["of"]), match["op"], number)
        if what == "exit" and number.denominator != 1:
            raise ValueError("an exit status is a whole number")
        if what == "score" and not 0 <= number <= 1:
            raise ValueError("a score lies between 0 and 1")
        return Target(text, what, "", match["op"], number)
    raise ValueError(f"a target is {FORMS}")


def _pattern(text: str) -> str:
    try:
        compile_pattern(text)
    except CriteriaError as error:
        raise ValueError(f"/{text}/: {error.problems[0].message}") from None
    return text
