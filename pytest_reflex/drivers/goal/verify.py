"""Verifying a criterion, by commands that a person has approved and no others.

A state file may come from an agent or with a cloned repository. So what it names is run only where
its hash was recorded in the user's state folder, for this project, when a person started a goal or
installed the hook. Criteria that start processes are approved with the content of all their files.

What cannot be verified by the program stays what was claimed of it. What could not be measured is
not met, and what is not approved is not run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.command import last_lines, text_of
from pytest_reflex.drivers.common.measure import (
    Attempt,
    CommandMeasure,
    Measure,
    Measurement,
    MeasurementStatus,
    by_exit_status,
    run_measure,
)
from pytest_reflex.drivers.goal.claims import Threshold, number_in, parse_comparison
from pytest_reflex.drivers.goal.model import Criterion, MustNot, Verification, VerificationPlan
from pytest_reflex.errors import ReflexError, StateError
from pytest_reflex.model.plain import clip, one_line
from pytest_reflex.process.run import Finished
from pytest_reflex.storage.files import read_file
from pytest_reflex.storage.user_state import UserFile
from pytest_reflex.verdict.formatting import plain

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.targets import CompiledCheck


KIND = "approved"
_LONGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class Runnable:
    """What a plan would start: `text` for a person, and the hash that is recorded."""

    text: str = field(compare=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class Approvals:
    """What was approved for one project, when this was loaded or recorded last."""

    project: Path
    hashes: frozenset[str] = frozenset()

    @classmethod
    def load(cls, project: Path) -> Approvals:
        """Return what was approved; nothing where the record cannot be relied on."""
        found = UserFile(KIND, project).read().get(KIND, {})
        return cls(project, frozenset(found) if isinstance(found, dict) else frozenset())

    def find_missing(
        self, plans: Iterable[VerificationPlan], registry: Registry
    ) -> tuple[Runnable, ...]:
        """Return what plans would start and is not approved, each once.

        Raises ReflexError where criteria cannot be read.
        """
        needed = dict.fromkeys(
            one for plan in plans for one in runnables_of(plan, self.project, registry)
        )
        return tuple(one for one in needed if one.sha256 not in self.hashes)

    def record(self, more: Iterable[Runnable]) -> Approvals:
        """Return the approvals with some more, recorded for good; raises StateError."""
        new = {one.sha256: one.text for one in more}
        if not new:
            return self
        with UserFile(KIND, self.project).change() as wire:
            known = wire.get(KIND, {})
            wire[KIND] = (known if isinstance(known, dict) else {}) | new
            return Approvals(self.project, frozenset(wire[KIND]))


def runnables_of(plan: VerificationPlan, project: Path, registry: Registry) -> Iterator[Runnable]:
    """Yield what a plan would start; raises ReflexError where criteria cannot be read."""
    if plan.criteria:
        if found := _criteria(plan, project, registry):
            yield found
    elif plan.command:
        yield Runnable(plan.command, _hash({"command": plan.command}))


def _criteria(plan: VerificationPlan, project: Path, registry: Registry) -> Runnable | None:
    """Return the criteria of a plan where a check of them starts a process, else None."""
    from pytest_reflex.checks.registry import compile_all
    from pytest_reflex.criteria.load import read_criteria
    from pytest_reflex.drivers.common.judging_files import commands_in

    criteria, files = read_criteria(plan.criteria, registry=registry, relative_to=project)
    checks = compile_all(criteria, registry)
    if not any(map(starts_process, checks)):
        return None
    contents = [[str(path), _sum_of(path)] for path in files]
    key = {"criteria": plan.criteria, "artifact": plan.artifact, "files": contents}
    commands = [
        one if isinstance(one, str) else " ".join(map(str, one))
        for one in commands_in(criteria, checks)
    ]
    text = f"criteria {plan.criteria} for {plan.artifact or 'what they name'}"
    return Runnable("; ".join((text, *dict.fromkeys(commands))), _hash(key))


def starts_process(check: CompiledCheck) -> bool:
    """Return whether a check may start a process; a judge is never asked here."""
    return not (check.in_process or check.is_judged)


def _sum_of(path: Path) -> str:
    try:
        return hashlib.sha256(read_file(path.resolve(), _LONGEST)).hexdigest()
    except OSError as error:
        raise StateError(f"{path} could not be read: {error.strerror}") from None


def _hash(key: Any) -> str:
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()


def describe_refusal(missing: Iterable[Runnable]) -> str:
    """Return why something was not run, for evidence."""
    return "not run, because it is not approved: " + " | ".join(one.text for one in missing)


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

    def measure(self, plan: VerificationPlan, attempt: Attempt | None = None) -> Measurement:
        """Return what a plan that runs measures; raises nothing.

        What was not approved is not measured, and its summary shows it.
        """

        def measure(attempt: Attempt) -> Measurement:
            if missing := self.approvals.find_missing([plan], self.registry):
                text = one_line(describe_refusal(missing), EVIDENCE)
                return Measurement(status=MeasurementStatus.NOT_MEASURED, summary=text)
            project = self.approvals.project
            return measure_of(plan, project, self.registry, timeout=self.timeout)(attempt)

        return run_measure(measure, attempt or Attempt())

    def verify(
        self, criteria: Iterable[Criterion], attempt: Attempt | None = None
    ) -> tuple[Criterion, ...]:
        """Return criteria with what is found of those whose plan runs; each plan is run once."""
        found: dict[VerificationPlan, Measurement] = {}
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


def format_unapproved(plans: Iterable[VerificationPlan], verifier: Verifier) -> str:
    """Return which of some plans are not run because they are not approved, empty for none."""
    refused: dict[str, None] = {}
    for plan in dict.fromkeys(one.started for one in plans if one.runs):
        try:
            missing = verifier.approvals.find_missing([plan], verifier.registry)
        except ReflexError:
            continue  # what cannot be read is not met, and is reported already
        refused |= dict.fromkeys(one_line(describe_refusal(missing), EVIDENCE) for _ in missing[:1])
    return "; ".join(refused)


def with_measurement(criterion: Criterion, found: Measurement) -> Criterion:
    """Return a criterion as a measurement of its plan has it; one that was not made is a claim."""
    if found.status is MeasurementStatus.NOT_MEASURED:
        return replace(as_claim(criterion), evidence=found.summary)
    verification = Verification.EXECUTION_OUTPUT
    if criterion.plan.compare and not criterion.plan.criteria:
        verification = Verification.MEASUREMENT
    return replace(
        criterion, met=found.passed, verification=verification, evidence=evidence_of(found)
    )


def as_claim(criterion: Criterion) -> Criterion:
    """Return a criterion as what another program says of it: no more than a claim."""
    if not criterion.met:
        return replace(criterion, verification=None)
    if criterion.verification is Verification.ASSUMPTION:
        return criterion
    return replace(criterion, verification=Verification.CLAIM)


def measure_of(
    plan: VerificationPlan, project: Path, registry: Registry, *, timeout: float
) -> Measure:
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
        read=lambda finished: _compare(finished, wanted),
    )


def evidence_of(found: Measurement) -> str:
    """Return what a measurement shows, bounded: its summary, and the end of what was written."""
    text = found.summary
    last = found.evidence.strip()
    if last and last != found.summary:
        text += "\n" + last[-(EVIDENCE - min(len(text), EVIDENCE)) :]
    return clip(text, EVIDENCE)


def _compare(finished: Finished, wanted: Threshold) -> Measurement:
    """Return whether the number that a command printed is as wanted; a failure measures nothing."""
    if finished.returncode:
        return by_exit_status(finished)
    evidence = last_lines(finished)
    value = number_in(text_of(finished.stdout), wanted)
    if value is None:
        named = f" beside {one_line(wanted.name)!r}" if wanted.name else ""
        text = f"it printed no number{named}, wanted {wanted.text}"
        return Measurement(status=MeasurementStatus.ERROR, summary=text, evidence=evidence)
    met = wanted.holds(value)
    return Measurement(
        status=MeasurementStatus.PASSED if met else MeasurementStatus.FAILED,
        summary=f"{plain(value)}{f' {wanted.unit}' if wanted.unit else ''}, wanted {wanted.text}",
        value=value,
        unit=wanted.unit,
        evidence=evidence,
    )
