"""``pytest-reflex critique``: what to change, as issues, for one artifact and one evaluation."""

from __future__ import annotations

import sys

import click

from pytest_reflex.cli.alone import at_level, open_alone
from pytest_reflex.cli.one_artifact import Asked, step_options
from pytest_reflex.cli.streams import give, give_json, is_coloured
from pytest_reflex.errors import ExitCode


@click.command(short_help="Say what to change in an artifact, as issues.")
@step_options
@click.option(
    "--evaluation", metavar="FILE|-", help="What `evaluate --json` printed (default: evaluate)."
)
def critique(
    asked: Asked,
    evaluation: str | None,
    as_json: bool,
) -> int:
    """Say what to change in ARTIFACT (a file), as at most 5 issues; nothing is changed.

    An evaluation of other bytes than the artifact has now is refused.

    Exit status: 0 done, 4 bad criteria or usage, 9 the agent gave no critique.
    """
    from pytest_reflex.cli.single_steps import evaluation_for, read_object
    from pytest_reflex.drivers.reflex.single import criticise
    from pytest_reflex.reports.single import critique_document, critique_text

    alone, evaluate = open_alone(asked)
    if evaluation:
        judged = evaluation_for(alone, read_object(evaluation, "--evaluation"))
    else:
        judged = evaluate()
    alone = at_level(alone, judged)
    found = criticise(alone, judged)
    if as_json:
        give_json(critique_document(alone.artifact, judged, found))
    else:
        give(critique_text(found, colour=is_coloured(sys.stdout)))
    return ExitCode.OK
