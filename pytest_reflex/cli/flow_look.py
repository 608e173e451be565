"""``pytest-reflex flow`` beside ``run`` and ``resume``: look at flows, start from one, stop one,
give feedback.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import json_option, now_option, reason_option, wait_option
from pytest_reflex.cli.runs import list_text, pause_and_name, show, watch_option
from pytest_reflex.cli.streams import give, say
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import pluralize

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.record import DriverRecord
    from pytest_reflex.drivers.common.record_file import RunFile


def find_run(name: str | None) -> RunFile:
    """Return the run of a name, or the only one that is not finished; raises UsageError."""
    from pytest_reflex.drivers.flow.run_file import FlowRunFile
    from pytest_reflex.drivers.flow.start import find_unfinished

    if name is None:
        waiting = find_unfinished(Path.cwd())
        if len(waiting) != 1:
            if not waiting:
                raise UsageError("there is no run that has not ended", hint="flow run TASK")
            hint = "name one of: " + ", ".join(waiting)
            raise UsageError(f"{len(waiting)} runs are not finished", hint=hint)
        name = waiting[0]
    files = FlowRunFile(Path.cwd(), name)
    files.load()
    return files


@click.command("stop", short_help="Ask a run to stop.")
@click.argument("name", metavar="RUN", required=False)
@reason_option
@now_option
@wait_option
def stop(name: str | None, reason: str | None, now: bool, wait: float) -> int:
    """Ask the process that runs RUN to stop before its next step."""
    files = find_run(name)
    ended = files.stop(reason or "", now=now, wait=wait)
    give(f"{files.run} has ended." if ended else f"{files.run} was asked to stop.")
    return ExitCode.LOCKED if wait and not ended else ExitCode.OK


@click.command("feedback", short_help="Say what the next decision has to take into account.")
@click.argument("text")
@click.option("--run", "name", metavar="RUN", help="The run that is meant.")
@wait_option
def feedback(text: str, name: str | None, wait: float) -> int:
    """Hand TEXT to the agent that is asked next."""
    if not text.strip():
        raise UsageError("the feedback is empty")
    files = find_run(name)
    taken = files.give_feedback(text, wait=wait)
    give(f"Recorded; {files.run} has it." if taken else f"Recorded; {files.run} has it next.")
    return ExitCode.OK


@click.command("check", short_help="Say whether the flow can be run.")
@click.option("--agent", "agents", multiple=True, metavar="[ROLE=]NAME", help="As for `run`.")
def check(agents: tuple[str, ...]) -> int:
    """Read .ai-loop/flow.yaml and its agent files, and say everything that is wrong with them.

    Exit status: 0 it can be run, 4 it cannot.
    """
    from pytest_reflex.drivers.flow.start import prepare

    prepared = prepare(Path.cwd(), agents, runs=bool(agents))
    for path, node in zip(prepared.root.paths(), prepared.root.walk(), strict=True):
        sensors = ", ".join(sensor.name for sensor in node.sensors) or "none"
        act = f"node {node.child.id}" if node.child else node.actuator
        times = pluralize(node.max_iterations, "iteration")
        give(f"{'  ' * path.count('/')}{node.id}: {times}, sensors {sensors}, acts by {act}")
    give("The flow can be run.")
    return ExitCode.OK


@click.command("status", short_help="Show where a run stands, as a tree.")
@click.argument("name", metavar="RUN", required=False)
@json_option
@watch_option("no process is running it")
def status(name: str | None, as_json: bool, watch: str | None) -> int:
    """Show RUN: its nodes, targets and last commits.

    Without RUN it is the only one that is not finished, or the last one where all are.
    """
    from pytest_reflex.drivers.flow.run_file import last_run
    from pytest_reflex.drivers.flow.start import find_unfinished

    pause, name = pause_and_name(watch, name)
    if name is None and not find_unfinished(Path.cwd()):
        name = last_run(Path.cwd())
    files = find_run(name)
    return show(
        lambda: (files.row(), files.load()),
        text=lambda seen: _text(files, *seen),
        document=lambda seen: seen[1].status_json(seen[0].driven),
        goes_on=lambda seen: seen[0].driven,
        pause=pause,
        as_json=as_json,
    )


def _text(files: RunFile, row: Any, record: DriverRecord) -> str:
    from pytest_reflex.drivers.flow.run_file import boundaries, shape
    from pytest_reflex.reports.runs import commit_lines, status_text, tree_lines

    head = status_text(
        "Run",
        {**row.to_json(), "status": record.display_status(row.driven)},
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
    from pytest_reflex.drivers.flow.run_file import rows

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
    from pytest_reflex.drivers.flow.run_file import (
        boundaries,
        branch_here,
        last_run,
        order_boundaries,
    )
    from pytest_reflex.reports.runs import final_lines, run_lines

    files = find_run(name or last_run(Path.cwd()))
    record = files.load()
    made = boundaries(Path.cwd(), record)
    last = final_lines(record, len(made), branch_here(Path.cwd()))
    give("\n".join([*run_lines(order_boundaries(made, record)), *last]))
    return ExitCode.OK


_COUNT = click.IntRange(min=1, max=10**6)


@click.command("setup", short_help="Write a flow and its agent files.")
@click.option("--from", "source", metavar="NAME", help="The flow to start from: red-to-green.")
@click.option("--command", metavar="COMMAND", help="What measures: exit status 0 means passed.")
@click.option(
    "-n", "--max-iterations", type=_COUNT, metavar="N", help="Iterations of the outer loop."
)
@click.option("--inner-iterations", type=_COUNT, metavar="N", help="Iterations of the inner loop.")
def setup(
    source: str | None,
    command: str | None,
    max_iterations: int | None,
    inner_iterations: int | None,
) -> int:
    """Write .ai-loop/flow.yaml, its JSON Schema, and agent files into .claude/agents.

    A terminal is asked for what no option says. A file that is there is kept, and named.

    Flows: red-to-green (an inner loop turns red tests green, the outer one measures again and
    finishes), single-loop.
    """
    from pytest_reflex.drivers.flow.read import read_flow
    from pytest_reflex.drivers.flow.setup import (
        COMMAND,
        DEFAULT,
        FLOW_FILE,
        TemplateValues,
        files_of,
        has_inner,
        templates,
        write,
    )

    name = _ask(source, "Flow to start from", DEFAULT, click.Choice(list(templates())))
    files_of(name, TemplateValues())  # an unknown name is refused before more is asked
    given: dict[str, Any] = {
        "command": _ask(command, "Command that measures", COMMAND, str),
        "max_iterations": _ask(max_iterations, "Iterations at most", 3, _COUNT),
    }
    if has_inner(name):
        given["inner_iterations"] = _ask(inner_iterations, "Those of the inner loop", 5, _COUNT)
    project = Path.cwd()
    for path, is_new in write(project, files_of(name, TemplateValues(**given))):
        give(f"{'wrote' if is_new else 'kept '} {path}")
    read_flow(project / FLOW_FILE, project)
    if not _has_agent(project):
        say("No agent is named yet: set `agent` in pytest-reflex.toml to one that may edit files")
    say("Next: pytest-reflex flow run 'what is to be done'")
    return ExitCode.OK


def _ask(given: Any, question: str, default: Any, kind: Any) -> Any:
    """Return what an option says; else ask a terminal; else the default."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        return default
    return click.prompt(question, default=default, type=kind, err=True)


def _has_agent(project: Path) -> bool:
    from pytest_reflex.drivers.common.arguments import settings_of

    settings = settings_of(project)
    return settings["agent"] != "offline" or bool(settings["flow.agents"])
