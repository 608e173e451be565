"""Measurements: what a command, criteria or an agent found, in one form for every driver.

Promises: what was stopped, could not be started or was not understood is an error and never a pass;
a measurement raises nothing once it is made; evidence is bounded, and holds no secret of the
environment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

from pytest_reflex.checks.command import command_of, missing_program
from pytest_reflex.checks.command_run import LEFT_TEXT, stopped
from pytest_reflex.checks.output import last_lines
from pytest_reflex.drivers.common.calls import CallsUnderWay
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Cost
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError

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
    asked, as `model.run` has it (None: nobody was paid). `left_children` says that processes of a
    command outlived it, and were killed. `failures` are how failures were counted, and how many
    there are, where somebody did. `limit` is the notice of a rate limit that kept a judge from it.
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

    def costing(self, cost: Cost | None) -> Measurement:
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


def measured(measure: Measure, attempt: Attempt) -> Measurement:
    """Return what a measure finds, with the time it took; what it raises is an error."""
    if attempt.cancel.is_set():
        told = "it was not tried: the run was stopped"
        return Measurement(status=MeasurementStatus.NOT_MEASURED, summary=told)
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
        self.environment = inherited()
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
        why = stopped(finished, self._command, self._timeout)
        why = why or self._command.trouble(finished.returncode)
        found = failure(why, last_lines(finished)) if why else self._read(finished)
        if not finished.left_children:
            return found
        return replace(found, summary=f"{found.summary}; {LEFT_TEXT}", left_children=True)
