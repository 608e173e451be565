"""Measurements: what a command, criteria or an agent found, in one form, with the number of
failures.

Promises: what was stopped, could not be started or was not understood is an error and never a pass;
a measurement raises nothing once it is made; evidence is bounded, and holds no secret of the
environment.

Two numbers can be compared only where they were counted in the same way, behind the same exit
status: a test run that breaks off reports fewer failures, and is no better for that.
Limits: only the end of an output is read; a command with an unknown summary has one failure.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

from pytest_reflex.checks.command import (
    LEFT_TEXT,
    command_of,
    last_lines,
    missing_program,
    stop_message,
    text_of,
)
from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.plain import one_line, strip_ansi
from pytest_reflex.model.run import Cost
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError
from pytest_reflex.search.patterns import SearchError, compile_pattern

SUMMARY = 300
"""Characters of a summary at most."""


class MeasurementStatus(StrEnum):
    """What became of a measurement; `error` means that it could not be made."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What was measured: a status, with a value in a unit where there is one.

    `summary` says it in one line; `evidence` is the end of what a command wrote, the report of
    criteria, or what an agent says for it: foreign text. `cost` is that of the agents that were
    asked, as `model.run` has it (None: no paid call). `left_children` says that processes of a
    command outlived it, and were killed. `failures` are how failures were counted, and how many
    there are, where they were. `limit` is the notice of a rate limit that kept a judge from it.
    """

    status: MeasurementStatus
    summary: str = ""
    value: Fraction | None = None
    unit: str = ""
    evidence: str = ""
    seconds: float = 0.0
    cost: Cost | None = None
    left_children: bool = False
    failures: tuple[str, int] | None = None
    limit: str = ""

    @property
    def passed(self) -> bool:
        return self.status is MeasurementStatus.PASSED

    def with_cost(self, cost: Cost | None) -> Measurement:
        """Return it with what its agents cost."""
        return replace(self, cost=cost)

    def to_json(self) -> dict[str, Any]:
        """Return the wire form; null for what is not known."""
        value = self.value
        return {
            "status": self.status.value,
            "summary": self.summary,
            "value": None if value is None else float(value),
            "value_exact": "" if value is None else f"{value.numerator}/{value.denominator}",
            "unit": self.unit,
            "evidence": self.evidence,
            "seconds": round(self.seconds, 3),
            "cost": self.cost and dict(self.cost),
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a measurement: variables for what it starts, and what ends it.

    Where there are `calls`, those of an agent or of a judge are in them, from before they begin.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    cancel: Event = field(default_factory=Cancel)
    calls: CallsUnderWay | None = None


Measure = Callable[[Attempt], Measurement]
"""What can be measured again and again; it may raise ReflexError where it cannot."""
Reader = Callable[[Finished], Measurement]
"""What a command that came to its end has measured."""


def run_measure(measure: Measure, attempt: Attempt) -> Measurement:
    """Return what a measure finds, with the time it took; what it raises is an error."""
    if attempt.cancel.is_set():
        text = "it was not tried: the run was stopped"
        return Measurement(status=MeasurementStatus.NOT_MEASURED, summary=text)
    started = time.monotonic()
    try:
        found = measure(attempt)
    except ReflexError as error:
        found = failure("; ".join(str(problem) for problem in error.problems))
    return replace(found, seconds=time.monotonic() - started)


def failure(why: str, evidence: str = "") -> Measurement:
    """Return that something could not be measured, and why."""
    summary = one_line(why, SUMMARY)
    return Measurement(status=MeasurementStatus.ERROR, summary=summary, evidence=evidence)


def by_exit_status(finished: Finished) -> Measurement:
    """Return a pass for exit status 0; what was said last reports why another is none."""
    code, evidence = finished.returncode or 0, last_lines(finished)
    status = MeasurementStatus.FAILED if code else MeasurementStatus.PASSED
    last = evidence.rpartition("\n")[2].strip() if code else ""
    summary = one_line(f"exit status {code}{f': {last}' if last else ''}", SUMMARY)
    return Measurement(status=status, summary=summary, value=Fraction(code), evidence=evidence)


class CommandMeasure:
    """A command (a text for a shell, or an argv) whose end, or output, `read` understands.

    It is started in `folder`, and killed with all that it started after `timeout` seconds. Raises
    UsageError for a command that is none, and for a program that is not there; where nothing
    `runs`, `missing` names that instead.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        folder: Path,
        timeout: float,
        read: Reader = by_exit_status,
        runs: bool = True,
    ) -> None:
        program = command if isinstance(command, str) else "".join(command[:1])
        if not program.strip() or "\0" in "".join(command):
            raise UsageError("its command is empty, or holds a NUL byte")
        self._folder, self._timeout, self._read = folder, timeout, read
        self.environment = copy_environment()
        self.missing = missing_program(command, self.environment.get("PATH"))
        if runs and self.missing and not isinstance(command, str):
            raise UsageError(
                f"there is no program {one_line(program)!r}",
                hint="install it, or correct the command",
            )
        self._command = command_of(command, "", self.environment)

    @property
    def argv(self) -> tuple[str, ...]:
        return self._command.argv

    def __call__(self, attempt: Attempt) -> Measurement:
        try:
            finished = run(
                self.argv,
                cwd=self._folder,
                env={**self.environment, **attempt.variables},
                timeout=self._timeout,
                cancel=attempt.cancel,
            )
        except SpawnError as error:
            return failure(str(error))
        why = stop_message(finished, self._command, self._timeout)
        why = why or self._command.problem(finished.returncode)
        found = failure(why, last_lines(finished)) if why else self._read(finished)
        if not finished.left_children:
            return found
        return replace(found, summary=f"{found.summary}; {LEFT_TEXT}", left_children=True)


