"""``pytest-reflex flow stop`` and ``feedback``: what a person does to a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.options import now_option, reason_option, wait_option
from pytest_reflex.cli.streams import give
from pytest_reflex.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.record_file import RunFile


def run_named(name: str | None) -> RunFile:
    """Return the run of a name, or the only one that is not finished; raises UsageError."""
    from pytest_reflex.drivers.flow.opening import unfinished
    from pytest_reflex.drivers.flow.run_file import FlowRunFile

    if name is None:
        waiting = unfinished(Path.cwd())
        if len(waiting) != 1:
            if not waiting:
                raise UsageError("there is no run that has not ended", hint="flow run TASK")
            hint = "name one of: " + ", ".join(waiting)
            raise UsageError(f"{len(waiting)} runs are not finished", hint=hint)
        name = waiting[0]
    files = FlowRunFile(Path.cwd(), name)
    files.found()
    return files


@click.command("stop", short_help="Ask a run to stop.")
@click.argument("name", metavar="RUN", required=False)
@reason_option
@now_option
@wait_option
def stop(name: str | None, reason: str | None, now: bool, patience: float) -> int:
    """Ask the process that drives RUN to stop before its next step."""
    files = run_named(name)
    ended = files.stop(reason or "", now=now, patience=patience)
    give(f"{files.run} has ended." if ended else f"{files.run} was asked to stop.")
    return ExitCode.LOCKED if patience and not ended else ExitCode.OK


@click.command("feedback", short_help="Say what the next decision has to take into account.")
@click.argument("text")
@click.option("--run", "name", metavar="RUN", help="The run that is meant.")
@wait_option
def feedback(text: str, name: str | None, patience: float) -> int:
    """Hand TEXT to the agent that is asked next."""
    if not text.strip():
        raise UsageError("the feedback is empty")
    files = run_named(name)
    taken = files.give_feedback(text, patience=patience)
    give(f"Recorded; {files.run} has it." if taken else f"Recorded; {files.run} has it next.")
    return ExitCode.OK
