"""``pytest-reflex criteria test``: rules against their own samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.criteria_look import registry_here, rule_called, traced, variables_option
from pytest_reflex.cli.options import json_option, judge_option
from pytest_reflex.cli.streams import give, give_json, verdict
from pytest_reflex.errors import ExitCode

if TYPE_CHECKING:
    from pytest_reflex.criteria.author.samples import RuleTried
    from pytest_reflex.model.rules import Criteria, Rule


@click.command(short_help="Try rules on their good and bad samples.")
@click.argument("reference", metavar="NAME|FILE")
@click.argument("rule_ids", metavar="[RULE]...", nargs=-1)
@variables_option
@click.option("--strict", is_flag=True, help="A rule without good or bad samples fails too.")
@judge_option
@json_option
def test(
    reference: str,
    rule_ids: tuple[str, ...],
    variables: tuple[str, ...],
    strict: bool,
    judge: str | None,
    as_json: bool,
) -> int:
    """Judge the samples of the rules of NAME|FILE, or of each RULE that is named.

    A good sample that passes is validated, a bad one that fails is reported. Noisy is a good
    sample that fails, missing a bad one that passes, unclear one that could not be judged, not
    applicable one for which `when` of the rule does not hold. Rules that an agent judges are not
    asked about, unless --judge names it.

    Exit status: 0 all as it should be, 1 not, 4 bad criteria or usage.
    """
    from pytest_reflex.criteria.author.samples import BROKEN, MEANING, Verdict, try_samples
    from pytest_reflex.reports.samples import samples_text

    registry = registry_here(judge)
    criteria = traced(reference, variables, registry).criteria
    tried = list(try_samples(criteria, _chosen(criteria, rule_ids), registry, Path.cwd()))
    unasked = [one for one in tried if one.verdict is Verdict.NOT_ASKED]
    lacking = [one for one in tried if not (one.count("good") and one.count("bad"))]
    uninstalled = _uninstalled(tried)
    open_yet = lacking or unasked or uninstalled
    fine = not any(one.verdict in BROKEN for one in tried) and not (strict and open_yet)
    status = ExitCode.OK if fine else ExitCode.GATE_FAILED
    with verdict(status):
        if as_json:
            rules = [one.to_json() for one in tried]
            give_json({"criteria": criteria.name, "passed": fine, "rules": rules})
            return status
        give(samples_text(tried))
        if strict and lacking:
            give(f"strict: a good or a bad sample is wanting: {_listed([o.rule for o in lacking])}")
        if unasked:
            told = MEANING[Verdict.NOT_ASKED]
            give(f"not asked: {_listed([one.rule for one in unasked])}: {told}")
        for line in uninstalled:
            give(line)
    return status


def _uninstalled(tried: Sequence[RuleTried]) -> list[str]:
    """Return a line for each thing that is not installed and keeps rules from being tried."""
    from pytest_reflex.criteria.author.samples import Verdict
    from pytest_reflex.model.extras import install

    rules: dict[str, list[Rule]] = {}
    for one in tried:
        for name in sorted({s.needs for s in one.samples if s.verdict is Verdict.NOT_MEASURED}):
            rules.setdefault(name, []).append(one.rule)
    return [
        f"not measured: {_listed(found)}: {name} is not installed: {install(name)}"
        for name, found in rules.items()
    ]


def _chosen(criteria: Criteria, rule_ids: Sequence[str]) -> list[Rule]:
    """Return the named rules, all where none is named; raises UsageError for an unknown one."""
    named = [rule_called(rule_id, criteria) for rule_id in dict.fromkeys(rule_ids)]
    return named or list(criteria.rules)


def _listed(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.id for rule in rules)
