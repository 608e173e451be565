"""Verifying a criterion: its command, the number that it prints, or criteria held against a file.

What cannot be verified by the program stays what was claimed of it. What could not be measured is
not met, and what nobody approved is not run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

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
from pytest_reflex.drivers.goal.approvals import Approvals, describe_refusal
from pytest_reflex.drivers.goal.compare import Threshold, number_in, parse_comparison
from pytest_reflex.drivers.goal.model import Criterion, MustNot, Plan, Verification
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.plain import clip, one_line
from pytest_reflex.process.run import Finished
from pytest_reflex.verdict.formatting import plain

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

EVIDENCE = 1_000
"""Characters of evidence at most."""
TIMEOUT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """Verifies the criteria of one project by what was approved for it.

    `registry` is that of the checks; `timeout` bounds each command, in seconds.
    """

    approvals: Approvals
    registry: Registry
    timeout: float = TIMEOUT

    def measure(self, plan: Plan, attempt: Attempt | None = None) -> Measurement:
        """Return what a plan that runs measures; raises nothing.

        What was not approved is not measured, and its summary shows it.
        """

        def measure(attempt: Attempt) -> Measurement:
            if missing := self.approvals.missing([plan], self.registry):
                told = one_line(describe_refusal(missing), EVIDENCE)
                return Measurement(status=MeasurementStatus.NOT_MEASURED, summary=told)
            project = self.approvals.project
            return measure_of(plan, project, self.registry, timeout=self.timeout)(attempt)

        return measured(measure, attempt or Attempt())

    def verify(
        self, criteria: Iterable[Criterion], attempt: Attempt | None = None
    ) -> tuple[Criterion, ...]:
        """Return criteria with what is found of those whose plan runs; each plan is run once."""
        found: dict[Plan, Measurement] = {}
        verified = []
        for one in criteria:
            if one.plan.runs:
                plan = replace(one.plan, required=None)
                if plan not in found:
                    found[plan] = self.measure(plan, attempt)
                one = with_measurement(one, found[plan])
            verified.append(one)
        return tuple(verified)

    def true_ones(
        self, must_not: Iterable[MustNot], attempt: Attempt | None = None
    ) -> tuple[tuple[MustNot, Measurement], ...]:
        """Return what is true and must not be; one whose plan does not run is not looked at.

        One that was not approved, or could not be measured, is not known to be true.
        """
        found = [(one, self.measure(one.plan, attempt)) for one in must_not if one.plan.runs]
        return tuple((one, what) for one, what in found if what.passed)


def refused_of(plans: Iterable[Plan], verifier: Verifier) -> str:
    """Return which of some plans are not run because nobody approved them, empty for none."""
    refused: dict[str, None] = {}
    for plan in dict.fromkeys(one.started for one in plans if one.runs):
        try:
            missing = verifier.approvals.missing([plan], verifier.registry)
        except ReflexError:
            continue  # what cannot be read is not met, and says so itself
        refused |= dict.fromkeys(one_line(describe_refusal(missing), EVIDENCE) for _ in missing[:1])
    return "; ".join(refused)


def with_measurement(criterion: Criterion, found: Measurement) -> Criterion:
    """Return a criterion as a measurement of its plan has it; one that was not made is a claim."""
    if found.status is MeasurementStatus.NOT_MEASURED:
        return replace(as_claimed(criterion), evidence=found.summary)
    verification = Verification.EXECUTION_OUTPUT
    if criterion.plan.compare and not criterion.plan.criteria:
        verification = Verification.MEASUREMENT
    return replace(
        criterion, met=found.passed, verification=verification, evidence=evidence_of(found)
    )


def as_claimed(criterion: Criterion) -> Criterion:
    """Return a criterion as what another program says of it: no more than a claim."""
    if not criterion.met:
        return replace(criterion, verification=None)
    if criterion.verification is Verification.ASSUMPTION:
        return criterion
    return replace(criterion, verification=Verification.CLAIM)


def measure_of(plan: Plan, project: Path, registry: Registry, *, timeout: float) -> Measure:
    """Return what a plan measures, approved or not; raises ReflexError where that cannot work."""
    if plan.criteria:
        from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure

        artifacts = (plan.artifact,) if plan.artifact else ()
        return CriteriaMeasure(
            plan.criteria, artifacts, project=project, registry=registry, rule=plan.rule
        )
    if not plan.compare:
        return CommandMeasure(plan.command, folder=project, timeout=timeout)
    wanted = parse_comparison(plan.compare)
    return CommandMeasure(
        plan.command,
        folder=project,
        timeout=timeout,
        read=lambda finished: _compared(finished, wanted),
    )


def evidence_of(found: Measurement) -> str:
    """Return what a measurement shows, bounded: its summary, and the end of what was written."""
    text = found.summary
    last = found.evidence.strip()
    if last and last != found.summary:
        text += "\n" + last[-(EVIDENCE - min(len(text), EVIDENCE)) :]
    return clip(text, EVIDENCE)


def _compared(finished: Finished, wanted: Threshold) -> Measurement:
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
