"""``pytest-reflex iterate list``, ``info``, ``history``, ``status``: they write nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.iterate_options import check_procedure, iterate_root, procedure_argument
from pytest_reflex.cli.options import json_option, load_settings, secrets_of
from pytest_reflex.cli.runs import list_text, pause_and_name, show, watch_option
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.drivers.iterate.history import (
    IterationRecord,
    RunRecord,
    procedures_with_logs,
    runs_of,
)
from pytest_reflex.errors import ExitCode, StateError, UsageError, did_you_mean
from pytest_reflex.model.plain import escape_control, one_line, pluralize
from pytest_reflex.reports.lines import tab_lines, text_table
from pytest_reflex.verdict.formatting import format_duration

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.status import ProcedureStatus


_RUNS = ("procedure", "run", "iterations", "outcome", "time", "cost", "tokens")
_ITERATIONS = (
    *("iteration", "outcome", "time", "changed", "cost", "tokens", "failed gates", "cause"),
    *("gates", "files"),
)
_ROOM = 60
_LONGEST = 2_000
_CHANGED = {True: "yes", False: "no", None: ""}


def runs_table(runs: Sequence[RunRecord]) -> str:
    return text_table(_RUNS, [_run(one) for one in runs])


def runs_lines(runs: Sequence[RunRecord]) -> str:
    """Return a line for each run, its fields separated by tabs; what is unknown is empty."""
    return tab_lines(map(_run, runs))


def run_text(run: RunRecord) -> str:
    """Return a run on a terminal: how it ended, and a table of its iterations."""
    spent = ", ".join(filter(None, (_cost(run.usd), _tokens(run.tokens, " tokens"))))
    done = f"{pluralize(len(run.iterations), 'iteration')} in {format_duration(run.seconds)}"
    head = f"{run.procedure}, run {run.run}: {one_line(run.shown_outcome)}, {done}"
    rows = [_iteration(one, _ROOM) for one in run.iterations]
    lines = [f"{head}, {spent}" if spent else head]
    return "\n".join([*lines, "", text_table(_ITERATIONS, rows)] if rows else lines)


def iteration_lines(run: RunRecord) -> str:
    """Return a line for each iteration of a run, its fields separated by tabs."""
    return tab_lines(_iteration(one, _LONGEST) for one in run.iterations)


def problem_texts(runs: Sequence[RunRecord]) -> list[str]:
    """Return what could not be read of the logs of some runs, a line for each log."""
    problems = {}
    for run in runs:
        if run.problem:
            problems[run.log] = escape_control(run.problem)
        elif run.unreadable:
            lines = pluralize(run.unreadable, "line")
            problems[run.log] = (
                f"{escape_control(str(run.log))}: {lines} left out, which no run has written"
            )
    return list(problems.values())


def _run(run: RunRecord) -> tuple[str, ...]:
    return (
        run.procedure,
        one_line(run.run),
        "" if run.problem else str(len(run.iterations)),
        one_line(run.shown_outcome),
        "" if run.problem else format_duration(run.seconds),
        _cost(run.usd),
        _tokens(run.tokens),
    )


def _iteration(one: IterationRecord, room: int) -> tuple[str, ...]:
    detail = "" if one.detail.startswith(one.cause) else f"{one.cause}: "
    cause = f"{detail}{one.detail}" if one.detail else one.cause
    return (
        str(one.number),
        one_line(one.outcome),
        "" if one.seconds is None else format_duration(one.seconds),
        _CHANGED[one.changed],
        _cost(one.usd),
        _tokens(one.tokens),
        one_line(", ".join(one.failed_gates), room),
        one_line(cause, room),
        one_line(_gates(one), room),
        one_line(_files(one), room),
    )


def _gates(one: IterationRecord) -> str:
    """Return how many gates passed: "2/3"; empty where none was tried."""
    passed = sum(outcome == "pass" for outcome in one.gates.values())
    return f"{passed}/{len(one.gates)}" if one.gates else ""


def _files(one: IterationRecord) -> str:
    """Return how many files changed, and which: "2: a.py, b.py"."""
    if not one.files_changed:
        return "" if one.files_changed is None else "0"
    more = ", ..." if len(one.files) < one.files_changed else ""
    return f"{one.files_changed}: {', '.join(one.files)}{more}"


def _cost(usd: float | None) -> str:
    return "" if usd is None else f"${usd:.4f}"


def _tokens(number: int | None, unit: str = "") -> str:
    return "" if number is None else f"{number}{unit}"


@click.command("list", short_help="List the procedures.")
@json_option
def list_(as_json: bool) -> int:
    """List the built-in procedures and those of the configuration.

    In a pipe it is a line for each, with tabs between its fields. One that cannot be used is listed
    with what is wrong with it.
    """
    from pytest_reflex.drivers.iterate.survey import all_procedures
    from pytest_reflex.reports.proposal import plain_lines, table

    found = all_procedures(load_settings(), Path.cwd())
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
    from pytest_reflex.process.environment import redact
    from pytest_reflex.reports.proposal import procedure_text

    settings = load_settings()
    host = open_host(settings["plugins"], Path.cwd())
    found = one_procedure(procedure, settings, host, Path.cwd())
    shown = json.loads(redact(json.dumps(found), secrets_of(settings)))
    if as_json:
        give_json(shown)
    else:
        give(procedure_text(shown))
    return ExitCode.OK


_LAST = "last"


@click.command(short_help="Show past runs, or the iterations of one.")
@procedure_argument(required=False, wanted="kept")
@click.option("--run", "stamp", metavar="RUN|last", help="Show the iterations of this run.")
@json_option
def history(procedure: str | None, stamp: str | None, as_json: bool) -> int:
    """Show the runs of PROCEDURE, or of all procedures, the oldest first.

    A run is named by the time at which it began, in UTC. What a tool does not report is left empty.
    A terminal gets a table, a pipe lines with tabs between the fields. Lines of a log that are
    damaged are left out and counted.
    """

    root = iterate_root()
    runs = _runs(root, procedure)
    if stamp is not None:
        runs = [_choose_run(runs, stamp, root)]
    shown = sys.stdout.isatty()
    if as_json and stamp is not None:
        each = [one.to_json() for one in runs[0].iterations]
        give_json({"run": runs[0].to_json(), "iterations": each})
    elif as_json:
        give_json({"root": str(root), "runs": [one.to_json() for one in runs]})
    elif stamp is not None and (shown or runs[0].iterations):
        give((run_text if shown else iteration_lines)(runs[0]))
    elif stamp is None and runs:
        give((runs_table if shown else runs_lines)(runs))
    elif stamp is None:
        of = f" of {procedure}" if procedure else ""
        say(f"There is no log of a run{of} in {escape_control(str(root))}.")
    for line in problem_texts(runs):
        say(f"pytest-reflex: warning: {line}")
    return ExitCode.OK


def _runs(root: Path, procedure: str | None) -> list[RunRecord]:
    """Return the runs of a procedure, or of all, the oldest first."""

    logged = procedures_with_logs(root)
    names = [check_procedure(procedure, root, logged)] if procedure else logged
    runs = [run for name in names for run in _mark_driven(root, name, runs_of(root, name))]
    return runs if procedure else sorted(runs, key=lambda run: run.run)


def _mark_driven(root: Path, procedure: str, runs: list[RunRecord]) -> list[RunRecord]:
    """Return the runs with the one that a process drives now marked: the last without an end."""
    from pytest_reflex.drivers.iterate.state import is_driven

    if not runs or runs[-1].outcome:
        return runs
    try:
        driven = is_driven(root, procedure)
    except (StateError, OSError):
        driven = False
    return [*runs[:-1], replace(runs[-1], driven=driven)]


def _choose_run(runs: list[RunRecord], stamp: str, root: Path) -> RunRecord:
    """Return the run that is meant; raises UsageError where it is none, or one of several."""
    if not runs:
        raise UsageError(f"there is no log of a run in {root}")
    if stamp == _LAST:
        return runs[-1]
    found = [run for run in runs if run.run == stamp]
    if not found:
        hint = did_you_mean(stamp, [_LAST, *(run.run for run in runs[-10:])])
        raise UsageError(f"there is no log of a run {stamp!r}", hint=hint)
    if len(found) > 1:
        names = ", ".join(run.procedure for run in found)
        raise UsageError(
            f"{len(found)} procedures have a run {stamp}: {names}",
            hint=f"name one: iterate history {found[0].procedure} --run {stamp}",
        )
    return found[0]


@click.command(short_help="Show where a procedure stands, or all of them.")
@procedure_argument(required=False)
@json_option
@watch_option("no process is running it")
def status(procedure: str | None, as_json: bool, watch: str | None) -> int:
    """Show where the run of PROCEDURE stands, or those of all procedures that have a state.

    A run whose process is gone is shown as "running (interrupted)". All of them are a table on a
    terminal, and lines with tabs between the fields in a pipe. With --watch every change is shown;
    with --json too, only the end is.
    """
    from pytest_reflex.drivers.iterate.status import describe_status, procedures_with_state

    pause, procedure = pause_and_name(watch, procedure)
    root = iterate_root()
    alone = check_procedure(procedure, root) if procedure is not None else None

    def look() -> list[ProcedureStatus]:
        names = procedures_with_state(root) if alone is None else [alone]
        return [_status_of(root, name) for name in names]

    def document(found: list[ProcedureStatus]) -> Any:
        every = [one.to_json() for one in found]
        return {"root": str(root), "procedures": every} if alone is None else every[0]

    def text(found: list[ProcedureStatus]) -> str:
        alike = [one.row() for one in found]
        return list_text(alike) if alone is None else describe_status(found[0])

    return show(
        look,
        text=text,
        document=document,
        goes_on=lambda found: any(one.driven for one in found),
        pause=pause,
        as_json=as_json,
        nothing=lambda: f"No procedure has a run under way in {escape_control(str(root))}.",
    )


def _status_of(root: Path, name: str) -> ProcedureStatus:
    """Return where a procedure stands; one that is no longer configured cannot go on."""
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import status_of

    settings = load_settings()
    found = status_of(root, name, budget=settings["iterate.budget"])
    return replace(found, configured=name in procedure_names(settings))
