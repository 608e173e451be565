"""``pytest-reflex flow check``, ``status``, ``list`` and ``show``: they look and write nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.flow_manage import run_named
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give
from pytest_reflex.cli.watching import list_text, pause_and_name, show, watch_option
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.plain import counted

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.record import Record
    from pytest_reflex.drivers.common.record_file import RunFile


@click.command("check", short_help="Say whether the flow can be run.")
@click.option("--agent", "agents", multiple=True, metavar="[ROLE=]NAME", help="As for `run`.")
def check(agents: tuple[str, ...]) -> int:
    """Read .ai-loop/flow.yaml and its agent files, and say everything that is wrong with them.

    Exit status: 0 it can be run, 4 it cannot.
    """
    from pytest_reflex.drivers.flow.opening import prepare

    prepared = prepare(Path.cwd(), agents, runs=bool(agents))
    for path, node in zip(prepared.root.paths(), prepared.root.walk(), strict=True):
        sensors = ", ".join(sensor.name for sensor in node.sensors) or "none"
        act = f"node {node.child.id}" if node.child else node.actuator
        times = counted(node.max_iterations, "iteration")
        give(f"{'  ' * path.count('/')}{node.id}: {times}, sensors {sensors}, acts by {act}")
    give("The flow can be run.")
    return ExitCode.OK


@click.command("status", short_help="Show where a run stands, as a tree.")
@click.argument("name", metavar="RUN", required=False)
@json_option
@watch_option("no process drives the run")
def status(name: str | None, as_json: bool, watch: str | None) -> int:
    """Show RUN: its nodes, targets and last commits.

    Without RUN it is the only one that is not finished, or the last one where all are.
    """
    from pytest_reflex.drivers.flow.history import last_run
    from pytest_reflex.drivers.flow.opening import unfinished

    pause, name = pause_and_name(watch, name)
    if name is None and not unfinished(Path.cwd()):
        name = last_run(Path.cwd())
    files = run_named(name)
    return show(
        lambda: (files.row(), files.found()),
        text=lambda seen: _text(files, *seen),
        document=lambda seen: seen[1].shown_json(seen[0].driven),
        goes_on=lambda seen: seen[0].driven,
        pause=pause,
        as_json=as_json,
    )


def _text(files: RunFile, row: Any, record: Record) -> str:
    from pytest_reflex.drivers.flow.history import boundaries, shape
    from pytest_reflex.reports.flow import commit_lines, tree_lines
    from pytest_reflex.reports.runs import status_text

    head = status_text(
        "Run",
        {**row.to_json(), "status": record.shown_status(row.driven)},
        first=[
            ("Task", record.data["task"]),
            ("Branch", record.data.get("branch", "")),
            ("Ended", record.reason),
        ],
        spend=row.spend,
        budget=record.budget,
        feedback=len(record.feedback),
    )
    tree = "\n".join(tree_lines(shape(Path.cwd(), record), record.data))
    last = "\n".join(list(commit_lines(boundaries(Path.cwd(), record)))[-3:])
    shown = f"{head}\n\n{tree}" + (f"\n\n{last}" if last else "")
    return (
        shown if record.can_go_on else f"{shown}\n\nAll of it: pytest-reflex flow show {record.run}"
    )


@click.command("list", short_help="List all runs.")
@json_option
def list_(as_json: bool) -> int:
    """List the runs of flows in this folder."""
    from pytest_reflex.drivers.flow.history import rows

    return show(
        lambda: list(rows(Path.cwd())),
        text=list_text,
        document=lambda found: {"runs": [row.to_json() for row in found]},
        goes_on=lambda found: False,
        pause=None,
        as_json=as_json,
        nothing=lambda: "There are no runs of flows here.",
    )


@click.command("show", short_help="Draw a run: iterations, sensors, setpoints, cost.")
@click.argument("name", metavar="RUN", required=False)
def show_(name: str | None) -> int:
    """Draw RUN as a tree of its iterations, from its commits (or from its log without git)."""
    from pytest_reflex.drivers.flow.history import boundaries, branch_here, drawn, last_run
    from pytest_reflex.reports.flow import final_lines, run_lines

    files = run_named(name or last_run(Path.cwd()))
    record = files.found()
    made = boundaries(Path.cwd(), record)
    last = final_lines(record, len(made), branch_here(Path.cwd()))
    give("\n".join([*run_lines(drawn(made, record)), *last]))
    return ExitCode.OK
