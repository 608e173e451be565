"""Quality gates of an iteration loop: commands, and criteria that are judged as everywhere.

What can be known of them is looked at before the first round, so that nobody pays for a round
behind a gate that cannot open. All gates run in their order, also behind a failed one: one round
then tells everything that is wrong. Promises: only a gate that was judged and held is a pass; a
file of criteria that changed since the start judges nothing any more.
A gate whose files were modified since the start fails until they are back (`protection`), and
caches from before are not read.
Limits: what a gate relies on beyond `gate_files` can be changed by whoever it judges; `timeout` is
that of a command, the checks of criteria have their own.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from pytest_reflex.checks.command import command_of
from pytest_reflex.checks.command_run import LEFT_TEXT, stopped
from pytest_reflex.checks.output import last_lines
from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.iterate.criteria_gate import CriteriaGate
from pytest_reflex.drivers.iterate.diff_gate import DiffGate, check_patterns
from pytest_reflex.drivers.iterate.gate_files import relied_on
from pytest_reflex.drivers.iterate.gate_start import GateStart, declaration
from pytest_reflex.drivers.iterate.gate_verdict import (
    ERROR,
    FAIL,
    PASS,
    SUMMARY,
    Attempt,
    Judging,
    Verdict,
)
from pytest_reflex.drivers.iterate.model import Gate, GateResult
from pytest_reflex.drivers.iterate.protection import Modified, Protection, Relied, modified_text
from pytest_reflex.errors import CriteriaError, Problem, ReflexError, UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError
from pytest_reflex.process.temporary import private_caches
from pytest_reflex.seals.world import configured_options

ITERATION_VARIABLE = "PYTEST_REFLEX_ITERATION"


class Gates:
    """The gates of one run, ready to be tried after each round.

    Raises ReflexError with everything that is wrong with them: criteria that cannot be read, that
    cannot fail, or that have nothing to judge.
    """

    def __init__(
        self,
        gates: Iterable[Gate],
        *,
        project: Path,
        registry: Registry,
        exclude: Iterable[str] = (),
    ) -> None:
        self._gates: list[_Made] = []
        self._project = project
        problems: list[Problem] = []
        for gate in gates:
            try:
                self._gates.append(_made(gate, project, registry, tuple(exclude)))
            except ReflexError as error:
                problems += [
                    replace(problem, message=f"quality gate {gate.name!r}: {problem.message}")
                    for problem in error.problems
                ]
        if problems:
            raise CriteriaError(problems)

    def __len__(self) -> int:
        return len(self._gates)

    def protected(self) -> dict[str, tuple[str, ...]]:
        """Return for each gate the files that may not change while the run lasts."""
        return {made.gate.name: made.protection.files() for made in self._gates}

    def modified(self) -> dict[str, Modified]:
        """Return for each gate the files that are not as they were at the start, if there are some.

        Raises ReflexError where that cannot be seen.
        """
        found = {made.gate.name: made.modified() for made in self._gates}
        return {name: files for name, files in found.items() if files}

    def remember(self, modified: Mapping[str, Modified]) -> None:
        """Go on with a run that had left files modified."""
        for made in self._gates:
            made.protection.remember(modified.get(made.gate.name, {}))

    def declared(self) -> dict[str, str]:
        """Return for each gate a text that is another one where it is declared otherwise."""
        return {made.gate.name: declaration(made.gate) for made in self._gates}

    def starts(self) -> dict[str, GateStart]:
        """Return for each gate how it was when the run began."""
        return {made.gate.name: made.start() for made in self._gates}

    def compare_with(self, starts: Mapping[str, GateStart]) -> None:
        """Go on with a run that was killed: files are compared with what they were at its start."""
        for made in self._gates:
            if began := starts.get(made.gate.name):
                made.compare_with(began, self._project)

    def before_agent(self) -> None:
        """Look at what gates compare, before the agent of a round."""
        for made in self._gates:
            if isinstance(made.judging, DiffGate):
                made.judging.before()

    def after_agent(self) -> None:
        """Look at it again, right behind the agent."""
        for made in self._gates:
            if isinstance(made.judging, DiffGate):
                made.judging.after()

    def run(
        self,
        number: int,
        *,
        cancel: Event | None = None,
        told: Callable[[GateResult], None] = lambda result: None,
    ) -> tuple[GateResult, ...]:
        """Try all gates after round `number`; `told` hears each one as soon as it is done.

        Once `cancel` is set, what runs is ended and what is left is an error.
        """
        if not self._gates:
            return ()
        found = []
        commands = (str(made.gate.command) for made in self._gates)
        options = (*commands, *configured_options(self._project))
        with private_caches(inherited(), options) as caches:
            variables = {**caches, ITERATION_VARIABLE: str(number)}
            attempt = Attempt(variables, cancel or Event())
            for made in self._gates:
                result = _tried(made, attempt)
                told(result)
                found.append(result)
        return tuple(found)


@dataclass(slots=True)
class _Made:
    """A gate, what judges for it, and the files that this relies on.

    `began` has those of a run that was killed, as they were when it began.
    """

    gate: Gate
    judging: Judging
    relied: Relied
    protection: Protection
    began: Protection | None = None
    begun: GateStart | None = None

    def modified(self) -> Modified:
        before = self.began.modified() if self.began else {}
        return dict(sorted({**self.protection.modified(), **before}.items()))

    def start(self) -> GateStart:
        if self.begun:
            return self.begun
        declared, start = declaration(self.gate), self.protection.start()
        return GateStart(declared=declared, relied=self.relied, start=start)

    def compare_with(self, begun: GateStart, project: Path) -> None:
        relied = replace(begun.relied, module_names=self.relied.module_names)
        self.begun, self.began = begun, Protection(project, relied, begun.start)


def _tried(made: _Made, attempt: Attempt) -> GateResult:
    started = time.monotonic()
    if attempt.cancel.is_set():
        verdict = Verdict(ERROR, "it was not tried: the run was stopped")
    else:
        try:
            verdict = _judged(made, attempt)
        except ReflexError as error:
            told = "; ".join(str(problem) for problem in error.problems)
            verdict = Verdict(ERROR, one_line(told, SUMMARY))
    return GateResult(
        gate=made.gate,
        outcome=verdict.outcome,
        summary=verdict.summary,
        seconds=time.monotonic() - started,
        output=verdict.output,
        left_children=verdict.left_children,
    )


def _judged(made: _Made, attempt: Attempt) -> Verdict:
    """Return what a gate comes to; of one whose files were modified, also while it ran, that."""
    if modified := made.modified():
        return _modified(modified)
    verdict = made.judging(attempt)
    if verdict.outcome == PASS and (modified := made.modified()):
        return replace(_modified(modified), left_children=verdict.left_children)
    return verdict


def _modified(files: Modified) -> Verdict:
    paths = list(files)
    return Verdict(FAIL, one_line(modified_text(paths), SUMMARY), "\n".join(map(one_line, paths)))


def _made(gate: Gate, project: Path, registry: Registry, exclude: tuple[str, ...]) -> _Made:
    check_patterns(gate.protect, "protect")
    has_limits = gate.max_files is not None or gate.max_lines is not None or bool(gate.deny)
    if sum((gate.command is not None, bool(gate.criteria), has_limits)) != 1:
        raise UsageError("it needs one of a command, criteria, and limits to what a round changes")
    if has_limits:
        relied = relied_on(gate, (), project=project, environment={})
        judge = DiffGate(gate, project, exclude)
        return _Made(gate, judge, relied, Protection(project, relied))
    judging: _CommandGate | CriteriaGate
    if gate.command is not None:
        judging = _CommandGate(gate, gate.command, project)
    else:
        judging = CriteriaGate(gate, project, registry)
    return _Made(gate, judging, judging.relied, Protection(project, judging.relied))


class _CommandGate:
    """A command that has to end with exit status 0."""

    def __init__(self, gate: Gate, command: str | tuple[str, ...], project: Path) -> None:
        program = command if isinstance(command, str) else "".join(command[:1])
        if not program.strip() or "\0" in "".join(command):
            raise UsageError("its command is empty, or holds a NUL byte")
        self._gate, self._project = gate, project
        self._environment = inherited()
        if not isinstance(command, str):
            _look_for(program, self._environment.get("PATH"))
        self._command = command_of(command, "", self._environment)
        self.relied = relied_on(
            gate,
            [self._command.argv],
            project=project,
            environment=self._environment,
            judged=gate.artifacts,
        )

    def __call__(self, attempt: Attempt) -> Verdict:
        command, timeout = self._command, self._gate.timeout
        try:
            finished = run(
                command.argv,
                cwd=self._project,
                env={**self._environment, **attempt.variables},
                timeout=timeout,
                cancel=attempt.cancel,
            )
        except SpawnError as error:
            return Verdict(ERROR, one_line(str(error), SUMMARY))
        verdict = self._verdict(finished)
        if not finished.left_children:
            return verdict
        return replace(verdict, summary=f"{verdict.summary}; {LEFT_TEXT}", left_children=True)

    def _verdict(self, finished: Finished) -> Verdict:
        command, timeout = self._command, self._gate.timeout
        output, code = last_lines(finished), finished.returncode
        if why := stopped(finished, command, timeout) or command.trouble(code):
            return Verdict(ERROR, one_line(why, SUMMARY), output)
        if not code:
            return Verdict(PASS, f"exit status {code}", output)
        last = output.rpartition("\n")[2].strip()
        told = f": {last}" if last else ""
        return Verdict(FAIL, one_line(f"exit status {code}{told}", SUMMARY), output)


def _look_for(program: str, path: str | None) -> None:
    """Raise UsageError for a program that is not there; one given by its path a round may make."""
    if os.sep not in program and not shutil.which(program, path=path):
        raise UsageError(
            f"there is no program {one_line(program)!r}", hint="install it, or correct the command"
        )
