"""``pytest-reflex criteria new`` and ``fix``: the verbs that write files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.criteria_look import registry_here
from pytest_reflex.cli.one_artifact import (
    ArtifactOptions,
    open_target,
    read_text_artifact,
    refuse_changes,
    target_options,
    write_back,
)
from pytest_reflex.cli.options import GivenPath, json_option, load_settings
from pytest_reflex.cli.streams import give, give_artifact, give_json, is_coloured, say, verdict
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import escape_control

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.criteria.author.apply_fixes import FixResult, Judge
    from pytest_reflex.drivers.reflex.single import StepContext
    from pytest_reflex.model.artifact import Artifact
    from pytest_reflex.model.results import Evaluation
    from pytest_reflex.model.targets import Target


@click.command(short_help="Apply the fixes that failing rules carry.")
@target_options
@click.option("--unsafe", is_flag=True, help="Apply fixes that are marked as unsafe too.")
@click.option("--diff", "as_diff", is_flag=True, help="Print what would change; write nothing.")
@json_option
def fix(
    asked: ArtifactOptions,
    unsafe: bool,
    as_diff: bool,
    as_json: bool,
) -> int:
    """Fix ARTIFACT (a file) in place by the safe fixes of the rules that fail.

    It is evaluated again after each pass, until no fix changes anything: a second run has nothing
    to do. A fix that does not help, makes another rule block, or lowers the score is left out.
    Whatever no fix touches stays byte for byte. Where ARTIFACT or the criteria are changed
    meanwhile, nothing is written.

    Exit status: 0 the gate is passed, 1 it is not, 4 bad criteria or usage.
    """
    from pytest_reflex.criteria.author.apply_fixes import allow_unsafe, fix_all
    from pytest_reflex.drivers.reflex.named_files import unusable
    from pytest_reflex.drivers.reflex.single import StepContext
    from pytest_reflex.host import register_agents

    settings, artifact = load_settings({}), asked.artifact
    if not as_diff and (why := unusable(artifact, Path.cwd() / settings["loop.root"])):
        raise UsageError(f"no result can be written to {artifact}: {why}")
    host, target = open_target(asked, settings)
    read = read_text_artifact(artifact)
    register_agents(host, settings, ("offline",), judge="")
    held_to = allow_unsafe(target.criteria) if unsafe else target.criteria
    target = replace(target, criteria=held_to)
    alone = StepContext(artifact=read, criteria=held_to, level=target.level, hooks=host.hooks)
    held = refuse_changes(read, held_to, meanwhile="fixed")
    with held, _judge(target, host.registry) as judge:
        done = fix_all(read.raw_text, judge, lambda text, ids: _fix(alone, text, ids))
    written = not as_diff and done.text != read.raw_text
    if written:
        write_back(read, done.text, meanwhile="fixed")
    status = ExitCode.OK if done.after.passed else ExitCode.GATE_FAILED
    with verdict(status):
        _report(read, done, written=written, as_diff=as_diff, as_json=as_json)
    return status


def _fix(
    alone: StepContext, text: str, rule_ids: tuple[str, ...]
) -> tuple[str, tuple[str, ...], Mapping[str, str]]:
    """Take the step REFINE of a loop with the offline agent, which knows fixes and nothing else."""
    from pytest_reflex.drivers.reflex.single import refine

    issues = [{"rule_id": rule_id, "fix_instruction": "its fixes"} for rule_id in rule_ids]
    data = replace(alone.artifact, data=text.encode())
    done = refine(replace(alone, artifact=data), issues)
    return done.text, done.fixed, done.not_fixed


@contextmanager
def _judge(target: Target, registry: Registry) -> Iterator[Judge]:
    """Yield a function that evaluates a text as if it were the artifact, which stays as it is."""
    from pytest_reflex.checks.run import evaluate
    from pytest_reflex.process.guard import temporary_folder

    with temporary_folder("reflex-fix-") as folder:
        base = target.artifact.absolute().parent
        # A file is known by where it lies, too: .github/workflows/ci.yml.
        copy = Path(folder, "copy", base.parent.name, base.name, target.artifact.name)
        copy.parent.mkdir(parents=True)
        there = replace(target, artifact=copy, link_base=base)

        def judge(text: str) -> Evaluation:
            copy.write_bytes(text.encode())
            return evaluate(there, registry)

        yield judge


def _report(
    artifact: Artifact, done: FixResult, *, written: bool, as_diff: bool, as_json: bool
) -> None:
    from pytest_reflex.reports.single import fix_document, fix_text, unified_diff

    if as_json:
        give_json(fix_document(artifact, done, written))
    elif as_diff:
        say(fix_text(artifact, done, written, colour=is_coloured(sys.stderr)))
        give_artifact(unified_diff(artifact.name, artifact.raw_text, done.text))
    else:
        give(fix_text(artifact, done, written, colour=is_coloured(sys.stdout)))


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
    from pytest_reflex.criteria.author.scaffold import starter
    from pytest_reflex.criteria.header import name_from
    from pytest_reflex.criteria.templates import stock_names

    if not name.strip():
        raise UsageError("the name is empty", hint="a name such as service, or FILE.yaml")
    path = Path(name) if name.endswith((".yaml", ".yml")) else Path(f"{name}.yaml")
    if name_from(path.stem) != path.stem:
        hint = f"such as {name_from(path.stem)}"
        raise UsageError(f"{path.stem!r} cannot name criteria", hint=hint)
    if path.exists():
        raise UsageError(f"{escape_control(str(path))} is there already", hint="take another name")
    registry = registry_here()
    schema = not no_schema
    if document is None:
        text = starter(path.stem, schema=schema)
    else:
        text = _from_document(path.stem, document, registry, schema)
    _write(path, text)
    if schema:
        _write_schema(path.parent, registry)
    give(escape_control(str(path)))
    if path.stem in stock_names():
        said = f"a stock template is called {path.stem}, too: the name means that one"
        say(f"{said}, this file is {escape_control(str(path))}")
    say("In CI, let pytest refuse to run without the plugin: required_plugins = pytest-reflex")
    say(f"Next: pytest-reflex criteria test {escape_control(str(path))}")
    return ExitCode.OK


def _from_document(name: str, document: Path, registry: Registry, schema: bool) -> str:
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.criteria.author.scaffold import format_proposals, propose, prove
    from pytest_reflex.process.guard import temporary_folder

    text = read_artifact(document).text
    with temporary_folder("reflex-new-") as folder:
        found = list(prove(propose(text), text, registry, Path.cwd(), folder))
    for one in found:
        verdict = f"left out: {one.why_not}" if one.why_not else "proved"
        say(f"{one.proposal.id}: {verdict}")
    if all(one.why_not for one in found):
        hint = "headings, fenced blocks and links of Markdown, or keys of JSON or YAML, make rules"
        raise UsageError(
            f"{escape_control(str(document))} gives no rule that could fail", hint=hint
        )
    return format_proposals(name, document.name, found, schema=schema)


def _write_schema(folder: Path, registry: Registry) -> None:
    """Write the schema beside the criteria, unless it is there."""
    import json

    from pytest_reflex.criteria.author.scaffold import SCHEMA_FILE
    from pytest_reflex.criteria.author.schema import file_schema

    if not (folder / SCHEMA_FILE).exists():
        schema = json.dumps(file_schema("criteria", registry), indent=1)
        _write(folder / SCHEMA_FILE, schema + "\n")


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(
            f"{escape_control(str(path))} cannot be written: {error.strerror}"
        ) from None
