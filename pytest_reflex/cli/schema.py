"""``pytest-reflex schema``: the JSON Schemas of what the program reads and writes."""

from __future__ import annotations

import textwrap

import click

from pytest_reflex.cli.criteria_look import registry_here
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.errors import ExitCode, UsageError, did_you_mean


@click.command(short_help="Print a JSON Schema, or the names of all.")
@click.argument("name", required=False)
def schema(name: str | None) -> int:
    """Print the JSON Schema NAME; without a name, list them.

    They describe what agents answer (plan, checks, critique), what the program prints, the files
    of a loop, and criteria files with the check types of the plugins that are configured here.
    """
    from pytest_reflex.contracts.validate import names, schema_text
    from pytest_reflex.contracts.validate import schema as read
    from pytest_reflex.criteria.author.schema import NAMES, file_schema

    if name in NAMES:
        give_json(file_schema(name, registry_here()))
        return ExitCode.OK
    if name in names():
        give(schema_text(name))
        return ExitCode.OK
    known = {**{one: read(one)["description"] for one in names()}, **NAMES}
    if name is not None:
        raise UsageError(f"there is no schema {name!r}", hint=did_you_mean(name, known))
    width = max(map(len, known)) + 2
    lines = (f"{one:{width}}{known[one]}" for one in sorted(known))
    give("\n".join(textwrap.fill(line, 80, subsequent_indent=" " * width) for line in lines))
    return ExitCode.OK
