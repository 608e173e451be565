"""What `loop new` and `loop resume` share about recordings: options, files, what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from pytest_reflex.agents.recorder import Recorder
from pytest_reflex.agents.replay import ReplayRouter
from pytest_reflex.cli.streams import say
from pytest_reflex.errors import UsageError

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.overview import Run
    from pytest_reflex.host import Host


class Tape(TypedDict):
    """The recordings of a run, as `employ` takes them."""

    replay: str | None
    recorder: Recorder | None


def recording_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `new` that make a recording or play one."""
    for option in (
        click.option("--replay", metavar="FILE", help="Answer all steps from a recording."),
        click.option("--record", metavar="FILE", help="Record all calls of agents in a new file."),
    ):
        command = option(command)
    return command


def recorder_of(record: str, replay: str | None, agents: tuple[str, ...]) -> Recorder | None:
    """Return what records a new run, if anything; raises UsageError for options at odds."""
    if replay and agents:
        raise UsageError("--replay answers all steps: leave --agent out")
    return Recorder.planned(record, Path.cwd()) if record else None


def tape_of(run: Run) -> Tape:
    """Return what an interrupted run was played from and goes on being recorded by.

    A recording that is gone is reported, and the run goes on without it.
    """
    setup = run.state.setup
    tape = Tape(replay=setup.get("replay"), recorder=None)
    if record := setup.get("record"):
        recorder = Recorder(template=record, project=Path.cwd())
        if warning := recorder.go_on(run.alias, run.state.run_id):
            say(warning)
        else:
            tape["recorder"] = recorder
    return tape


@contextmanager
def taped(host: Host) -> Iterator[None]:
    """Close the recording in the end, and tell which calls of a replayed one were not used."""
    plugins = [plugin for _, plugin in host.manager.list_name_plugin()]
    try:
        yield
        for plugin in plugins:
            if isinstance(plugin, ReplayRouter):
                _tell_unused(plugin)
    finally:
        for plugin in plugins:
            if isinstance(plugin, Recorder):
                plugin.close()


def _tell_unused(replay: ReplayRouter) -> None:
    unused = replay.agent.unused()
    if unused:
        count = f"{len(unused)} recorded call{'s' if len(unused) > 1 else ''}"
        say(f"replay: {count} not used, the first is {unused[0]}")
