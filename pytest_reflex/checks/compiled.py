"""The checks of a level as functions, compiled before anything is judged."""

from __future__ import annotations

from dataclasses import replace

from pytest_reflex.checks.commands import starts_process
from pytest_reflex.checks.discreet import discreet
from pytest_reflex.checks.registry import Registry
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import RunCheck
from pytest_reflex.model.words import ACTIVE_LEVELS, Level
from pytest_reflex.process.secrecy import own_secrets

Key = tuple[str, int]
"""The id of a rule and the number of a check in it, from 0."""


def compile_checks(criteria: Criteria, level: Level, registry: Registry) -> dict[Key, RunCheck]:
    """Return the functions that judge, in the order of the rules that are active at `level`.

    The others are compiled too, so that a mistake in them does not wait for its day. Raises
    CriteriaError with every check that cannot be compiled, each with its rule and place.
    """
    compiled: dict[Key, RunCheck] = {}
    problems: list[Problem] = []
    known = own_secrets()
    for rule in criteria.rules:
        for index, spec in enumerate(rule.checks):
            try:
                run = registry.get(spec.type).compile(spec, criteria.vars)
                runs_later = starts_process(spec, criteria.vars, registry)
                run = discreet(run, None if runs_later else known)
                if rule.level in ACTIVE_LEVELS[level]:
                    compiled[rule.id, index] = run
            except CriteriaError as error:
                problems += (
                    replace(
                        problem,
                        rule_id=problem.rule_id or rule.id,
                        place=problem.place or spec.place or rule.place,
                    )
                    for problem in error.problems
                )
    if problems:
        raise CriteriaError(problems)
    return compiled
