"""Quality gates of an iteration loop: commands, and criteria that are judged as everywhere.

What can be known of them is looked at before the first iteration, so that no one pays for an
iteration behind a gate that cannot open. All gates run in their order, also behind a failed one:
one iteration then reports everything that is wrong. Promises: only a gate that was evaluated and
passed is a pass; a file of criteria that changed since the start judges nothing any more. A gate
whose files were modified since the start fails until they are back (`protection`), and caches from
before are not read. Limits: what a gate relies on beyond `gate_files` can be changed by whoever it
judges; `timeout` is that of a command, the checks of criteria have their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common.gate_files import find_relied_files
from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    CommandMeasure,
    Measure,
    Measurement,
    MeasurementStatus,
    by_exit_status,
    by_failures,
    run_measure,
)
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.drivers.common.protection import (
    Modified,
    Protection,
    ReliedFiles,
    format_modified,
)
from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.drivers.iterate.diff_gate import DiffGate, check_patterns
from pytest_reflex.drivers.iterate.model import GateResult, IterationGate
from pytest_reflex.drivers.iterate.progress import GateStart, declaration
from pytest_reflex.errors import CriteriaError, Problem, ReflexError, UsageError
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.integrity.tool_inputs import read_pytest_options
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.guard import private_caches

ITERATION_VARIABLE = "PYTEST_REFLEX_ITERATION"
# What was not measured is not a pass: to a gate that is an error.
_OUTCOMES = {
    MeasurementStatus.PASSED: "pass",
    MeasurementStatus.FAILED: "fail",
    MeasurementStatus.ERROR: "error",
    MeasurementStatus.NOT_MEASURED: "error",
}


class Gates:
    """The gates of one run, ready to be tried after each iteration.

    Raises ReflexError with everything that is wrong with them: criteria that cannot be read, that
    cannot fail, or that have nothing to judge. Where nothing `runs`, no program need be installed.
    """

    def __init__(
        self,
        gates: Iterable[IterationGate],
        *,
        project: Path,
        registry: Registry,
        exclude: Iterable[str] = (),
        runs: bool = True,
    ) -> None:
        self._gates: list[_RunnableGate] = []
        self.project = project
        problems: list[Problem] = []
        for gate in gates:
            try:
                self._gates.append(_make_gate(gate, project, registry, tuple(exclude), runs=runs))
            except ReflexError as error:
                problems += [
                    replace(problem, message=f"quality gate {gate.name!r}: {problem.message}")
                    for problem in error.problems
                ]
        if problems:
            raise CriteriaError(problems)

    def __len__(self) -> int:
        return len(self._gates)

    def protected_files(self) -> dict[str, tuple[str, ...]]:
        """Return for each gate the files that may not change while the run lasts."""
        return {made.gate.name: made.protection.files() for made in self._gates}

    def missing_programs(self) -> dict[str, str]:
        """Return the programs of commands that are not installed, by the names of the gates."""
        found = {made.gate.name: getattr(made.measure, "missing", "") for made in self._gates}
        return {name: program for name, program in found.items() if program}

    def find_modified(self) -> dict[str, Modified]:
        """Return for each gate the files that are not as they were at the start, if there are some.

        Raises ReflexError where that cannot be seen.
        """
        found = {made.gate.name: made.find_modified() for made in self._gates}
        return {name: files for name, files in found.items() if files}

    def remember(self, modified: Mapping[str, Modified]) -> None:
        """Go on with a run that had left files modified."""
        for made in self._gates:
            made.protection.remember(modified.get(made.gate.name, {}))

    def declarations(self) -> dict[str, str]:
        """Return for each gate a text that is another one where it is declared otherwise."""
        return {made.gate.name: declaration(made.gate) for made in self._gates}

    def starts(self) -> dict[str, GateStart]:
        """Return for each gate how it was when the run began."""
        return {made.gate.name: made.start() for made in self._gates}

    def compare_with(self, starts: Mapping[str, GateStart]) -> None:
        """Go on with a run that was killed: files are compared with what they were at its start."""
        for made in self._gates:
            if began := starts.get(made.gate.name):
                made.compare_with(began, self.project)

    def before_agent(self) -> None:
        """Look at what gates compare, before the agent of an iteration."""
        for made in self._gates:
            if isinstance(made.measure, DiffGate):
                made.measure.before()

    def after_agent(self) -> None:
        """Look at it again, right behind the agent."""
        for made in self._gates:
            if isinstance(made.measure, DiffGate):
                made.measure.after()

    def run(
        self,
        number: int,
        *,
        cancel: Event | None = None,
        on_result: Callable[[GateResult], None] = lambda result: None,
        compared: bool = False,
        calls: CallsUnderWay | None = None,
    ) -> tuple[GateResult, ...]:
        """Try all gates after iteration `number`; `on_result` gets each one as soon as it is done.

        Once `cancel` is set, what runs is ended and what is left is an error. With `compared` only
        those are tried whose failures are compared with those before. Votes of a judge are in
        `calls` from before they are asked for.
        """
        tried = [made for made in self._gates if made.gate.progress or not compared]
        if not tried:
            return ()
        found = []
        commands = (str(made.gate.command) for made in self._gates)
        options = (*commands, *read_pytest_options(self.project))
        with private_caches(copy_environment(), options) as caches:
            variables = {**caches, ITERATION_VARIABLE: str(number)}
            attempt = Attempt(variables, cancel or Cancel(), calls)
            for made in tried:
                result = _try_gate(made, attempt)
                on_result(result)
                found.append(result)
        return tuple(found)


@dataclass(slots=True)
class _RunnableGate:
    """A gate, what measures for it, and the files that this relies on.

    `began` has those of a run that was killed, as they were when it began.
    """

    gate: IterationGate
    measure: Measure
    relied: ReliedFiles
    protection: Protection
    began: Protection | None = None
    begun: GateStart | None = None

    def find_modified(self) -> Modified:
        before = self.began.find_modified() if self.began else {}
        return dict(sorted({**self.protection.find_modified(), **before}.items()))

    def start(self) -> GateStart:
        if self.begun:
            return self.begun
        declared, start = declaration(self.gate), self.protection.start()
        return GateStart(declared=declared, relied=self.relied, start=start)

    def compare_with(self, begun: GateStart, project: Path) -> None:
        relied = replace(begun.relied, module_names=self.relied.module_names)
        self.begun, self.began = begun, Protection(project, relied, begun.start)


def _try_gate(made: _RunnableGate, attempt: Attempt) -> GateResult:
    def measure(attempt: Attempt) -> Measurement:
        return _measure(made, attempt)

    found = run_measure(measure, attempt)
    return GateResult(
        gate=made.gate,
        outcome=_OUTCOMES[found.status],
        summary=found.summary,
        seconds=found.seconds,
        output=found.evidence,
        left_children=found.left_children,
        cost=found.cost,
        failures=_failures(found),
        limit=found.limit,
    )


def _failures(found: Measurement) -> tuple[str, int] | None:
    """Return the failures that were counted; a pass by criteria has none, whatever they warn of."""
    if found.failures is None or found.status is MeasurementStatus.ERROR:
        return None
    return ("pass", 0) if found.passed else found.failures


def _measure(made: _RunnableGate, attempt: Attempt) -> Measurement:
    """Return what a gate comes to; of one whose files were modified, also while it ran, that."""
    if modified := made.find_modified():
        return _modified_measurement(modified)
    found = made.measure(attempt)
    if found.passed and (modified := made.find_modified()):
        return replace(
            _modified_measurement(modified), left_children=found.left_children, cost=found.cost
        )
    return found


def _modified_measurement(files: Modified) -> Measurement:
    paths = list(files)
    return Measurement(
        status=MeasurementStatus.FAILED,
        summary=one_line(format_modified(paths), SUMMARY),
        evidence="\n".join(map(one_line, paths)),
    )


def _make_gate(
    gate: IterationGate, project: Path, registry: Registry, exclude: tuple[str, ...], *, runs: bool
) -> _RunnableGate:
    check_patterns(gate.protect, "protect")
    has_limits = gate.max_files is not None or gate.max_lines is not None or bool(gate.deny)
    if sum((gate.command is not None, bool(gate.criteria), has_limits)) != 1:
        raise UsageError("it needs a command, criteria, or limits to what an iteration changes")
    measure: Measure
    if has_limits:
        relied = find_relied_files(gate.protect, (), project=project, environment={})
        measure = DiffGate(gate, project, exclude)
    elif gate.command is not None:
        read = by_failures(gate.failures) if gate.progress else by_exit_status
        measure = CommandMeasure(
            gate.command, folder=project, timeout=gate.timeout, read=read, runs=runs
        )
        relied = find_relied_files(
            gate.protect,
            [measure.argv],
            project=project,
            environment=measure.environment,
            judged=gate.artifacts,
        )
    else:
        measure, relied = _criteria(gate, project, registry)
    return _RunnableGate(gate, measure, relied, Protection(project, relied))


def _criteria(
    gate: IterationGate, project: Path, registry: Registry
) -> tuple[CriteriaMeasure, ReliedFiles]:
    """Return what measures by criteria, and what it relies on; a suite judges what is there now."""
    measure = CriteriaMeasure(
        gate.criteria,
        gate.artifacts,
        project=project,
        registry=registry,
        phase=gate.phase,
        threshold=gate.threshold,
    )
    judged = gate.artifacts or [
        escape_path(os.path.relpath(path, project)) for path in measure.find_artifacts()
    ]
    relied = find_relied_files(
        gate.protect,
        measure.commands,
        project=project,
        environment=copy_environment(),
        files=measure.files,
        judged=judged,
    )
    return measure, relied
