"""``pytest-reflex config``: the settings in force, and where each came from."""

from __future__ import annotations

import json

import click

from pytest_reflex.cli.configured import configured, hidden_in
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json


@click.command(short_help="Show the settings in force and where each came from.")
@click.argument("key", required=False)
@json_option
def config(key: str | None, as_json: bool) -> int:
    """Show every setting, or those of KEY ("loop.budget"), with the tier and file it came from.

    Secrets are shown by name only.
    """
    from pytest_reflex.model.plain import visible
    from pytest_reflex.process.secrecy import hide
    from pytest_reflex.settings.listing import rows, rows_of

    settings = configured()
    found = rows_of(settings, key) if key else rows(settings)
    hidden = hidden_in(settings)
    documents = [json.loads(hide(json.dumps(row.to_json()), hidden)) for row in found]
    if as_json:
        give_json(documents)
        return 0
    for one in documents:
        value = json.dumps(one["value"], ensure_ascii=False)
        give(visible(f"{one['key']} = {value}  ({one['tier']}{_file(one['file'])})"))
    return 0


def _file(path: str | None) -> str:
    return f": {path}" if path else ""
