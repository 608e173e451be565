"""``pytest-reflex schema``: the JSON Schemas of what the program reads and writes."""

from __future__ import annotations

import textwrap

import click

from pytest_reflex.cli.streams import give
from pytest_reflex.errors import ExitCode


@click.command(short_help="Print a JSON Schema, or the names of all.")
@click.argument("name", required=False)
def schema(name: str | None) -> int:
    """Print the JSON Schema NAME as it is shipped; without a name, list them.

    They describe what agents answer (plan, checks, critique), what the program prints, and the
    files of a loop.
    """
    from pytest_reflex.contracts.schemas import names, schema_text
    from pytest_reflex.contracts.schemas import schema as read

    if name is not None:
        give(schema_text(name))
        return ExitCode.OK
    width = max(map(len, names())) + 2
    lines = (f"{one:{width}}{read(one)['description']}" for one in names())
    give("\n".join(textwrap.fill(line, 80, subsequent_indent=" " * width) for line in lines))
    return ExitCode.OK
