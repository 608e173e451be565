"""Measurements by criteria, evaluated as everywhere, and by one question to an agent.

Promises: what breaks the contract, and what an agent says that failed, is an error and no pass;
nothing in the question is an answer.
Limits: it is not checked whether the evidence is true.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pytest_reflex.agents.judge import ask_for
from pytest_reflex.agents.prompts import boundary
from pytest_reflex.checks.registry import Registry, compile_all
from pytest_reflex.contracts.validate import find_json, problems
from pytest_reflex.drivers.common.judging_files import commands_in
from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    Measurement,
    MeasurementStatus,
    failure,
)
from pytest_reflex.errors import ReflexError, UsageError, did_you_mean
from pytest_reflex.model.enums import Level
from pytest_reflex.model.judged import Ruling
from pytest_reflex.model.plain import escape_control, one_line
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria, cannot_fail
from pytest_reflex.model.run import cost_of, total_cost
from pytest_reflex.model.steps import Askable, Question, Reply
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.formatting import format_score, plain
from pytest_reflex.verdict.gate import GateStatus, JudgedTarget, gate_over

_PROMPT = """\
You measure one thing and change nothing. Look at what is there; do not guess, and do not rely on
what somebody says about it.

Case number: {case}

## What to measure

{question}

## Your answer

One JSON object and nothing else, with these keys in this order:

1. "case": the case number above, a string.
2. "evidence": a list of 1 to 20 short strings. Each says what you found, and where.
3. "value": the number that you measured, null where there is none.
4. "unit": the unit of the value, a string; empty where it has none.
5. "status": one string, passed, failed or not_measured. It follows from the evidence.

Say not_measured where you could not find out. When in doubt, do not say passed."""
_REFUSED = """

## Your last answer was refused

