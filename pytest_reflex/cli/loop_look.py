"""``pytest-reflex loop status``: the verbs that look at runs and write nothing."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.errors import ExitCode


@click.command(short_help="Show where a loop stands.")
@click.argument("alias", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print run.json as the history has it.")
def status(alias: str | None, as_json: bool) -> int:
    """Show the loop ALIAS (default: the one that runs, else the newest)."""
    from pytest_reflex.loops.overview import find_run, status_text
    from pytest_reflex.loops.runjson import run_json

    settings = configured({})
    run = find_run(Path.cwd() / settings["loop.root"], alias)
    if as_json:
        give_json(run_json(run.state))
    else:
        give(status_text(run))
    return ExitCode.OK
