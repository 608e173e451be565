"""Verifying a criterion: its command, the number that it prints, or criteria held against a file.

What cannot be verified by the program stays what was claimed of it. What could not be measured is
not met.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.output import last_lines, text_of
from pytest_reflex.drivers.common.measure import (
    Attempt,
    CommandMeasure,
    Measure,
    Measurement,
    MeasurementStatus,
    by_exit_status,
    measured,
)
from pytest_reflex.drivers.goal.model import Criterion, MustNot, Plan, Verification
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import clip, one_line
from pytest_reflex.process.run import Finished
from pytest_reflex.verdict.figures import plain

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

EVIDENCE = 1_000
"""Characters of evidence at most."""
TIMEOUT = 600.0

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_NUMBER = r"[-+]?(?:\d+(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?"
_COMPARE = re.compile(
    rf"(?P<name>[^=!<>≤≥]*?)\s*(?P<op>[=!<>]=|[<>=≤≥])\s*(?P<number>{_NUMBER})"
    r"\s*(?P<unit>[^\s\d]\S{0,15})?"
)
# Units of one kind, by the smallest of them; others have to be the same word.
_UNITS: Mapping[str, tuple[str, Fraction]] = {
    "ns": ("time", Fraction(1, 1_000_000_000)),
    "us": ("time", Fraction(1, 1_000_000)),
    "µs": ("time", Fraction(1, 1_000_000)),
    "ms": ("time", Fraction(1, 1000)),
    "s": ("time", Fraction(1)),
    "sec": ("time", Fraction(1)),
    "seconds": ("time", Fraction(1)),
    "min": ("time", Fraction(60)),
    "b": ("size", Fraction(1)),
    "bytes": ("size", Fraction(1)),
    "kb": ("size", Fraction(1000)),
    "mb": ("size", Fraction(1000**2)),
    "gb": ("size", Fraction(1000**3)),
    "kib": ("size", Fraction(1024)),
    "mib": ("size", Fraction(1024**2)),
    "gib": ("size", Fraction(1024**3)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a measured number has to be, such as ``p95 < 100 ms``."""

    text: str
    name: str
    op: str
    number: Fraction
    unit: str = ""

    def holds(self, value: Fraction) -> bool:
        return _OPERATORS[self.op](value, self.number)


def parse_comparison(text: str) -> Comparison:
    """Return the comparison that a text stands for; raises UsageError."""
    match = _COMPARE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{one_line(text, 60)!r} is no comparison", hint="such as: p95 < 100 ms, or: >= 90"
        )
    return Comparison(
        text=" ".join(text.split()),
        name=match["name"],
        op=match["op"],
        number=_number(match["number"]),
        unit=match["unit"] or "",
    )


def measure_of(plan: Plan, *, project: Path, registry: Registry | None, timeout: float) -> Measure:
    """Return what a plan measures; raises ReflexError where that cannot work.

    `registry` is that of the checks, and needed only for a plan with criteria.
    """
    if plan.criteria:
        if registry is None:
            raise UsageError("there are no checks to hold criteria against a file")
        return _criteria(plan, project, registry)
    if not plan.compare:
        return CommandMeasure(plan.command, folder=project, timeout=timeout)
    wanted = parse_comparison(plan.compare)
    return CommandMeasure(
        plan.command,
        folder=project,
        timeout=timeout,
        read=lambda finished: _compared(finished, wanted),
    )


def _criteria(plan: Plan, project: Path, registry: Registry) -> Measure:
    from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure

    artifacts = (plan.artifact,) if plan.artifact else ()
    if plan.rule:
        # The gate of a file may pass while one of its rules fails.
        raise UsageError(
            f"rule {one_line(plan.rule, 60)!r} cannot be verified apart from its file",
            hint="leave `rule` out: then the whole file has to pass",
        )
    return CriteriaMeasure(plan.criteria, artifacts, project=project, registry=registry)


def measure_plan(
    plan: Plan,
    *,
    project: Path,
    registry: Registry | None = None,
    timeout: float = TIMEOUT,
    attempt: Attempt | None = None,
) -> Measurement:
    """Return what the plan of a criterion, or of a mustNot, measures; raises nothing."""

    def measure(attempt: Attempt) -> Measurement:
        return measure_of(plan, project=project, registry=registry, timeout=timeout)(attempt)

    return measured(measure, attempt or Attempt())