Reason: {refusal}
Answer again, in the required form."""


class AgentMeasure:
    """An agent that is asked a question; `unit` is that of the value where it has to be that one.

    Raises UsageError for a question that is empty.
    """

    def __init__(self, agent: Askable, question: str, *, unit: str = "") -> None:
        if not question.strip():
            raise UsageError("the question for the agent is empty")
        self._agent, self._question, self._unit = agent, question.strip(), unit

    def prompt(self, refusal: str = "") -> str:
        """Return what the agent is asked; `refusal` says why its last answer was refused."""
        question = self._question
        if self._unit:
            question += f"\n\nThe unit of the value is {self._unit}."
        prompt = _PROMPT.format(case=self._case(refusal), question=question)
        refused = _REFUSED.format(refusal=refusal) if refusal else ""
        return f"{prompt}{refused}\n"

    def __call__(self, attempt: Attempt) -> Measurement:
        under_way: list[int] = []

        def question(refusal: str) -> Question:
            if attempt.calls is not None:
                under_way.append(attempt.calls.begin())
            return Question(
                prompt=self.prompt(refusal),
                environment=attempt.variables,
                cancel=attempt.cancel,
            )

        def end_call(question: Question, reply: Reply) -> None:
            if attempt.calls is not None:
                attempt.calls.end(under_way.pop(), cost_of(reply))

        found = ask_for(self._agent, question, self._read, end_call)
        if found.value is None:
            return failure(f"agent {self._agent.name}: {found.error}").with_cost(found.cost)
        return _agent_measurement(found.value).with_cost(found.cost)

    def _case(self, refusal: str) -> str:
        """Return the number that an answer has to name; no text in the question is it."""
        return boundary("\0".join((self._question, self._unit, refusal)))

    def _read(self, text: str, refusal: str) -> Mapping[str, Any]:
        case = self._case(refusal)

        def faults(value: Any) -> list[str]:
            return list(problems("measurement", value)) or self._faults(value, case)

        answer: Mapping[str, Any] = find_json(text, faults, alone=True)
        return answer

    def _faults(self, answer: Mapping[str, Any], case: str) -> list[str]:
        found = []
        if answer["case"] != case:
            found.append("/case: is not the number of this case")
        if answer["value"] is not None and not math.isfinite(answer["value"]):
            found.append("/value: is not a finite number")
        unit = answer.get("unit", "")
        if self._unit and answer["value"] is not None and unit != self._unit:
            found.append(f"/unit: is {unit!r}, not {self._unit!r}")
        return found


def _agent_measurement(answer: Mapping[str, Any]) -> Measurement:
    value, evidence = answer["value"], answer["evidence"]
    return Measurement(
        status=MeasurementStatus(answer["status"]),
        summary=one_line(evidence[0], SUMMARY),
        value=None if value is None else Fraction(str(value)),
        unit="" if value is None else one_line(answer.get("unit", ""), 40),
        evidence="\n".join(escape_control(" ".join(one.split())) for one in evidence),
    )


SUITE_SUFFIXES = (".reflex.yaml", ".reflex.yml")


class CriteriaMeasure:
    """Criteria whose gate has to be passed by every artifact, or a suite that names its own.

    `criteria` is a name or a path; `artifacts` are patterns, matched each time anew; `phase` and
    `threshold` are those of the criteria where they are empty; with `rule` that rule alone has to
    pass. The value is the lowest score, by its distance from the threshold. Criteria are read
    once, here: raises ReflexError where they cannot be read or cannot fail, and where there is
    nothing to judge.
    """

    def __init__(
        self,
        criteria: str,
        artifacts: Sequence[str] = (),
        *,
        project: Path,
        registry: Registry,
        phase: str = "",
        threshold: str = "",
        rule: str = "",
    ) -> None:
        from pytest_reflex.criteria.load import VACUITY_HINT, read_criteria, vacuity
        from pytest_reflex.criteria.suite import default_level

        self._project, self._registry, self._artifacts = project, registry, tuple(artifacts)
        is_suite = criteria.endswith(SUITE_SUFFIXES) and not artifacts
        if not artifacts and not is_suite:
            raise UsageError("its criteria have nothing to check", hint='artifacts = ["README.md"]')
        self._suite = project / criteria if is_suite else None
        self._level, self._threshold = _level(phase), _threshold(threshold)
        self._criteria, self.files = read_criteria(criteria, registry=registry, relative_to=project)
        if rule:
            self._criteria = _only(self._criteria, rule)
            self._threshold = Fraction(1)
        self._rule = rule
        level = self._level or default_level(self._criteria)
        rules = self._criteria.active(level)
        if not rules:
            raise UsageError(f"{self._criteria.name} has no rules in phase {level}")
        if self._threshold is not None and cannot_fail(rules, self._threshold):
            raise UsageError(vacuity(rules, level), hint=VACUITY_HINT)
        self.commands = commands_in(self._criteria, compile_all(self._criteria, registry))

    def find_artifacts(self) -> list[Path]:
        """Return the artifacts that are there now; none need be."""
        try:
            return [target.artifact for target in self._targets()]
        except ReflexError:
            return []

    def __call__(self, attempt: Attempt) -> Measurement:
        from pytest_reflex.checks.run import evaluate

        return _measurement_of(
            [
                evaluate(_with(target, attempt), self._registry, cancel=attempt.cancel)
                for target in self._targets()
            ]
        )

    def _targets(self) -> list[Target]:
        from pytest_reflex.criteria.suite import load_suite, make_target

        root, level = self._project, self._level
        if self._suite is not None:
            suite = load_suite(self._suite, registry=self._registry, root=root)
            if self._rule:
                suite = tuple(replace(one, criteria=self._criteria) for one in suite)
            return [
                replace(one, level=level or one.level, threshold=self._threshold) for one in suite
            ]
        targets = []
        for label, path in _match_patterns(self._artifacts, root).items():
            target = make_target(
                self._criteria, path, level=level, threshold=self._threshold, root=root
            )
            targets.append(replace(target, label=label))
        return targets


def _only(criteria: Criteria, rule: str) -> Criteria:
    """Return criteria with one rule; raises UsageError where they have none of that id."""
    rules = tuple(one for one in criteria.rules if one.id == rule)
    if not rules:
        known = did_you_mean(rule, (one.id for one in criteria.rules))
        raise UsageError(f"{criteria.name} has no rule {one_line(rule)!r}", hint=known)
    return replace(criteria, rules=rules)


def _with(target: Target, attempt: Attempt) -> Target:
    found = replace(target, environment={**target.environment, **attempt.variables})
    if attempt.calls is None:
        return found
    votes = attempt.calls.votes()
    return replace(found, asked=votes.begin_vote, heard=votes.end_vote)


def _match_patterns(patterns: Sequence[str], project: Path) -> dict[str, Path]:
    """Return what patterns match now, by its path seen from the project."""
    from pytest_reflex.criteria.suite import label_of, match_artifacts

    found: dict[str, Path] = {}
    for pattern in patterns:
        paths = match_artifacts(pattern, project)
        if not paths:
            raise UsageError(f"{one_line(pattern)!r} matches no artifact in {project}")
        found |= {label_of(path, project): path for path in paths}
    return dict(sorted(found.items()))


def _measurement_of(evaluations: Sequence[Evaluation]) -> Measurement:
    from pytest_reflex.reports.terminal import evaluation_text

    evidence = "\n\n".join(evaluation_text(one, colour=False) for one in evaluations)
    votes = (vote for one in evaluations for ballot in one.ballots for vote in ballot.votes)
    cost = total_cost(vote.cost for vote in votes)
    if not any(one.measured and one.decides for one in evaluations):
        nothing = Measurement(
            status=MeasurementStatus.NOT_MEASURED,
            summary="nothing was measured",
            evidence=evidence,
            limit=_limit(evaluations),
        )
        return nothing.with_cost(cost)
    worst = min(evaluations, key=lambda one: one.score - one.threshold)
    gate = gate_over([JudgedTarget(evaluation=one) for one in evaluations])
    if gate.passed:
        status = MeasurementStatus.PASSED
        text = f"score {format_score(worst.score)}, needs {plain(worst.threshold)}"
        if len(evaluations) > 1:
            text = f"all {len(evaluations)} artifacts, {worst.artifact} with {text}"
    else:
        failed = gate.status is GateStatus.FAILED
        status = MeasurementStatus.FAILED if failed else MeasurementStatus.ERROR
        text = "; ".join(gate.reasons)
    judged = status is not MeasurementStatus.ERROR
    missed = sum(result.unmet for one in evaluations for result in one.results)
    return Measurement(
        status=status,
        summary=one_line(text, SUMMARY),
        value=worst.score if judged else None,
        evidence=evidence,
        cost=cost,
        failures=("rules", missed) if judged else None,
        limit="" if gate.passed else _limit(evaluations),
    )


def _limit(evaluations: Sequence[Evaluation]) -> str:
    """Return the notice of a rate limit that kept a ballot from its verdict, empty for none."""
    from pytest_reflex.verdict.score import ruling_of

    ballots = (ballot for one in evaluations for ballot in one.ballots)
    undecided = (ballot for ballot in ballots if ruling_of(ballot) is Ruling.UNDECIDED)
    votes = (vote for ballot in undecided for vote in ballot.votes)
    return next((f"judge {vote.agent}: {vote.error}" for vote in votes if vote.limited), "")


def _level(word: str) -> Level | None:
    if word not in ("", "A", "B"):
        raise UsageError(f"there is no phase {word!r}", hint="A or B")
    return Level(word) if word else None


def _threshold(text: str) -> Fraction | None:
    from pytest_reflex.criteria.header import parse_threshold

    return parse_threshold(text) if text else None
