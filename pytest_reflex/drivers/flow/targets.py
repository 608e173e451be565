"""Small notations of flow.yaml: ids and labels, and which measurement of a sensor is good enough.

A label such as ``2.1.3`` is a text and no number: ``1.10`` comes after ``1.9``.

A target is ``exit == 0``, ``stdout ~ /re/``, ``value(/re/) >= 90``, and of criteria ``passed`` or
``score >= 0.9``. It is parsed once; whether it is met follows from what was measured alone.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from pytest_reflex.errors import CriteriaError
from pytest_reflex.search.patterns import compile_pattern
from pytest_reflex.storage.folders import words_of

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_OF_A_SLUG = 50
BRANCH_PREFIX = "ai-loop/"
_RUN = re.compile(r"run_(?P<day>[0-9]{8})_(?P<number>[0-9]{3,})")
# Windows has no files of these names, whatever their suffix.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


def is_id(text: str) -> bool:
    """Return whether a text is the id of a node: it is a folder's name on every system."""
    return bool(ID.fullmatch(text)) and not _RESERVED.fullmatch(text) and len(text) <= 100


def label_of(parent: str, iteration: int) -> str:
    """Return the label of an iteration; `parent` is that of the parent's, empty for the root."""
    return f"{parent}.{iteration}" if parent else str(iteration)


def by_component(label: str) -> tuple[int, ...]:
    """Return a key that sorts labels component by component."""
    return tuple(int(part) for part in label.split("."))


def slug_of(task: str) -> str:
    """Return a name of at most 50 characters made of a task's words; never empty."""
    return words_of(task, MOST_OF_A_SLUG) or "task"


def is_run_id(text: str) -> bool:
    """Return whether a text is the id of a run."""
    return bool(_RUN.fullmatch(text))


def next_run_id(existing: Iterable[str], now: datetime) -> str:
    """Return the id of a new run on the day of `now` (UTC), behind all that exist of that day."""
    day = f"{now:%Y%m%d}"
    found = (_RUN.fullmatch(name) for name in existing)
    numbers = [int(match["number"]) for match in found if match and match["day"] == day]
    return f"run_{day}_{max(numbers, default=0) + 1:03}"


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
class SensorTarget:
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


EXIT_ZERO = SensorTarget("exit == 0", "exit")
PASSED = SensorTarget("passed", "passed")


def parse_target(text: str) -> SensorTarget:
    """Return the target that a text stands for; raises ValueError with what is wrong."""
    text = text.strip()
    if text == "passed":
        return PASSED
    if match := _SAYS.fullmatch(text):
        return SensorTarget(text, "stdout", _pattern(match["of"]))
    if match := _COMPARED.fullmatch(text):
        what, number = match["what"], Fraction(match["number"])
        if match["of"] is not None:
            return SensorTarget(text, "value", _pattern(match["of"]), match["op"], number)
        if what == "exit" and number.denominator != 1:
            raise ValueError("an exit status is a whole number")
        if what == "score" and not 0 <= number <= 1:
            raise ValueError("a score lies between 0 and 1")
        return SensorTarget(text, what, "", match["op"], number)
    raise ValueError(f"a target is {FORMS}")


def _pattern(text: str) -> str:
    try:
        compile_pattern(text)
    except CriteriaError as error:
        raise ValueError(f"/{text}/: {error.problems[0].message}") from None
    return text
