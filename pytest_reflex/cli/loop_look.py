"""``pytest-reflex loop status``, ``list``, ``history``, ``show``, ``verify``: they only read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import alias_argument, json_option, load_settings, state_root
from pytest_reflex.cli.runs import list_text, pause_and_name, watch_option
from pytest_reflex.cli.runs import show as show_runs
from pytest_reflex.cli.streams import give, give_artifact, give_json, say, verdict
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import escape_control, pluralize, visible_json
from pytest_reflex.storage.lines import Content

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.finish import VerificationResult
    from pytest_reflex.drivers.reflex.run_status import RunOverview


@click.command(short_help="Evaluate the artifact of a loop again.")
@alias_argument("is_verifiable")
@click.option(
    "--accept-changes",
    is_flag=True,
    help="Verify with the project as it is now, though its files changed since the run.",
)
@json_option
def verify(alias: str | None, accept_changes: bool, as_json: bool) -> int:
    """Evaluate the artifact of the loop ALIAS again (default: the one that runs, else the newest).

    Criteria and checks are those of its history. Recorded votes are used; no agent is asked, and
    nothing is written.

    Exit status: 0 the recorded verdict holds and is a pass; 1 it is none, or does not hold;
    5 nothing could be measured; 9 it could not be evaluated; 10 its rules have changed;
    11 another process is running the loop; 14 the project has changed.
    """
    from pytest_reflex.drivers.reflex import finish
    from pytest_reflex.drivers.reflex.run_status import find_run

    run = find_run(state_root(), alias)
    finish.refuse_unverifiable(run)
    for line in run.recovered:
        say(escape_control(line))
    found = finish.verify(run, hooks_of(run), Path.cwd(), accept_changes=accept_changes)
    status = _status_of(found)
    with verdict(status):
        if as_json:
            give_json(found.to_json())
        else:
            give("\n".join(_lines(found)))
    return status


def hooks_of(run: RunOverview) -> Any:
    """Return hooks that evaluate as the run's own do, and ask no agent but an LLM judge."""
    from pytest_reflex.host import open_host, register_evaluator, register_judge

    setup = run.state.setup
    own = {"judge_when": setup.get("judge_when", "always")}
    settings = load_settings({"loop.evaluator": setup.get("evaluator"), **own})
    host = open_host(setup.get("plugins", settings["plugins"]), Path.cwd())
    register_evaluator(host, settings)
    register_judge(host, settings, "" if setup.get("replay") else setup.get("judge", ""))
    return host.hooks


def _status_of(found: VerificationResult) -> ExitCode:
    if found.passed:
        return ExitCode.OK
    judged = found.found
    unmeasured = judged is not None and not (judged.measured and judged.decides)
    return ExitCode.NOTHING_MEASURED if unmeasured else ExitCode.GATE_FAILED


def _lines(found: VerificationResult) -> list[str]:
    from pytest_reflex.verdict.formatting import format_score, plain

    state, judged = found.state, found.found or found.recorded
    count = len(judged.results)
    rules = f"{pluralize(count, 'rule')} at phase {judged.level.value}"
    lines = [
        f"Loop: {escape_control(state.alias)} ({state.status.value})",
        (
            f"Criteria: {escape_control(judged.criteria)} "
            f"({rules}, threshold {plain(judged.threshold)})"
        ),
        f"Artifact: {judged.artifact_hash}",
    ]
    if found.found:
        word = "passed" if found.found.passed else "not passed"
        lines.append(f"Score: {format_score(found.found.score)}, {word}")
    if found.problem:
        return [*lines, f"The recorded verdict does not hold: {escape_control(found.problem)}"]
    return [*lines, f"The recorded verdict holds: {'passed' if found.passed else 'not passed'}"]


@click.command(short_help="Show where a loop stands.")
@alias_argument()
@click.option("--json", "as_json", is_flag=True, help="Print run.json as the history has it.")
@watch_option("the loop has ended")
def status(alias: str | None, as_json: bool, watch: str | None) -> int:
    """Show the loop ALIAS (default: the one that runs, else the newest).

    With --watch every change is shown; with --json too, only the end is.
    """
    from pytest_reflex.drivers.reflex.catalog import status_text
    from pytest_reflex.drivers.reflex.run_status import find_folder, find_run
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
        say(escape_control(line))
    return ExitCode.OK


def _elsewhere(root: Path) -> str:
    """Return a hint to loops of a folder above this one; they are those of another project."""
    from pytest_reflex.drivers.reflex.run_status import aliases

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
    from pytest_reflex.drivers.reflex.run_status import find_folder
    from pytest_reflex.drivers.reflex.statefile import HISTORY
    from pytest_reflex.model.events import Event
    from pytest_reflex.reports.runs import event_line
    from pytest_reflex.storage.journal import damage_error, describe_recovery, read_journal

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
        raise damage_error(path, content)
    for line in describe_recovery(path, content):
        say(escape_control(line))
    return ExitCode.OK


def _stable(path: Path, content: Content) -> int:
    """Print what is equal in every run that went the same way, one event a line."""
    from pytest_reflex.drivers.reflex.artifacts import stable_events
    from pytest_reflex.drivers.reflex.history import read_events
    from pytest_reflex.storage.journal import damage_error

    if not content.whole:
        raise damage_error(path, content)
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
    from pytest_reflex.drivers.reflex.artifacts import as_it_stands, find_evaluated
    from pytest_reflex.drivers.reflex.run_status import find_folder

    folder = find_folder(state_root(), alias)
    shown = as_it_stands(folder) if iteration is None else find_evaluated(folder, iteration)
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
            hint="leave out --json: the artifact is then printed byte for byte",
        ) from None
    give_json({"alias": folder.name, **shown.to_json(), "artifact": text})
    return ExitCode.OK