def verify(
    criterion: Criterion,
    *,
    project: Path,
    registry: Registry | None = None,
    timeout: float = TIMEOUT,
    attempt: Attempt | None = None,
) -> Criterion:
    """Return a criterion with what the program finds; one without a plan that runs is as it was."""
    if not criterion.plan.runs:
        return criterion
    found = measure_plan(
        criterion.plan, project=project, registry=registry, timeout=timeout, attempt=attempt
    )
    return verified(criterion, found)


def verified(criterion: Criterion, found: Measurement) -> Criterion:
    """Return a criterion as a measurement of its plan has it."""
    verification = Verification.EXECUTION_OUTPUT
    if criterion.plan.command and criterion.plan.compare:
        verification = Verification.MEASUREMENT
    return replace(
        criterion, met=found.passed, verification=verification, evidence=evidence_of(found)
    )


def is_true(
    one: MustNot,
    *,
    project: Path,
    registry: Registry | None = None,
    timeout: float = TIMEOUT,
    attempt: Attempt | None = None,
) -> Measurement:
    """Return the measurement of what may never become true: that it passed means that it is true.

    A caller asks only for one whose plan runs.
    """
    return measure_plan(
        one.plan, project=project, registry=registry, timeout=timeout, attempt=attempt
    )


def evidence_of(found: Measurement) -> str:
    """Return what a measurement shows, bounded: its summary, and the end of what was written."""
    text = found.summary
    last = found.evidence.strip()
    if last and last != found.summary:
        text += "\n" + last[-(EVIDENCE - min(len(text), EVIDENCE)) :]
    return clip(text, EVIDENCE)


def _compared(finished: Finished, wanted: Comparison) -> Measurement:
    """Return whether the number that a command printed is as wanted; a failure measures nothing."""
    if finished.returncode:
        return by_exit_status(finished)
    evidence = last_lines(finished)
    value = number_in(text_of(finished.stdout), wanted)
    if value is None:
        named = f" beside {one_line(wanted.name)!r}" if wanted.name else ""
        told = f"it printed no number{named}, wanted {wanted.text}"
        return Measurement(status=MeasurementStatus.ERROR, summary=told, evidence=evidence)
    met = wanted.holds(value)
    return Measurement(
        status=MeasurementStatus.PASSED if met else MeasurementStatus.FAILED,
        summary=f"{plain(value)}{f' {wanted.unit}' if wanted.unit else ''}, wanted {wanted.text}",
        value=value,
        unit=wanted.unit,
        evidence=evidence,
    )


def number_in(output: str, wanted: Comparison) -> Fraction | None:
    """Return the number that an output has, in the unit of a comparison; the last one counts.

    Where the comparison has a name and the output has it too, only numbers behind it count. An
    output with a number of another unit has none.
    """
    tail = output[-100_000:]
    number = re.compile(rf"(?<![\w.])({_NUMBER})(?:\s?([A-Za-zµ%][\w%/]{{0,15}}))?(?![\d])")
    if wanted.name:
        named = re.compile(
            rf"(?<!\w){re.escape(wanted.name)}(?!\w)[^\d\n+-]{{0,40}}({_NUMBER})"
            r"(?:\s?([A-Za-zµ%][\w%/]{0,15}))?",
            re.IGNORECASE,
        )
        if found := list(named.finditer(tail)):
            return _in_unit(found[-1], wanted)
        # Without the name, a command that prints one number and nothing else has said it too.
        only = number.fullmatch(tail.strip())
        return _in_unit(only, wanted) if only else None
    found = list(number.finditer(tail))
    return _in_unit(found[-1], wanted) if found else None


def _in_unit(match: re.Match[str], wanted: Comparison) -> Fraction | None:
    value, unit = _number(match[1]), match[2] or ""
    if not unit or not wanted.unit or unit.lower() == wanted.unit.lower():
        return value
    mine, theirs = _UNITS.get(unit.lower()), _UNITS.get(wanted.unit.lower())
    if mine is None or theirs is None or mine[0] != theirs[0]:
        # A word behind a number may be the next word of a sentence, and no unit at all.
        return value if mine is None and theirs is None else None
    return value * mine[1] / theirs[1]


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))
