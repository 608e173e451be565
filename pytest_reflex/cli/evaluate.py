"""``pytest-reflex evaluate``: the verdict on artifacts, without a loop and without pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.criteria_option import (
    chosen_criteria,
    criteria_options,
    judge_option,
    parse_variables,
)
from pytest_reflex.cli.streams import give, is_coloured, say
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import visible
from pytest_reflex.model.results import Evaluation


@click.command(short_help="Judge artifacts against criteria and print the verdict.")
@click.argument("artifacts", nargs=-1, type=click.Path(path_type=Path))
@criteria_options
@click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B).")
@click.option("--threshold", metavar="F", help="Threshold instead of the criteria's own.")
@judge_option
@click.option("-v", "--verbose", is_flag=True, help="Show the rules that passed, and evidence.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--format", "report", metavar="NAME", help="Print with a registered reporter.")
def evaluate(
    artifacts: tuple[Path, ...],
    criteria: str | None,
    template: str | None,
    variables: tuple[str, ...],
    phase: str | None,
    threshold: str | None,
    judge: str | None,
    verbose: bool,
    as_json: bool,
    report: str | None,
) -> int:
    """Judge ARTIFACTS (files or folders) and print score, gate and what to mend.

    Exit status: 0 passed, 1 gate failed, 4 bad criteria or usage, 5 nothing measured.
    """
    from pytest_reflex.api import make_target
    from pytest_reflex.checks.run import evaluate as run_checks
    from pytest_reflex.host import employ_judge, open_host

    settings = configured({"judge": judge})
    if not artifacts:
        raise UsageError(
            "no artifact was named", hint="pytest-reflex evaluate FILE --criteria NAME"
        )
    chosen = chosen_criteria(criteria, template, settings)
    host = open_host(settings["plugins"], Path.cwd())
    employ_judge(host, settings)
    targets = [
        make_target(
            artifact,
            chosen,
            registry=host.registry,
            phase=phase,
            threshold=threshold,
            variables=parse_variables(variables),
            root=Path.cwd(),
        )
        for artifact in _each_once(artifacts)
    ]
    evaluations = [run_checks(target, host.registry) for target in targets]
    name = "json" if as_json else report
    if name is None:
        _print_for_people(evaluations, verbose=verbose)
    elif name in host.reporters:
        give(host.reporters[name](evaluations))
    else:
        raise UsageError(f"no reporter named {name!r}", hint="known: " + ", ".join(host.reporters))
    return status_of(evaluations)


def status_of(evaluations: Iterable[Evaluation]) -> int:
    """Return the exit status of some evaluations: all must pass."""
    found = list(evaluations)
    if not any(evaluation.measured for evaluation in found):
        return ExitCode.NOTHING_MEASURED
    return ExitCode.OK if all(e.passed for e in found) else ExitCode.GATE_FAILED


def _each_once(artifacts: Iterable[Path]) -> list[Path]:
    """Return the artifacts without those that were named before, which is told."""
    found: dict[str, Path] = {}
    for path in artifacts:
        first = found.setdefault(os.path.realpath(path), path)
        if first is not path:
            also = "" if path == first else f" (also as {visible(str(path))})"
            say(f"{visible(str(first))} was named twice{also}: it is judged once")
    return list(found.values())


def _print_for_people(evaluations: list[Evaluation], *, verbose: bool) -> None:
    from pytest_reflex.cli.narrator import wrapped
    from pytest_reflex.reports.terminal import evaluation_text
    from pytest_reflex.verdict.gate import Judged, gate_over

    colour = is_coloured(sys.stdout)
    texts = [evaluation_text(one, colour=colour, verbose=verbose) for one in evaluations]
    give("\n\n".join(texts) + "\n")
    if len(evaluations) > 1:
        gate = gate_over([Judged(evaluation=one) for one in evaluations])
        reasons = f": {'; '.join(gate.reasons)}" if gate.reasons else ""
        give(wrapped(f"\nGATE        {gate.status.value.upper()}{reasons}", indent=12))
