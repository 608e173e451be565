"""The checks of a criteria as functions, made once before anything is judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_reflex.criteria.faults import in_order
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.rules import CheckSpec, Criteria
from pytest_reflex.model.targets import RunCheck
from pytest_reflex.model.words import Level

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


def compile_checks(
    criteria: Criteria, level: Level, registry: Registry
) -> dict[tuple[str, int], RunCheck]:
    """Return (rule id, number of the check) to the function that judges, for a level's rules.

    Raises CriteriaError with every check that cannot be compiled, each at its place.
    """
    compiled: dict[tuple[str, int], RunCheck] = {}
    problems: list[Problem] = []
    for rule in criteria.active(level):
        for number, spec in enumerate(rule.checks):
            try:
                check_type = registry.get(spec.type)
                compiled[rule.id, number] = check_type.compile(spec, criteria.vars)
            except CriteriaError as error:
                problems += [_located(problem, rule.id, spec) for problem in error.problems]
    if problems:
        raise CriteriaError(in_order(problems))
    return compiled


def _located(problem: Problem, rule_id: str, spec: CheckSpec) -> Problem:
    return replace(
        problem,
        place=problem.place or spec.place,
        rule_id=problem.rule_id or rule_id,
    )
