"""``pytest-reflex config`` and ``schema``: the settings in force, and the JSON Schemas of all
files.
"""

from __future__ import annotations

import json
import textwrap

import click

from pytest_reflex.cli.criteria_look import registry_here
from pytest_reflex.cli.options import json_option, load_settings, secrets_of
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.errors import ExitCode, UsageError, did_you_mean


@click.command(short_help="Show the settings in force and where each came from.")
@click.argument("key", required=False)
@json_option
def config(key: str | None, as_json: bool) -> int:
    """Show every setting, or those of KEY ("loop.budget"), with the tier and file it came from.

    Secrets are shown by name only.
    """
    from pytest_reflex.model.plain import escape_control
    from pytest_reflex.process.environment import redact
    from pytest_reflex.settings.resolve import rows, rows_of

    settings = load_settings()
    found = rows_of(settings, key) if key else rows(settings)
    hidden = secrets_of(settings)
    documents = [json.loads(redact(json.dumps(row.to_json()), hidden)) for row in found]
    if as_json:
        give_json(documents)
        return 0
    for one in documents:
        value = json.dumps(one["value"], ensure_ascii=False)
        give(escape_control(f"{one['key']} = {value}  ({one['tier']}{_file(one['file'])})"))
    return 0


def _file(path: str | None) -> str:
    return f": {path}" if path else ""


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
