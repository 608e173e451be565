"""``pytest-reflex refine``: an artifact after safe fixes and, for what remains, its agent."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from pytest_reflex.cli.alone import at_level, open_alone, step_options
from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.given import GivenPath
from pytest_reflex.cli.streams import give_artifact, give_json, is_coloured, say
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.loops.single import Alone, criticise
from pytest_reflex.loops.single import refine as mend
from pytest_reflex.model.single import Critique, Refinement


@click.command(short_help="Mend an artifact: safe fixes, then the agent for what remains.")
@step_options
@click.option(
    "--issues",
    metavar="FILE|-",
    help="What `critique --json` printed (default: evaluate and criticise).",
)
@click.option("--output", type=GivenPath(), help="Write the result to this file.")
@click.option("--in-place", is_flag=True, help="Write the result over the artifact.")
def refine(
    artifact: Path,
    criteria: str | None,
    template: str | None,
    variables: tuple[str, ...],
    phase: str | None,
    agents: tuple[str, ...],
    issues: str | None,
    output: Path | None,
    in_place: bool,
    as_json: bool,
) -> int:
    """Mend ARTIFACT (a file) and print it, or write it where --output or --in-place says.

    Safe fixes of the criticised rules are applied first; the agent is asked for what remains. The
    result is not judged: evaluate it.

    Exit status: 0 done, 4 bad criteria or usage, 9 the agent gave no artifact.
    """
    from pytest_reflex.cli.handed_over import issues_for, read_object
    from pytest_reflex.loops.result import unusable

    if in_place and output:
        raise UsageError("--in-place and --output exclude each other", hint="name one of them")
    target = artifact if in_place else output
    if target and (why := unusable(target, Path.cwd() / configured({})["loop.root"])):
        raise UsageError(f"no result can be written to {target}: {why}")
    alone, evaluate = open_alone(
        artifact,
        criteria=criteria,
        template=template,
        phase=phase,
        variables=variables,
        agents=agents,
    )
    if issues:
        asked = Critique(issues=issues_for(alone, read_object(issues, "--issues")))
    else:
        judged = evaluate()
        alone = at_level(alone, judged)
        asked = criticise(alone, judged)
    done = mend(alone, asked.issues)
    done = replace(done, costs=asked.costs + done.costs)
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
    """Write the result; a file that somebody changed in the meantime is left as it is."""
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.store.atomic import replace_file

    real = target.resolve()
    own = real == alone.artifact.path.resolve()
    if own and read_artifact(target).sha256 != alone.artifact.sha256:
        raise UsageError(
            f"{target} was changed while it was refined: it is left as it is", hint="start again"
        )
    if not own or done.text != alone.artifact.raw_text:
        replace_file(real, done.text.encode("utf-8"), mode=0o644)
