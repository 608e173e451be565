"""Quality gates of an iteration loop: commands, and criteria that are judged as everywhere.

What can be known of them is looked at before the first round, so that nobody pays for a round
behind a gate that cannot open. All gates run in their order, also behind a failed one: one round
then tells everything that is wrong. Promises: only a gate that was judged and held is a pass; a
file of criteria that changed since the start judges nothing any more.
Limits: what a command reads can be changed by whoever it judges; `timeout` is that of a command,
the checks of criteria have their own.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from threading import Event

from pytest_reflex.checks.command import command_of
from pytest_reflex.checks.command_run import LEFT_TEXT, stopped
from pytest_reflex.checks.output import last_lines
from pytest_reflex.checks.registry import Registry
from pytest_reflex.errors import CriteriaError, Problem, ReflexError, UsageError
from pytest_reflex.iterations.model import Gate, GateResult
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Level
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError
from pytest_reflex.seals.manifest import changes, take
from pytest_reflex.seals.patterns import escaped
from pytest_reflex.verdict.figures import plain, shown_score
from pytest_reflex.verdict.gate import GateStatus, Judged, gate_over

PASS, FAIL, ERROR = "pass", "fail", "error"
ITERATION_VARIABLE = "PYTEST_REFLEX_ITERATION"
SUITE_SUFFIXES = (".reflex.yaml", ".reflex.yml")
_SUMMARY = 300


@dataclass(frozen=True, slots=True)
class _Verdict:
    outcome: str
    summary: str
    output: str = ""
    left_children: bool = False


Judging = Callable[[int, Event], _Verdict]


class Gates:
    """The gates of one run, ready to be tried after each round.

    Raises ReflexError with everything that is wrong with them: criteria that cannot be read, that
    cannot fail, or that have nothing to judge.
    """

    def __init__(self, gates: Iterable[Gate], *, project: Path, registry: Registry) -> None:
        self._gates: list[tuple[Gate, Judging]] = []
        problems: list[Problem] = []
        for gate in gates:
            try:
                self._gates.append((gate, _made(gate, project, registry)))
            except ReflexError as error:
                problems += [
                    replace(problem, message=f"quality gate {gate.name!r}: {problem.message}")
                    for problem in error.problems
                ]
        if problems:
            raise CriteriaError(problems)

    def __len__(self) -> int:
        return len(self._gates)

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
        cancel = cancel or Event()
        found = []
        for gate, judging in self._gates:
            result = _tried(gate, judging, number, cancel)
            told(result)
            found.append(result)
        return tuple(found)


def _tried(gate: Gate, judging: Judging, number: int, cancel: Event) -> GateResult:
    started = time.monotonic()
    if cancel.is_set():
        verdict = _Verdict(ERROR, "it was not tried: the run was stopped")
    else:
        try:
            verdict = judging(number, cancel)
        except ReflexError as error:
            told = "; ".join(str(problem) for problem in error.problems)
            verdict = _Verdict(ERROR, one_line(told, _SUMMARY))
    return GateResult(
        gate=gate,
        outcome=verdict.outcome,
        summary=verdict.summary,
        seconds=time.monotonic() - started,
        output=verdict.output,
        left_children=verdict.left_children,
    )


def _made(gate: Gate, project: Path, registry: Registry) -> Judging:
    if (gate.command is None) == (not gate.criteria):
        raise UsageError("it needs a command or criteria, and not both")
    if gate.command is not None:
        return _CommandGate(gate, gate.command, project)
    return _CriteriaGate(gate, project, registry)


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

    def __call__(self, number: int, cancel: Event) -> _Verdict:
        command, timeout = self._command, self._gate.timeout
        try:
            finished = run(
                command.argv,
                cwd=self._project,
                env={**self._environment, ITERATION_VARIABLE: str(number)},
                timeout=timeout,
                cancel=cancel,
            )
        except SpawnError as error:
            return _Verdict(ERROR, one_line(str(error), _SUMMARY))
        verdict = self._verdict(finished)
        if not finished.left_children:
            return verdict
        return replace(verdict, summary=f"{verdict.summary}; {LEFT_TEXT}", left_children=True)

    def _verdict(self, finished: Finished) -> _Verdict:
        command, timeout = self._command, self._gate.timeout
        output, code = last_lines(finished), finished.returncode
        if why := stopped(finished, command, timeout) or command.trouble(code):
            return _Verdict(ERROR, one_line(why, _SUMMARY), output)
        if not code:
            return _Verdict(PASS, f"exit status {code}", output)
        last = output.rpartition("\n")[2].strip()
        told = f": {last}" if last else ""
        return _Verdict(FAIL, one_line(f"exit status {code}{told}", _SUMMARY), output)


def _look_for(program: str, path: str | None) -> None:
    """Raise UsageError for a program that is not there; one given by its path a round may make."""
    if os.sep not in program and not shutil.which(program, path=path):
        raise UsageError(
            f"there is no program {one_line(program)!r}", hint="install it, or correct the command"
        )


class _CriteriaGate:
    """Criteria whose gate has to be passed by every artifact, or a suite that names its own."""

    def __init__(self, gate: Gate, project: Path, registry: Registry) -> None:
        from pytest_reflex.checks.compiled import compile_checks
        from pytest_reflex.criteria.load import VACUITY_HINT, read_criteria, vacuity
        from pytest_reflex.criteria.suite import default_level
        from pytest_reflex.verdict.score import cannot_fail

        self._gate, self._project, self._registry = gate, project, registry
        self._is_suite = gate.criteria.endswith(SUITE_SUFFIXES) and not gate.artifacts
        if not gate.artifacts and not self._is_suite:
            raise UsageError("its criteria have nothing to judge", hint='artifacts = ["README.md"]')
        self._level, self._threshold = _level(gate.phase), _threshold(gate.threshold)
        self._criteria, files = read_criteria(gate.criteria, registry=registry, relative_to=project)
        level = self._level or default_level(self._criteria)
        rules = self._criteria.active(level)
        if not rules:
            raise UsageError(f"{self._criteria.name} has no rules in phase {level}")
        if self._threshold is not None and cannot_fail(rules, self._threshold):
            raise UsageError(vacuity(rules, level), hint=VACUITY_HINT)
        compile_checks(self._criteria, level, registry)
        self._sealed = take([escaped(path.absolute()) for path in files], root=project)

    def __call__(self, number: int, cancel: Event) -> _Verdict:
        from pytest_reflex.checks.run import evaluate

        if changed := changes(self._sealed):
            told = "; ".join(map(str, changed))
            return _Verdict(ERROR, one_line(f"{told} since the start of the run", _SUMMARY))
        variables = {ITERATION_VARIABLE: str(number)}
        evaluations = [
            evaluate(
                replace(target, environment={**target.environment, **variables}), self._registry
            )
            for target in self._targets()
        ]
        return _verdict_of(evaluations)

    def _targets(self) -> list[Target]:
        from pytest_reflex.criteria.suite import load_suite, make_target

        root, level = self._project, self._level
        if self._is_suite:
            suite = root / self._gate.criteria
            return [
                replace(one, level=level or one.level, threshold=self._threshold)
                for one in load_suite(suite, registry=self._registry, root=root)
            ]
        targets = []
        for label, path in _artifacts(self._gate, root).items():
            target = make_target(
                self._criteria, path, level=level, threshold=self._threshold, root=root
            )
            targets.append(replace(target, label=label))
        return targets


def _artifacts(gate: Gate, project: Path) -> dict[str, Path]:
    """Return what the patterns of a gate match now, by its path seen from the project."""
    from pytest_reflex.criteria.suite import label_of, matching

    found: dict[str, Path] = {}
    for pattern in gate.artifacts:
        paths = matching(pattern, project)
        if not paths:
            raise UsageError(f"{one_line(pattern)!r} matches no artifact in {project}")
        found |= {label_of(path, project): path for path in paths}
    return dict(sorted(found.items()))


def _verdict_of(evaluations: list[Evaluation]) -> _Verdict:
    from pytest_reflex.reports.terminal import evaluation_text

    output = "\n\n".join(evaluation_text(one, colour=False) for one in evaluations)
    if not any(one.measured for one in evaluations):
        return _Verdict(ERROR, "nothing was measured", output)
    gate = gate_over([Judged(evaluation=one) for one in evaluations])
    if gate.passed:
        worst = min(evaluations, key=lambda one: one.score - one.threshold)
        told = f"score {shown_score(worst.score)}, needs {plain(worst.threshold)}"
        if len(evaluations) > 1:
            told = f"all {len(evaluations)} artifacts, {worst.artifact} with {told}"
        return _Verdict(PASS, one_line(told, _SUMMARY), output)
    outcome = FAIL if gate.status is GateStatus.FAILED else ERROR
    return _Verdict(outcome, one_line("; ".join(gate.reasons), _SUMMARY), output)


def _level(word: str) -> Level | None:
    if word not in ("", "A", "B"):
        raise UsageError(f"there is no phase {word!r}", hint="A or B")
    return Level(word) if word else None


def _threshold(text: str) -> Fraction | None:
    from pytest_reflex.criteria.header import parse_threshold

    return parse_threshold(text) if text else None
