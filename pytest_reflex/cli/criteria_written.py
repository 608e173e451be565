"""``pytest-reflex criteria normalize``, ``compile``: what is meant, and what will run."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_reflex.cli.criteria_look import named, registry_here, traced
from pytest_reflex.cli.options import judge_option
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.errors import ExitCode, UsageError


@click.command(short_help="Print the full rules, nothing inherited.")
@named
def normalize(reference: str, variables: tuple[str, ...], as_json: bool) -> int:
    """Print NAME|FILE as one file with every key of every rule: run.json's criteria and samples.

    What is printed is a criteria file of the same meaning: YAML, or JSON with --json.
    """
    from pytest_reflex.criteria.author.yaml_writer import to_yaml

    criteria = traced(reference, variables, registry_here()).criteria
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
@named
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
    from pytest_reflex.criteria.plan import plan
    from pytest_reflex.criteria.suite import default_level
    from pytest_reflex.model.enums import Level
    from pytest_reflex.reports.criteria import plan_text

    if phase not in (None, "A", "B"):
        raise UsageError(f"there is no phase {phase!r}", hint="A or B")
    registry = registry_here(judge)
    criteria = traced(reference, variables, registry).criteria
    level = Level(phase) if phase else default_level(criteria)
    found = plan(criteria, level, registry, Path.cwd())
    if as_json:
        give_json(found)
    else:
        give(plan_text(found))
    return ExitCode.OK
