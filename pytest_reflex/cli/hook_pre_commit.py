"""``pytest-reflex hook pre-commit``: files that are about to be committed, held to criteria."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_reflex.cli.criteria_option import chosen_criteria, criteria_options, parse_variables
from pytest_reflex.cli.parsing import ARTIFACT
from pytest_reflex.cli.streams import give
from pytest_reflex.errors import ExitCode


@click.command("pre-commit", short_help="Judge files that are about to be committed.")
@click.argument("files", nargs=-1, type=ARTIFACT)
@criteria_options
@click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B).")
@click.option("--threshold", metavar="F", help="Threshold instead of the criteria's own.")
def pre_commit(
    files: tuple[Path, ...],
    criteria: str | None,
    template: str | None,
    variables: tuple[str, ...],
    phase: str | None,
    threshold: str | None,
) -> int:
    """Judge FILES, which pre-commit names, and print those that do not pass; no agent is asked.

    Exit status: 0 all passed (or no file), 1 one did not, 4 bad criteria or usage, 5 nothing
    measured.
    """
    from pytest_reflex.cli.configured import configured
    from pytest_reflex.cli.evaluate import Judging, status_of
    from pytest_reflex.host import open_host
    from pytest_reflex.reports.terminal import evaluation_text

    settings = configured({})
    chosen = chosen_criteria(criteria, template, settings)
    if not files:
        return ExitCode.OK
    host = open_host(settings["plugins"], Path.cwd())
    judging = Judging(
        artifacts=tuple(dict.fromkeys(files)),
        criteria=chosen,
        registry=host.registry,
        phase=phase,
        threshold=threshold,
        variables=parse_variables(variables),
    )
    evaluations = judging.run()
    status = status_of(evaluations)
    failed = [one for one in evaluations if not one.passed]
    if failed:
        give("\n\n".join(evaluation_text(one, colour=False) for one in failed))
    return status
