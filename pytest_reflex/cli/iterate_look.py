"""``pytest-reflex iterate list`` and ``info``: what procedures there are; nothing is written."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_reflex.cli.configured import configured, hidden_in
from pytest_reflex.cli.iterate_names import procedure_argument
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.errors import ExitCode


@click.command("list", short_help="List the procedures.")
@json_option
def list_(as_json: bool) -> int:
    """List the built-in procedures and those of the configuration.

    In a pipe it is a line for each, with tabs between its fields. One that cannot be used is listed
    with what is wrong with it.
    """
    from pytest_reflex.drivers.iterate.survey import all_procedures
    from pytest_reflex.reports.procedures import plain_lines, table

    found = all_procedures(configured(), Path.cwd())
    if as_json:
        give_json({"procedures": found})
    else:
        give((table if sys.stdout.isatty() else plain_lines)(found))
    return ExitCode.OK


@click.command(short_help="Show everything about a procedure.")
@procedure_argument()
@json_option
def info(procedure: str, as_json: bool) -> int:
    """Show the phases, bounds, gates and agent of PROCEDURE, and where each was said.

    Secrets are shown by name only. The prompt itself: `iterate run PROCEDURE --dry-run`.
    """
    import json

    from pytest_reflex.drivers.iterate.survey import one_procedure
    from pytest_reflex.host import open_host
    from pytest_reflex.process.secrecy import hide
    from pytest_reflex.reports.procedures import procedure_text

    settings = configured()
    host = open_host(settings["plugins"], Path.cwd())
    found = one_procedure(procedure, settings, host, Path.cwd())
    shown = json.loads(hide(json.dumps(found), hidden_in(settings)))
    if as_json:
        give_json(shown)
    else:
        give(procedure_text(shown))
    return ExitCode.OK
