"""A gate of criteria: judged as everywhere, over the artifacts of a project, or by a suite."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common.judging_files import commands_in
from pytest_reflex.drivers.iterate.gate_files import relied_on
from pytest_reflex.drivers.iterate.gate_verdict import ERROR, FAIL, PASS, SUMMARY, Attempt, Verdict
from pytest_reflex.drivers.iterate.model import Gate
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Level
from pytest_reflex.process.environment import inherited
from pytest_reflex.seals.patterns import escaped
from pytest_reflex.verdict.figures import plain, shown_score
from pytest_reflex.verdict.gate import GateStatus, Judged, gate_over

SUITE_SUFFIXES = (".reflex.yaml", ".reflex.yml")


class CriteriaGate:
    """Criteria whose gate has to be passed by every artifact, or a suite that names its own."""

    def __init__(self, gate: Gate, project: Path, registry: Registry) -> None:
        from pytest_reflex.checks.run import compile_checks
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
        self.relied = relied_on(
            gate,
            commands_in(self._criteria, registry),
            project=project,
            environment=inherited(),
            files=files,
            judged=gate.artifacts or self._judged_by_suite(),
        )

    def _judged_by_suite(self) -> list[str]:
        """Return patterns of what a suite judges now; nothing of it need be there yet."""
        try:
            paths = [target.artifact for target in self._targets()]
        except ReflexError:
            return []
        return [escaped(os.path.relpath(path, self._project)) for path in paths]

    def __call__(self, attempt: Attempt) -> Verdict:
        from pytest_reflex.checks.run import evaluate

        variables = attempt.variables
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


def _verdict_of(evaluations: list[Evaluation]) -> Verdict:
    from pytest_reflex.reports.terminal import evaluation_text

    output = "\n\n".join(evaluation_text(one, colour=False) for one in evaluations)
    if not any(one.measured for one in evaluations):
        return Verdict(ERROR, "nothing was measured", output)
    gate = gate_over([Judged(evaluation=one) for one in evaluations])
    if gate.passed:
        worst = min(evaluations, key=lambda one: one.score - one.threshold)
        told = f"score {shown_score(worst.score)}, needs {plain(worst.threshold)}"
        if len(evaluations) > 1:
            told = f"all {len(evaluations)} artifacts, {worst.artifact} with {told}"
        return Verdict(PASS, one_line(told, SUMMARY), output)
    outcome = FAIL if gate.status is GateStatus.FAILED else ERROR
    return Verdict(outcome, one_line("; ".join(gate.reasons), SUMMARY), output)


def _level(word: str) -> Level | None:
    if word not in ("", "A", "B"):
        raise UsageError(f"there is no phase {word!r}", hint="A or B")
    return Level(word) if word else None


def _threshold(text: str) -> Fraction | None:
    from pytest_reflex.criteria.header import parse_threshold

    return parse_threshold(text) if text else None
