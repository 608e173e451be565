"""``pytest-reflex flow run`` and ``resume``: drive a flow, and say what is happening."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.groups import OwnOptions
from pytest_reflex.cli.options import budget_option, events_option, wall_time_option
from pytest_reflex.cli.streams import give, say
from pytest_reflex.errors import UsageError

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.running import Events


def _limits(command: Callable[..., Any]) -> Callable[..., Any]:
    options: list[Any] = [
        click.option(
            "--agent",
            "agents",
            multiple=True,
            metavar="[ROLE=]NAME",
            help="Agent of all roles, or of sensor, controller, actuator or cheap.",
        ),
        budget_option(adds=True),
        wall_time_option,
        events_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


class _RunOptions(OwnOptions):
    """Options of which `--allow-dirty` takes a value with `=` alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        plain = ["--allow-dirty=keep" if one == "--allow-dirty" else one for one in args[:end]]
        return super().parse_args(ctx, [*plain, *args[end:]])


@click.command("run", cls=_RunOptions, short_help="Begin a run for a task.")
@click.argument("task", required=False)
@click.option("--new", is_flag=True, help="Leave an unfinished run, and begin a new one.")
@click.option("--no-git", is_flag=True, help="Make no branch and no commits.")
@click.option(
    "--allow-dirty",
    type=click.Choice(["keep", "include"]),
    metavar="[=include]",
    help="Start although there are uncommitted changes; they stay uncommitted, or are committed.",
)
@click.option("--branch", default="", metavar="NAME", help="Name of the run's branch.")
@_limits
def run(
    task: str | None,
    new: bool,
    no_git: bool,
    allow_dirty: str | None,
    branch: str,
    agents: tuple[str, ...],
    budgets: tuple[str, ...],
    wall_time: float | None,
    events: str | None,
) -> int:
    """Run .ai-loop/flow.yaml for TASK, on a branch of its own, until it ends.

    A terminal is asked for a task that is missing, and whether to resume a run that is not
    finished. Exit status: 0 the target is met, 6 all iterations are used up, 9 error.
    """
    from pytest_reflex.drivers.common.control import check_text
    from pytest_reflex.drivers.flow import start

    project = Path.cwd()
    check_text("task", task or "")
    if not new and (waiting := start.find_unfinished(project)):
        if not _resumes(project, waiting[0]):
            hint = "flow resume, or --new"
            raise UsageError(f"the run {waiting[0]} is not finished", hint=hint)
        return _drive(waiting[0], _resume(waiting[0], agents, budgets, wall_time), events)
    options = start.FlowOptions(
        task=task if task is not None else _ask_task(),
        agents=agents,
        git=not no_git,
        allow_dirty=allow_dirty or "",
        branch=branch,
    )
    for name in start.find_unfinished(project) if new else ():
        start.abandon(project, name)
    name, happening = start.begin(
        options, project=project, budget=_one(budgets), wall_time=wall_time, say=_warn
    )
    return _drive(name, happening, events)


@click.command("resume", cls=OwnOptions, short_help="Continue a run.")
@click.argument("name", metavar="RUN", required=False)
@_limits
def resume(
    name: str | None,
    agents: tuple[str, ...],
    budgets: tuple[str, ...],
    wall_time: float | None,
    events: str | None,
) -> int:
    """Continue RUN, or the last one that is not finished."""
    from pytest_reflex.drivers.flow import start

    if name is None:
        waiting = start.find_unfinished(Path.cwd())
        if not waiting:
            raise UsageError("there is no run to resume", hint="flow run TASK")
        name = waiting[0]
    return _drive(name, _resume(name, agents, budgets, wall_time), events)


def _resume(
    name: str, agents: tuple[str, ...], budgets: tuple[str, ...], wall_time: float | None
) -> Events:
    from pytest_reflex.drivers.flow import start

    return start.go_on(
        name,
        project=Path.cwd(),
        agents=agents,
        budget=_one(budgets),
        wall_time=wall_time,
        say=_warn,
    )


def _one(budgets: tuple[str, ...]) -> str | None:
    return ",".join(budgets) or None


def _ask_task() -> str:
    if not sys.stdin.isatty():
        raise UsageError("there is no task", hint="pytest-reflex flow run 'what is to be done'")
    return str(click.prompt("Task", err=True))


def _resumes(project: Path, name: str) -> bool:
    """Ask whether to resume a run, which is shown; no agent is asked where there is no terminal."""
    from pytest_reflex.drivers.flow.run_file import FlowRunFile
    from pytest_reflex.reports.runs import where_lines

    if not sys.stdin.isatty():
        return False
    record = FlowRunFile(project, name).read()
    if record is not None:
        say("\n".join(where_lines(record.run, record.data)))
    return click.confirm("Resume it? (no: nothing is done; --new begins another run)", err=True)


def _drive(name: str, happening: Events, place: str | None) -> int:
    from pytest_reflex.cli.display import takes_stdout
    from pytest_reflex.cli.own_driver import follow
    from pytest_reflex.drivers.flow.run_file import FlowRunFile, boundaries, branch_here
    from pytest_reflex.reports.runs import final_lines, line_of

    files = FlowRunFile(Path.cwd(), name)
    resume = f"pytest-reflex flow resume {name}"
    status, is_interrupted = follow(happening, place, line_of, resume=resume)
    record = None if is_interrupted or takes_stdout(place) else files.read()
    if record is not None:
        here, made = branch_here(Path.cwd()), boundaries(Path.cwd(), record)
        give("\n".join(final_lines(record, len(made), here)))
    return status


def _warn(text: str) -> None:
    say(f"warning: {text}")
