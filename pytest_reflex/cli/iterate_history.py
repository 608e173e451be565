"""``pytest-reflex iterate history``: which runs there were, and what each iteration came to."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.iterate_names import iterate_root, known, procedure_argument
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ExitCode, StateError, UsageError, did_you_mean
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.history import RunRecord

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
    from pytest_reflex.drivers.iterate import history_text as texts

    root = iterate_root()
    runs = _runs(root, procedure)
    if stamp is not None:
        runs = [_chosen(runs, stamp, root)]
    shown = sys.stdout.isatty()
    if as_json and stamp is not None:
        each = [one.to_json() for one in runs[0].iterations]
        give_json({"run": runs[0].to_json(), "iterations": each})
    elif as_json:
        give_json({"root": str(root), "runs": [one.to_json() for one in runs]})
    elif stamp is not None and (shown or runs[0].iterations):
        give((texts.run_text if shown else texts.iteration_lines)(runs[0]))
    elif stamp is None and runs:
        give((texts.runs_table if shown else texts.runs_lines)(runs))
    elif stamp is None:
        of = f" of {procedure}" if procedure else ""
        say(f"There is no log of a run{of} in {visible(str(root))}.")
    for line in texts.problem_texts(runs):
        say(f"pytest-reflex: warning: {line}")
    return ExitCode.OK


def _runs(root: Path, procedure: str | None) -> list[RunRecord]:
    """Return the runs of a procedure, or of all, the oldest first."""
    from pytest_reflex.drivers.iterate.history import procedures_with_logs, runs_of

    logged = procedures_with_logs(root)
    names = [known(procedure, root, logged)] if procedure else logged
    runs = [run for name in names for run in _marked(root, name, runs_of(root, name))]
    return runs if procedure else sorted(runs, key=lambda run: run.run)


def _marked(root: Path, procedure: str, runs: list[RunRecord]) -> list[RunRecord]:
    """Return the runs with the one that a process drives now marked: the last without an end."""
    from pytest_reflex.drivers.iterate.statefile import is_driven

    if not runs or runs[-1].outcome:
        return runs
    try:
        driven = is_driven(root, procedure)
    except (StateError, OSError):
        driven = False
    return [*runs[:-1], replace(runs[-1], driven=driven)]


def _chosen(runs: list[RunRecord], stamp: str, root: Path) -> RunRecord:
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
