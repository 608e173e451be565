"""The checks of rules, each compiled once: what judges, and all that others know of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import CheckCommand, CompiledCheck
from pytest_reflex.model.words import ACTIVE_LEVELS, Level

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

Key = tuple[str, int]
"""The id of a rule and the number of a check in it, from 0."""


def compile_rules(
    rules: Iterable[Rule], variables: Mapping[str, Any], registry: Registry
) -> dict[Key, CompiledCheck]:
    """Return the checks of rules, in their order.

    Raises CriteriaError with every check that cannot be compiled, each with its rule and place.
    """
    compiled: dict[Key, CompiledCheck] = {}
    problems: list[Problem] = []
    for rule in rules:
        for index, spec in enumerate(rule.checks):
            try:
                compiled[rule.id, index] = registry.compile(spec, variables)
            except CriteriaError as error:
                problems += (_of_rule(problem, rule, spec) for problem in error.problems)
    if problems:
        raise CriteriaError(problems)
    return compiled


def _of_rule(problem: Problem, rule: Rule, spec: CheckSpec) -> Problem:
    place = problem.place or spec.place or rule.place
    return replace(problem, rule_id=problem.rule_id or rule.id, place=place)


def compile_checks(
    criteria: Criteria, level: Level, registry: Registry
) -> dict[Key, CompiledCheck]:
    """Return the checks of the rules that are active at `level`, in their order.

    The others are compiled too, so that a mistake in them does not wait for its day: raises
    CriteriaError as `compile_rules` does.
    """
    compiled = compile_rules(criteria.rules, criteria.vars, registry)
    levels = ACTIVE_LEVELS[level]
    if all(rule.level in levels for rule in criteria.rules):
        return compiled
    active = {rule.id for rule in criteria.active(level)}
    return {key: check for key, check in compiled.items() if key[0] in active}


def compile_rule(
    rule: Rule, variables: Mapping[str, Any], registry: Registry
) -> tuple[CompiledCheck, ...]:
    """Return the checks of one rule; raises CriteriaError as `compile_rules` does."""
    return tuple(compile_rules((rule,), variables, registry).values())


def compile_all(criteria: Criteria, registry: Registry) -> tuple[CompiledCheck, ...]:
    """Return the checks of all rules; raises CriteriaError as `compile_rules` does."""
    return tuple(compile_rules(criteria.rules, criteria.vars, registry).values())


def commands_of(checks: Iterable[CompiledCheck]) -> Iterator[CheckCommand]:
    """Yield what checks start."""
    for check in checks:
        yield from check.commands


def describe(spec: CheckSpec, variables: Mapping[str, Any], registry: Registry) -> CompiledCheck:
    """Return a check for what it says of itself only: also one that cannot be compiled here."""
    try:
        return registry.compile(spec, variables)
    except CriteriaError:
        return CompiledCheck(spec, _not_compiled)


def _not_compiled(*_: object) -> Any:
    raise CriteriaError("this check cannot be compiled")
