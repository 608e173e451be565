"""``pytest-reflex criteria list``, ``show``, ``explain``, ``normalize``, ``compile``: they read and
write nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import json_option, judge_option, load_settings, parse_variables
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.errors import ExitCode, UsageError, did_you_mean

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.criteria.author.catalog import TracedCriteria
    from pytest_reflex.model.rules import Criteria, Rule


variables_option = click.option(
    "--var", "variables", metavar="K=V", multiple=True, help="Set a variable."
)


def criteria_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument for criteria, the option for their variables, and ``--json``."""
    return click.argument("reference", metavar="NAME|FILE")(variables_option(json_option(command)))


def registry_here(judge: str | None = None) -> Registry:
    """Return the kinds of checks of this project, those of its plugins included.

    Only an agent that is named here grades rules.
    """
    from pytest_reflex.host import open_host, register_judge
    from pytest_reflex.model.judged import JudgeWhen

    settings = load_settings()
    host = open_host(settings["plugins"], Path.cwd())
    register_judge(host, settings, judge or "")
    host.registry.judge_when = JudgeWhen.ALWAYS  # each rule is looked at for itself
    return host.registry


def trace_criteria(
    reference: str, variables: tuple[str, ...], registry: Registry
) -> TracedCriteria:
    """Return the criteria that a name or a file means, with where everything was said."""
    from pytest_reflex.criteria.author.catalog import trace

    return trace(reference, registry=registry, variables=parse_variables(variables))


def find_rule(rule_id: str, criteria: Criteria) -> Rule:
    """Return the rule of that id; raises UsageError where there is none."""
    rule = criteria.rule(rule_id)
    if off := next((one for one in criteria.switched_off if one.id == rule_id), None):
        hint = "give it a severity to switch it on"
        raise UsageError(f"a rule is switched off: {off}", hint=hint)
    if rule is None:
        hint = did_you_mean(rule_id, [one.id for one in criteria.rules])
        raise UsageError(f"{criteria.name} has no rule {rule_id!r}", hint=hint)
    return rule


@click.command("list", short_help="List the templates that can be named.")
@json_option
def list_(as_json: bool) -> int:
    """List the stock templates and those of installed packs.

    A template that cannot be read is listed with what is wrong with it.
    """
    from pytest_reflex.criteria.author.catalog import catalog
    from pytest_reflex.reports.criteria import catalog_text

    found = catalog(registry_here())
    if as_json:
        give_json({"templates": [one.to_json() for one in found]})
    else:
        give(catalog_text(found))
    return ExitCode.OK


@click.command(short_help="Show the effective rules, with everything they inherit.")
@criteria_argument
def show(reference: str, variables: tuple[str, ...], as_json: bool) -> int:
    """Show the rules of NAME|FILE after extends, overrides, drop and variables."""
    from pytest_reflex.reports.criteria import rules_text

    criteria = trace_criteria(reference, variables, registry_here()).criteria
    if as_json:
        give_json({**criteria.to_json(), "source": criteria.source})
    else:
        give(rules_text(criteria))
    return ExitCode.OK


@click.command(short_help="Explain one rule.")
@click.argument("reference", metavar="NAME|FILE")
@click.argument("rule_id", metavar="RULE")
@variables_option
@json_option
def explain(reference: str, rule_id: str, variables: tuple[str, ...], as_json: bool) -> int:
    """Say what RULE of NAME|FILE holds, why, how it is checked, and where it was declared."""
    from pytest_reflex.checks.registry import compile_rule
    from pytest_reflex.reports.criteria import rule_json, rule_text

    registry = registry_here()
    found = trace_criteria(reference, variables, registry)
    rule = find_rule(rule_id, found.criteria)
    checks = compile_rule(rule, found.criteria.vars, registry)
    if as_json:
        give_json(rule_json(found, rule, checks))
    else:
        give(rule_text(found, rule, checks))
    return ExitCode.OK


@click.command(short_help="Print the full rules, nothing inherited.")
@criteria_argument
def normalize(reference: str, variables: tuple[str, ...], as_json: bool) -> int:
    """Print NAME|FILE as one file with every key of every rule: run.json's criteria and samples.

    What is printed is a criteria file of the same meaning: YAML, or JSON with --json.
    """
    from pytest_reflex.criteria.author.yaml_writer import to_yaml

    criteria = trace_criteria(reference, variables, registry_here()).criteria
    document = criteria.to_json()
    document.pop("switched_off", None)
    for rule, written in zip(criteria.rules, document["rules"], strict=True):
        if rule.samples:
            written["samples"] = {
                kind: [sample.to_plain() for sample in samples]
                for kind, samples in rule.samples.items()
            }
    if as_json:
        give_json(document)
    else:
        give(to_yaml(document))
    return ExitCode.OK


@click.command("compile", short_help="Show what will run, and run nothing.")
@criteria_argument
@click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B).")
@judge_option
def compile_(
    reference: str,
    variables: tuple[str, ...],
    as_json: bool,
    phase: str | None,
    judge: str | None,
) -> int:
    """Show every check of NAME|FILE as it will run: engine, command line, folder, time-outs."""
    from pytest_reflex.criteria.author.catalog import plan
    from pytest_reflex.criteria.suite import default_level
    from pytest_reflex.model.enums import Level
    from pytest_reflex.reports.criteria import plan_text

    if phase not in (None, "A", "B"):
        raise UsageError(f"there is no phase {phase!r}", hint="A or B")
    registry = registry_here(judge)
    criteria = trace_criteria(reference, variables, registry).criteria
    level = Level(phase) if phase else default_level(criteria)
    found = plan(criteria, level, registry, Path.cwd())
    if as_json:
        give_json(found)
    else:
        give(plan_text(found))
    return ExitCode.OK
