"""The command line of a driver of one's own: ``sys.exit(main(MyDriver()))`` is a program of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import (
    agent_option,
    budget_option,
    events_option,
    json_option,
    max_iterations_option,
    now_option,
    reason_option,
    wait_option,
    wall_time_option,
)
from pytest_reflex.cli.root import run_group
from pytest_reflex.cli.runs import pause_and_name, show, watch_option
from pytest_reflex.cli.streams import give, say
from pytest_reflex.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.events import DriverEvent
    from pytest_reflex.drivers.common.record import DriverRecord, RunRow
    from pytest_reflex.drivers.common.running import Events, StepDriver
    from pytest_reflex.process.signals import Interruptions

_name = click.argument("name", metavar="RUN")


def main(driver: StepDriver, argv: list[str] | None = None) -> int:
    """Run the command line of a driver and return its exit status."""
    return run_group(lambda: _group(driver), argv, name=driver.name)


def _group(driver: StepDriver) -> click.Group:
    group = click.Group(
        driver.name,
        help=(driver.__doc__ or "").strip() or None,
        invoke_without_command=True,
        callback=_help,
    )
    for command in (_run, _resume, _status, _stop, _feedback):
        bound = click.Command(
            command.name,
            params=command.params,
            help=command.help,
            callback=_bind_driver(command, driver),
        )
        group.add_command(bound)
    return group


def _help() -> None:
    """Show what commands there are where none is given."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        give(context.get_help())


def _bind_driver(command: click.Command, driver: StepDriver) -> Callable[..., Any]:
    inner = command.callback
    assert inner is not None
    return lambda **given: inner(driver, **given)


def _limits(command: Callable[..., Any]) -> Callable[..., Any]:
    options: list[Any] = [
        max_iterations_option("; 0: no limit", kind=click.IntRange(min=0)),
        budget_option(adds=True),
        wall_time_option,
        agent_option,
        click.option("--json", "as_json", is_flag=True, help="Print the events as JSON lines."),
        events_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("run")
@_name
@click.option("--var", "pairs", multiple=True, metavar="K=V", help="A value for the driver.")
@click.option("--fresh", is_flag=True, help="Start over where a run can go on.")
@_limits
def _run(driver: StepDriver, name: str, pairs: tuple[str, ...], **given: Any) -> int:
    """Start a run and carry it to its end."""
    from pytest_reflex.drivers.common import running

    values = dict(pair.partition("=")[::2] for pair in pairs)
    shown, limits = _split_options(given)
    events = running.run(driver, name, given=values, say=_warn, **limits)
    return _drive(name, events, **shown)


@click.command("resume")
@_name
@_limits
def _resume(driver: StepDriver, name: str, **given: Any) -> int:
    """Continue a run that was interrupted, or has met a limit."""
    from pytest_reflex.drivers.common import running

    shown, limits = _split_options(given)
    events = running.resume(driver, name, say=_warn, **limits)
    return _drive(name, events, **shown)


def _split_options(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how the events are shown, and the limits of a run."""
    shown = {"as_json": given.pop("as_json"), "place": given.pop("events")}
    budget = ",".join(given.pop("budgets")) or None
    return shown, {**given, "budget": budget}


def _drive(name: str, events: Events, *, as_json: bool, place: str | None) -> int:
    from pytest_reflex.model.plain import visible_json

    def line(event: DriverEvent) -> str:
        return visible_json(event.to_json()) if as_json else _event_text(event)

    return follow(events, place, line, resume=f"resume {name}")[0]


def follow(
    events: Events, place: str | None, line: Callable[[DriverEvent], str], *, resume: str
) -> tuple[int, bool]:
    """Drive a run, log its events at `place` and print a line of each, unless it is empty.

    Returns the exit status, and whether the run was interrupted; `resume` is how it goes on then.
    """
    from pytest_reflex.cli.display import open_event_log, takes_stdout
    from pytest_reflex.drivers.common.events import DriverEventKind

    interruptions: Interruptions = click.get_current_context().obj
    status = int(ExitCode.OK)
    try:
        with open_event_log(place) as log:
            for event in events:
                log(event)
                if not takes_stdout(place) and (text := line(event)):
                    give(text)
                if event.kind is DriverEventKind.STOPPED:
                    status = event.fields["exit_code"]
    except KeyboardInterrupt:
        interruptions.deaf = True
        events.close()
        say(f"Interrupted. The state is saved; go on with: {resume}")
        return interruptions.status(), True
    return status, False


def _event_text(event: DriverEvent) -> str:
    from pytest_reflex.model.plain import one_line

    fields = {key: value for key, value in event.fields.items() if key not in ("step", "seconds")}
    given = {key: value for key, value in fields.items() if value or type(value) is int}
    words = [f"{key}={value}" for key, value in given.items()]
    what = [event.kind.value, event.fields.get("step", ""), *words]
    return one_line(f"[{event.iteration}] {' '.join(filter(None, what))}", 500)


def _warn(text: str) -> None:
    say(f"warning: {text}")


@click.command("status")
@_name
@json_option
@watch_option("no process is running it")
def _status(driver: StepDriver, name: str, as_json: bool, watch: str | None) -> int:
    """Show where a run stands."""
    from pytest_reflex.drivers.common.record_file import RunFile

    files = RunFile(Path.cwd(), driver.name, name)
    return show(
        lambda: (files.row(), files.load()),  # the end is saved before the lock is released
        text=lambda seen: _text(*seen),
        document=lambda seen: seen[1].status_json(seen[0].driven),
        goes_on=lambda seen: seen[0].driven,
        pause=pause_and_name(watch, name)[0],
        as_json=as_json,
    )


def _text(row: RunRow, record: DriverRecord) -> str:
    from pytest_reflex.reports.runs import status_text

    ended = f"{record.reason}{': ' if record.detail else ''}{record.detail}"
    return status_text(
        "Run",
        {**row.to_json(), "status": record.display_status(row.driven)},
        first=[("Driver", record.driver), ("Ended", ended)],
        spend=row.spend,
        budget=record.budget,
        feedback=len(record.feedback),
    )


@click.command("stop")
@_name
@reason_option
@now_option
@wait_option
def _stop(driver: StepDriver, name: str, reason: str | None, now: bool, wait: float) -> int:
    """Ask the process of a run to stop before its next step."""
    from pytest_reflex.drivers.common.record_file import RunFile

    files = RunFile(Path.cwd(), driver.name, name)
    ended = files.stop(reason or "", now=now, wait=wait)
    give(f"{name} has ended." if ended else f"{name} was asked to stop.")
    return ExitCode.LOCKED if wait and not ended else ExitCode.OK


@click.command("feedback")
@_name
@click.argument("text")
@wait_option
def _feedback(driver: StepDriver, name: str, text: str, wait: float) -> int:
    """Say what the next step has to take into account."""
    from pytest_reflex.drivers.common.record_file import RunFile

    if not text.strip():
        raise UsageError("the feedback is empty")
    taken = RunFile(Path.cwd(), driver.name, name).give_feedback(text, wait=wait)
    give(f"Recorded; {name} has it." if taken else f"Recorded; {name} has it at its next step.")
    return ExitCode.OK
