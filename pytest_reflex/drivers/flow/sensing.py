"""Sensors that the program runs itself: a command or criteria, and whether its target is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

from pytest_reflex.checks.output import last_lines
from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common.measure import (
    Attempt,
    CommandMeasure,
    Measure,
    Measurement,
    MeasurementStatus,
    measured,
)
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.drivers.flow.model import Sensor
from pytest_reflex.drivers.flow.state import FAIL, PASS, Reading
from pytest_reflex.drivers.flow.targets import Target
from pytest_reflex.process.run import Finished
from pytest_reflex.search.patterns import SearchError, compile_pattern
from pytest_reflex.verdict.formatting import plain, shown_score

_MOST_MATCHES = 10_000
_SEARCH_SECONDS = 5.0
_WORKERS = 4


def measure_of(sensor: Sensor, *, project: Path, registry: Registry, timeout: float) -> Measure:
    """Return what a sensor measures; raises ReflexError where that cannot work."""
    if sensor.criteria:
        criteria = CriteriaMeasure(
            sensor.criteria, sensor.artifacts, project=project, registry=registry
        )
        return lambda attempt: _by_score(criteria(attempt), sensor.target)
    return CommandMeasure(
        sensor.command,
        folder=project,
        timeout=sensor.timeout or timeout,
        read=lambda finished: _by_output(finished, sensor.target),
    )


def measure_all(
    measures: Mapping[str, Measure], attempt: Attempt, *, parallel: bool
) -> dict[str, Measurement]:
    """Return what each measure finds, in their order; one after the other, or side by side."""
    names = list(measures)
    measure: Callable[[str], Measurement] = lambda name: measured(measures[name], attempt)  # noqa: E731
    if not parallel or len(names) < 2:
        return {name: measure(name) for name in names}
    with ThreadPoolExecutor(min(_WORKERS, len(names))) as pool:
        return dict(zip(names, pool.map(measure, names), strict=True))


def reading_of(found: Measurement) -> Reading:
    """Return a measurement as a sensor's output has it: what could not be measured fails."""
    value = "" if found.value is None else plain(found.value)
    return Reading(
        state=PASS if found.passed else FAIL,
        value=f"{value} {found.unit}".strip(),
        summary=found.summary,
    )


def _by_score(found: Measurement, target: Target) -> Measurement:
    if target.what == "passed" or found.value is None:
        return found
    if found.status not in (MeasurementStatus.PASSED, MeasurementStatus.FAILED):
        return found
    summary = f"score {shown_score(found.value)}, wanted {target.text.removeprefix('score ')}"
    return _met(target.holds(found.value), summary, found.value, found.evidence)


def _by_output(finished: Finished, target: Target) -> Measurement:
    evidence, code = last_lines(finished), finished.returncode or 0
    if target.what == "exit":
        return _met(target.holds(code), f"exit status {code}", Fraction(code), evidence)
    output = finished.stdout.decode("utf-8", "replace")
    try:
        texts = _matches(target.pattern, output)
    except SearchError as error:
        status = MeasurementStatus.ERROR
        return Measurement(status=status, summary=str(error), evidence=evidence)
    if target.what == "stdout":
        what = f"its output {'has' if texts else 'has not'} /{target.pattern}/"
        return _met(bool(texts), what, None, evidence)
    numbers = [number for text in texts if (number := _number(text)) is not None]
    if not numbers:
        return _met(False, f"no number in its output by /{target.pattern}/", None, evidence)
    wanted = f"{target.op} {plain(target.number)}"
    told = f"{plain(numbers[-1])}, wanted {wanted}"
    return _met(target.holds(numbers[-1]), told, numbers[-1], evidence)


def _met(is_met: bool, summary: str, value: Fraction | None, evidence: str) -> Measurement:
    status = MeasurementStatus.PASSED if is_met else MeasurementStatus.FAILED
    return Measurement(status=status, summary=summary, value=value, evidence=evidence)


def _matches(source: str, output: str) -> Sequence[str]:
    """Return what a pattern matches: its first group where it has one."""
    import re

    pattern = compile_pattern(source, key="target")
    template = r"\1" if re.compile(source).groups else r"\g<0>"
    found = pattern.expanded(output, template, limit=_MOST_MATCHES, seconds=_SEARCH_SECONDS)
    return [text for _, _, text in found]


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip().replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return None