_TAIL = 64 * 1024
_MOST_DIGITS = 12  # no count is larger
_MOST_MATCHES = 100_000
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Summary:
    """The line in which a tool sums up, and the numbers in it that count.

    The last such line does, or `every` one. Without `number` each line is one failure.
    """

    tool: str
    line: re.Pattern[str]
    number: re.Pattern[str] | None
    every: bool = False

    def count(self, text: str) -> int | None:
        lines = [match[0] for match in self.line.finditer(text)]
        if not lines:
            return None
        if self.number is None:
            return len(lines)
        counted = lines if self.every else lines[-1:]
        numbers = [number for line in counted for number in self.number.findall(line)]
        return None if any(map(_is_absurd, numbers)) else sum(map(int, numbers))


def _summary(tool: str, line: str, number: str = "", *, every: bool = False) -> _Summary:
    flags = re.MULTILINE | re.ASCII
    return _Summary(tool, re.compile(line, flags), re.compile(number) if number else None, every)


_SUMMARIES = (
    _summary("pytest", r"^(?:=+ )?\d+ [a-z]+\b.* in \d[\d.]*s\b.*$", r"(\d+) (?:failed|errors?)\b"),
    _summary("unittest", r"^FAILED \(.*\)$", r"(?:failures|errors|unexpected successes)=(\d+)"),
    _summary("cargo", r"^test result: .*$", r"(\d+) failed", every=True),
    _summary("jest", r"^\s*Tests:? +\d+ .*$", r"(\d+) failed"),
    _summary("phpunit", r"^Tests: \d+, .*$", r"(?:Failures|Errors): (\d+)"),
    _summary("rspec", r"^\d+ examples?, .*$", r"(\d+) (?:failures?|errors?)\b"),
    _summary("mocha", r"^\s*\d+ failing$", r"(\d+)"),
    _summary("node", r"^\S+ fail \d+$", r"(\d+)"),
    _summary("eslint", r"^\S \d+ problems? \(.*$", r"(\d+) problem"),
    _summary("linter", r"^Found \d+ (?:errors?|issues?|diagnostics?)\b.*$", r"Found (\d+)"),
    _summary("go", r"^\s*--- FAIL: .*$"),
)


def count_failures(text: str, pattern: str = "") -> tuple[str, int] | None:
    """Return how failures are counted in an output, and how many; None where this is unknown.

    Of a `pattern` the last match counts: the numbers in its groups, or without groups each match.
    """
    text = strip_ansi(text)
    if pattern:
        return _by_pattern(text, pattern)
    for summary in _SUMMARIES:
        if (number := summary.count(text)) is not None:
            return summary.tool, number
    return None


def _by_pattern(text: str, pattern: str) -> tuple[str, int] | None:
    number = re.compile(pattern).groups
    template = "\n".join(rf"\{one}" for one in range(1, number + 1))
    try:
        found = compile_pattern(pattern, key="failures").expand(
            text, template, limit=_MOST_MATCHES, seconds=_SECONDS
        )
    except SearchError:
        return None
    if not found:
        return None
    groups = [group for group in found[-1][2].split("\n") if group]
    if any(_is_absurd(group) or not group.isascii() or not group.isdigit() for group in groups):
        return None
    return pattern, sum(map(int, groups)) if number else len(found)


def _is_absurd(number: str) -> bool:
    return len(number) > _MOST_DIGITS


def by_failures(pattern: str = "") -> Reader:
    """Return what reads a command by its exit status, and counts what it reports as failed."""

    def read(finished: Finished) -> Measurement:
        found = by_exit_status(finished)
        if found.passed:
            return replace(found, failures=("pass", 0))
        said = b"\n".join((finished.stdout[-_TAIL:], finished.stderr[-_TAIL:]))
        how, number = count_failures(text_of(said), pattern) or ("exit status", 1)
        return replace(found, failures=(f"{how} {finished.returncode}", max(number, 1)))

    return read
