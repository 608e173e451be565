"""``pytest-reflex flow setup``: a flow to start from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.streams import give, say
from pytest_reflex.errors import ExitCode

_COUNT = click.IntRange(min=1, max=10**6)


@click.command("setup", short_help="Write a flow and its agent files.")
@click.option("--from", "source", metavar="NAME", help="The flow to start from: red-to-green.")
@click.option("--command", metavar="COMMAND", help="What measures: exit status 0 means passed.")
@click.option(
    "-n", "--max-iterations", type=_COUNT, metavar="N", help="Iterations of the outer loop."
)
@click.option("--inner-iterations", type=_COUNT, metavar="N", help="Iterations of the inner loop.")
def setup(
    source: str | None,
    command: str | None,
    max_iterations: int | None,
    inner_iterations: int | None,
) -> int:
    """Write .ai-loop/flow.yaml, its JSON Schema, and agent files into .claude/agents.

    A terminal is asked for what no option says. A file that is there is kept, and named.

    Flows: red-to-green (an inner loop turns red tests green, the outer one measures again and
    finishes), single-loop.
    """
    from pytest_reflex.drivers.flow.read import read_flow
    from pytest_reflex.drivers.flow.setup import (
        COMMAND,
        DEFAULT,
        FLOW_FILE,
        Choices,
        files_of,
        has_inner,
        templates,
        write,
    )

    name = _asked(source, "Flow to start from", DEFAULT, click.Choice(list(templates())))
    files_of(name, Choices())  # an unknown name is refused before more is asked
    given: dict[str, Any] = {
        "command": _asked(command, "Command that measures", COMMAND, str),
        "max_iterations": _asked(max_iterations, "Iterations at most", 3, _COUNT),
    }
    if has_inner(name):
        given["inner_iterations"] = _asked(inner_iterations, "Those of the inner loop", 5, _COUNT)
    project = Path.cwd()
    for path, is_new in write(project, files_of(name, Choices(**given))):
        give(f"{'wrote' if is_new else 'kept '} {path}")
    read_flow(project / FLOW_FILE, project)
    if not _has_agent(project):
        say("No agent is named yet: set `agent` in pytest-reflex.toml to one that may edit files")
    say("Next: pytest-reflex flow run 'what is to be done'")
    return ExitCode.OK


def _asked(given: Any, question: str, default: Any, kind: Any) -> Any:
    """Return what an option says; else ask a terminal; else the default."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        return default
    return click.prompt(question, default=default, type=kind, err=True)


def _has_agent(project: Path) -> bool:
    from pytest_reflex.drivers.common.arguments import settings_of

    settings = settings_of(project)
    return settings["agent"] != "offline" or bool(settings["flow.agents"])
