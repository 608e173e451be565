"""The checks of a level as functions, compiled before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_reflex.checks.commands import starts_process
from pytest_reflex.checks.registry import Registry
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.judged import Ballot
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import CheckContext, RunCheck
from pytest_reflex.model.words import ACTIVE_LEVELS, Level
from pytest_reflex.process.secrecy import hide, hide_ends, own_secrets


def discreet(run: RunCheck, known: Mapping[str, str] | None = None) -> RunCheck:
    """Return a check whose result names secret variables where it held their values.

    `known` are the secrets; where they are not given, those of the moment when it has run.
    """

    def hiding(artifact: Artifact, context: CheckContext) -> CheckResult:
        result = run(artifact, context)
        if not isinstance(result, CheckResult):  # whoever calls it says so
            return result
        hidden = own_secrets() if known is None else known
        return replace(
            result,
            message=hide_ends(hide(result.message, hidden), hidden),
            evidence=hide_ends(hide(result.evidence, hidden), hidden),
            expected=hide(result.expected, hidden),
            notes=tuple(hide(note, hidden) for note in result.notes),
            ballots=tuple(_hidden(ballot, hidden) for ballot in result.ballots),
        )

    return hiding


def _hidden(ballot: Ballot, hidden: Mapping[str, str]) -> Ballot:
    votes = (
        replace(
            vote,
            reasons=tuple(hide(reason, hidden) for reason in vote.reasons),
            error=hide(vote.error, hidden),
        )
        for vote in ballot.votes
    )
    return replace(ballot, votes=tuple(votes))


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
