"""``pytest-reflex refine``: an artifact after safe fixes and, for what remains, its agent."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from pytest_reflex.cli.alone import at_level, open_alone, write_back
from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.one_artifact import Asked, step_options
from pytest_reflex.cli.parsing import GivenPath
from pytest_reflex.cli.streams import give_artifact, give_json, is_coloured, say
from pytest_reflex.drivers.reflex.single import Alone, criticise
from pytest_reflex.drivers.reflex.single import refine as mend
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.single import Critique, Refinement


@click.command(short_help="Fix an artifact: safe fixes, then the agent for what remains.")
@step_options
@click.option(
    "--issues",
    metavar="FILE|-",
    help="What `critique --json` printed (default: evaluate and criticise).",
)
@click.option("--output", type=GivenPath(), help="Write the result to this file.")
@click.option("--in-place", is_flag=True, help="Write the result over the artifact.")
def refine(
    asked: Asked,
    issues: str | None,
    output: Path | None,
    in_place: bool,
    as_json: bool,
) -> int:
    """Fix ARTIFACT (a file) and print it, or write it where --output or --in-place says.

    Safe fixes of the criticised rules are applied first; the agent is asked for what remains. The
    result is not judged: evaluate it.

    Exit status: 0 done, 4 bad criteria or usage, 9 the agent gave no artifact.
    """
    from pytest_reflex.cli.single_steps import issues_for, read_object
    from pytest_reflex.drivers.reflex.named_files import unusable

    if in_place and output:
        raise UsageError("--in-place and --output exclude each other", hint="name one of them")
    target = asked.artifact if in_place else output
    if target and (why := unusable(target, Path.cwd() / configured({})["loop.root"])):
        raise UsageError(f"no result can be written to {target}: {why}")
    alone, evaluate = open_alone(asked)
    if issues:
        critique = Critique(issues=issues_for(alone, read_object(issues, "--issues")))
    else:
        judged = evaluate()
        alone = at_level(alone, judged)
        critique = criticise(alone, judged)
    done = mend(alone, critique.issues)
    done = replace(done, costs=critique.costs + done.costs)
    _deliver(alone, done, target, as_json=as_json)
    return ExitCode.OK


def _deliver(alone: Alone, done: Refinement, target: Path | None, *, as_json: bool) -> None:
    """Write or print the text, and say what was done to it."""
    from pytest_reflex.reports.single import refinement_document, refinement_text

    if target:
        _write(alone, done, target)
    if as_json:
        give_json(refinement_document(alone.artifact, done, target))
        return
    say(refinement_text(alone.artifact, done, target, colour=is_coloured(sys.stderr)))
    if not target:
        give_artifact(done.text)


def _write(alone: Alone, done: Refinement, target: Path) -> None:
    from pytest_reflex.storage.atomic import replace_file

    real = target.resolve()
    if real == alone.artifact.path.resolve():
        write_back(alone.artifact, done.text, meanwhile="refined")
    else:
        replace_file(real, done.text.encode("utf-8"), mode=0o644)
