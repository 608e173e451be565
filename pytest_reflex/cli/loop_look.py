"""``pytest-reflex loop status``, ``list``, ``history``, ``show``: they look and write nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.aliases import alias_argument, state_root
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_artifact, give_json, say
from pytest_reflex.cli.watching import list_text, pause_and_name, watch_option
from pytest_reflex.cli.watching import show as show_runs
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import visible, visible_json
from pytest_reflex.storage.lines import Content


@click.command(short_help="Show where a loop stands.")
@alias_argument()
@click.option("--json", "as_json", is_flag=True, help="Print run.json as the history has it.")
@watch_option("the loop has ended")
def status(alias: str | None, as_json: bool, watch: str | None) -> int:
    """Show the loop ALIAS (default: the one that runs, else the newest).

    With --watch every change is shown; with --json too, only the end is.
    """
    from pytest_reflex.drivers.reflex.catalog import status_text
    from pytest_reflex.drivers.reflex.overview import find_folder, find_run
    from pytest_reflex.drivers.reflex.statefile import run_json

    pause, alias = pause_and_name(watch, alias)
    root = state_root()
    name = find_folder(root, alias).name
    return show_runs(
        lambda: find_run(root, name),
        text=status_text,
        document=lambda run: {
            **run_json(run.state),
            "verified": run.verified,
            **run.recovered_json,
        },
        goes_on=lambda run: run.alive,
        pause=pause,
        as_json=as_json,
    )


@click.command("list", short_help="List all loops.")
@json_option
def list_(as_json: bool) -> int:
    """List all loops by name: status, start, duration, iteration, cost, score and task.

    A terminal gets a table, a pipe lines with tabs between the fields. Loops that are damaged are
    listed with what is wrong.
    """
    from pytest_reflex.drivers.reflex.catalog import row_of
    from pytest_reflex.drivers.reflex.survey import survey

    root = state_root()
    found = survey(root)
    rows = [row_of(one) for one in found]
    if as_json:
        every = zip(rows, found, strict=True)
        loops = [{**row.to_json(), **one.to_json()} for row, one in every]
        give_json({"root": str(root), "loops": loops})
        return ExitCode.OK
    if not found:
        say(f"There is no loop in {root}.{_elsewhere(root)}")
        return ExitCode.OK
    give(list_text(rows))
    for line in (line for one in found if one.run for line in one.run.recovered):
        say(visible(line))
    return ExitCode.OK


def _elsewhere(root: Path) -> str:
    """Return a hint to loops of a folder above this one; they are those of another project."""
    from pytest_reflex.drivers.reflex.overview import aliases

    here = Path.cwd()
    if root.is_relative_to(here):
        for above in here.parents:
            if aliases(above / root.relative_to(here)):
                return f" There are loops in {above}: change to that folder."
    return ""


@click.command(short_help="Show what happened in a loop.")
@alias_argument()
@json_option
@click.option(
    "--stable", is_flag=True, help="Print JSON lines without times, run id and places: to compare."
)
def history(alias: str | None, as_json: bool, stable: bool) -> int:
    """Show the events of the loop ALIAS (default: the one that runs, else the newest).

    Of a damaged history all that can be read is shown, and what cannot is named (exit status 12).
    """
    from pytest_reflex.drivers.reflex.overview import find_folder
    from pytest_reflex.drivers.reflex.statefile import HISTORY
    from pytest_reflex.model.events import Event
    from pytest_reflex.reports.history import event_line
    from pytest_reflex.storage.journal import damaged, read_journal, recovered

    path = find_folder(state_root(), alias) / HISTORY
    content = read_journal(path)
    if stable:
        return _stable(path, content)
    problems = [str(one) for one in (*content.damages, *content.breaks, *content.zeros)]
    if as_json:
        document: dict[str, Any] = {"alias": path.parent.name, "events": list(content.records)}
        give_json({**document, "problems": problems})
    for record in content.records if not as_json else ():
        try:
            give(event_line(Event.from_json(record)))
        except (LookupError, TypeError, ValueError):
            give(f"{record['seq']:>4}  not an event of a loop")
    if not content.whole:
        raise damaged(path, content)
    for line in recovered(path, content):
        say(visible(line))
    return ExitCode.OK


def _stable(path: Path, content: Content) -> int:
    """Print what is equal in every run that went the same way, one event a line."""
    from pytest_reflex.drivers.reflex.history import read_events
    from pytest_reflex.drivers.reflex.stable import stable_events
    from pytest_reflex.storage.journal import damaged

    if not content.whole:
        raise damaged(path, content)
    for event in stable_events(read_events(path, content.records)[0], Path.cwd()):
        give(visible_json(event))
    return ExitCode.OK


@click.command(short_help="Print the artifact of a loop.")
@alias_argument()
@click.option("--iteration", type=int, metavar="N", help="The one that iteration N evaluated.")
@json_option
def show(alias: str | None, iteration: int | None, as_json: bool) -> int:
    """Print the artifact of the loop ALIAS (default: the one that runs, else the newest).

    It is the file as it stands; with --iteration it is rebuilt from the history. A pipe gets it
    byte for byte.
    """
    from pytest_reflex.drivers.reflex.artifacts import as_it_stands, evaluated_in
    from pytest_reflex.drivers.reflex.overview import find_folder

    folder = find_folder(state_root(), alias)
    shown = as_it_stands(folder) if iteration is None else evaluated_in(folder, iteration)
    if shown.note:
        say(shown.note)
    if not as_json:
        give_artifact(shown.data)
        return ExitCode.OK
    try:
        text = shown.data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the artifact of {folder.name!r} is not UTF-8 at byte {error.start}",
            hint="leave --json away to have its bytes",
        ) from None
    give_json({"alias": folder.name, **shown.to_json(), "artifact": text})
    return ExitCode.OK
