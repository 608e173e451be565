"""``pytest-reflex evaluate``: the verdict on artifacts, without a loop and without pytest."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.streams import give
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.results import Evaluation


@click.command(short_help="Judge artifacts against criteria and print the verdict.")
@click.argument("artifacts", nargs=-1, type=click.Path(path_type=Path))
@click.option("--criteria", metavar="NAME|FILE", help="A template's name or a criteria file.")
@click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B).")
@click.option("--threshold", metavar="F", help="Threshold instead of the criteria's own.")
@click.option("--var", "variables", metavar="K=V", multiple=True, help="Set a variable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--format", "report", metavar="NAME", help="Print with a registered reporter.")
def evaluate(
    artifacts: tuple[Path, ...],
    criteria: str | None,
    phase: str | None,
    threshold: str | None,
    variables: tuple[str, ...],
    as_json: bool,
    report: str | None,
) -> int:
    """Judge ARTIFACTS (files or folders) and print score, gate and what to mend.

    Exit status: 0 passed, 1 gate failed, 4 bad criteria or usage, 5 nothing measured.
    """
    from pytest_reflex.api import make_target
    from pytest_reflex.checks.run import evaluate as judge
    from pytest_reflex.host import open_host
    from pytest_reflex.settings import load

    settings = load(Path.cwd())
    chosen = criteria or settings["loop.template"]
    if not artifacts:
        raise UsageError(
            "no artifact was named", hint="pytest-reflex evaluate FILE --criteria NAME"
        )
    if not chosen:
        raise UsageError("no criteria were named", hint=_templates_hint())
    host = open_host(settings["plugins"], Path.cwd())
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
        for artifact in artifacts
    ]
    evaluations = [judge(target, host.registry) for target in targets]
    name = "json" if as_json else report
    if name is None:
        _print_for_people(evaluations)
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


def parse_variables(pairs: Iterable[str]) -> dict[str, Any]:
    """Read K=V pairs; the criteria say of what kind each is."""
    from pytest_reflex.criteria.values import parse_variable

    return dict(parse_variable(pair) for pair in pairs)


def _print_for_people(evaluations: list[Evaluation]) -> None:
    from pytest_reflex.cli.narrator import wrapped
    from pytest_reflex.reports.terminal import evaluation_text
    from pytest_reflex.verdict.gate import Judged, gate_over

    colour = sys.stdout.isatty()
    give("\n\n".join(evaluation_text(one, colour=colour) for one in evaluations) + "\n")
    if len(evaluations) > 1:
        gate = gate_over([Judged(evaluation=one) for one in evaluations])
        reasons = f": {'; '.join(gate.reasons)}" if gate.reasons else ""
        give(wrapped(f"\nGATE        {gate.status.value.upper()}{reasons}", indent=12))


def _templates_hint() -> str:
    from pytest_reflex.criteria.templates import stock_names

    return "--criteria FILE, or one of: " + ", ".join(stock_names())
