"""``pytest-reflex criteria new``: a criteria file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.criteria_look import registry_here
from pytest_reflex.cli.parsing import GivenPath
from pytest_reflex.cli.streams import give, say
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


@click.command(short_help="Write a criteria file to start from.")
@click.argument("name", metavar="NAME|FILE")
@click.option("--from-document", "document", metavar="FILE", type=GivenPath())
@click.option("--no-schema", is_flag=True, help="Write no schema, and no line that names it.")
def new(name: str, document: Path | None, no_schema: bool) -> int:
    """Write NAME.yaml, or FILE, which may not exist yet.

    With --from-document the rules are those that FILE meets and would fail without its headings,
    examples, links or values; each is tried before it is written.

    A JSON Schema is written beside it, which editors complete by.
    """
    from pytest_reflex.criteria.header import name_from
    from pytest_reflex.criteria.starting import starter
    from pytest_reflex.criteria.templates import stock_names

    if not name.strip():
        raise UsageError("the name is empty", hint="a name such as service, or FILE.yaml")
    path = Path(name) if name.endswith((".yaml", ".yml")) else Path(f"{name}.yaml")
    if name_from(path.stem) != path.stem:
        hint = f"such as {name_from(path.stem)}"
        raise UsageError(f"{path.stem!r} cannot name criteria", hint=hint)
    if path.exists():
        raise UsageError(f"{visible(str(path))} is there already", hint="take another name")
    registry = registry_here()
    schema = not no_schema
    if document is None:
        text = starter(path.stem, schema=schema)
    else:
        text = _from_document(path.stem, document, registry, schema)
    _write(path, text)
    if schema:
        _write_schema(path.parent, registry)
    give(visible(str(path)))
    if path.stem in stock_names():
        said = f"a stock template is called {path.stem}, too: the name means that one"
        say(f"{said}, this file is {visible(str(path))}")
    say("In CI, let pytest refuse to run without the plugin: required_plugins = pytest-reflex")
    say(f"Next: pytest-reflex criteria test {visible(str(path))}")
    return ExitCode.OK


def _from_document(name: str, document: Path, registry: Registry, schema: bool) -> str:
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.criteria.author.scaffold import propose
    from pytest_reflex.criteria.starting import proposed, prove
    from pytest_reflex.process.temporary import temporary_folder

    text = read_artifact(document).text
    with temporary_folder("reflex-new-") as folder:
        found = list(prove(propose(text), text, registry, Path.cwd(), folder))
    for one in found:
        verdict = f"left out: {one.why_not}" if one.why_not else "proved"
        say(f"{one.proposal.id}: {verdict}")
    if all(one.why_not for one in found):
        hint = "headings, fenced blocks and links of Markdown, or keys of JSON or YAML, make rules"
        raise UsageError(f"{visible(str(document))} gives no rule that could fail", hint=hint)
    return proposed(name, document.name, found, schema=schema)


def _write_schema(folder: Path, registry: Registry) -> None:
    """Write the schema beside the criteria, unless it is there."""
    import json

    from pytest_reflex.criteria.author.schema import file_schema
    from pytest_reflex.criteria.starting import SCHEMA_FILE

    if not (folder / SCHEMA_FILE).exists():
        schema = json.dumps(file_schema("criteria", registry), indent=1)
        _write(folder / SCHEMA_FILE, schema + "\n")


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{visible(str(path))} cannot be written: {error.strerror}") from None
