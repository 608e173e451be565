"""``pytest-reflex iterate run`` and ``resume``, and what they show between two lines of the log."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.groups import OwnOptions
from pytest_reflex.cli.iterate_options import (
    drive_options,
    options_of,
    procedure_argument,
    settings_of,
)
from pytest_reflex.cli.options import events_option, load_settings
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.common.console import DriverView, Progress, style_lines
from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.drivers.iterate.messages import RESUME, place_text, statistics_of
from pytest_reflex.errors import StateError
from pytest_reflex.process.signals import Interruptions
from pytest_reflex.reports.lines import Line, plain
from pytest_reflex.reports.run_lines import RunningStep, bar
from pytest_reflex.settings import Settings
from pytest_reflex.verdict.formatting import format_duration

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.events import DriverEvent, Listener
    from pytest_reflex.drivers.iterate.initial_state import IterateOptions
    from pytest_reflex.drivers.iterate.iteration_loop import Begin
    from pytest_reflex.drivers.iterate.model import State
    from pytest_reflex.drivers.iterate.run_config import RunConfig


_MARKS = 6


class IterateView(DriverView):
    """The view of a run: the log reports which gates of an iteration are done, events the rest."""

    beat = 60.0
    idle = "between two iterations"

    def __init__(self, procedure: str) -> None:
        self._procedure = procedure
        self.resume = f"{RESUME} {procedure}"
        self._failures = self._number = self._total = 0
        self._seconds: list[float] = []
        self._tones: list[str] = []
        self._acted: Mapping[str, object] = {}
        self._gates: list[str] = []

    def begins(self, event: DriverEvent) -> Mapping[str, str]:
        if "max_iterations" not in event.fields:  # an agent is given time
            return {}
        self._total, self._gates = event.fields["max_iterations"], []
        return {place_text(event.iteration, self._total): ""}

    def gate_done(self, name: str) -> None:
        """Learn that a gate of this iteration was tried."""
        self._gates.append(name)

    def hear(self, event: DriverEvent) -> None:
        fields = event.fields
        if event.kind is DriverEventKind.ACTED:
            self._acted = fields
        elif event.kind is DriverEventKind.ITERATION:
            self._number, self._failures = event.iteration, fields["failures"]
            good = self._acted["changed"] is not False and fields["outcome"] == "success"
            self._seconds.append(float(str(self._acted["seconds"])))
            failed = fields["outcome"] == "failure"
            self._tones.append("bad" if failed else "good" if good else "mild")

    def note(self) -> str:
        return f" · gates done: {', '.join(self._gates)}" if self._gates else ""

    def rows(self, run: str) -> list[Line]:
        failed = f" · {self._failures} failed in a row" if self._failures else ""
        return [
            [(f"  {self._procedure} · run {run}", ""), (failed, "bad")],
            [("  iterations ", ""), *self._trend()],
        ]

    def _trend(self) -> Line:
        """Return a bar and the time of each of the last iterations, the mean, and what is to
        come.
        """
        if not self._seconds:
            return [("none yet", "")]
        last = list(zip(self._seconds, self._tones, strict=True))[-_MARKS:]
        longest = max(seconds for seconds, _ in last) or 1.0
        line: Line = [("… ", "faint")] if len(self._seconds) > _MARKS else []
        line += [
            (f"{bar(seconds / longest)} {format_duration(seconds)} ", tone)
            for seconds, tone in last
        ]
        mean = statistics_of(self._seconds).mean
        left = self._total - self._number
        to_go = f", about {format_duration(mean * left)} to go" if self._total and left > 0 else ""
        return [*line, (f"mean {format_duration(mean)}{to_go}", "faint")]

    def goes_on(self, running: Sequence[RunningStep]) -> str:
        return ", ".join(
            f"{one.name} has been running for {format_duration(one.seconds)}" for one in running
        )


@click.command(cls=OwnOptions, short_help="Run a procedure, iteration after iteration.")
@procedure_argument()
@click.option("--fresh", is_flag=True, help="Start over where a run was interrupted.")
@events_option
@drive_options()
def run(procedure: str, fresh: bool, **given: Any) -> int:
    """Run PROCEDURE: each iteration gives its prompt to a fresh process of the AI tool.

    Exit status: 0 limit reached or success signal, 2 stopped by `iterate stop`, 6 limit reached by
    a failed iteration, 16 too many failures in a row, 7 nothing changes, 8 wall time or budget, 9 a
    limit of the tool, 11 another process runs it, 14 a person is needed, 129, 130, 131 and 143
    interrupted (see `resume`).
    """
    from pytest_reflex.cli.display import open_event_log
    from pytest_reflex.drivers.iterate.iteration_loop import begin_new
    from pytest_reflex.drivers.iterate.procedures import check_name

    options = options_of(given)
    settings = settings_of(given, options)
    check_name(procedure, settings)
    if given["dry_run"]:
        return _show(procedure, options, settings)
    if not fresh and _goes_on(procedure, _root(settings)):
        return _go_on(procedure, given, reset_failures=False)
    with open_event_log(given["events"]) as log:
        work = _work(procedure, options, settings)
        return _drive(work, begin_new(work, options, fresh=fresh), settings, given, log)


@click.command(cls=OwnOptions, short_help="Continue a run that was interrupted or aborted.")
@procedure_argument(wanted="resumable")
@click.option("--reset-failures", is_flag=True, help="Count failures from 0 again.")
@events_option
@drive_options(adds=True)
def resume(procedure: str, reset_failures: bool, **given: Any) -> int:
    """Continue the run of PROCEDURE; the iteration that was interrupted is run again.

    Limits, tool, contexts and prompts are those with which it was begun, unless they are given.
    """
    return _go_on(procedure, given, reset_failures=reset_failures)


def _go_on(procedure: str, given: dict[str, Any], *, reset_failures: bool) -> int:
    from pytest_reflex.cli.display import open_event_log
    from pytest_reflex.drivers.iterate import initial_state
    from pytest_reflex.drivers.iterate.iteration_loop import begin_again
    from pytest_reflex.drivers.iterate.procedures import check_name
    from pytest_reflex.drivers.iterate.state import read_state

    check_name(procedure, load_settings())
    found = read_state(_root(load_settings()), procedure)
    if found is None:
        raise initial_state.nothing_to_resume(procedure)
    before = initial_state.IterateOptions.from_json(found.options)
    now = {**load_settings()["iterate.budget"], **before.budget}
    options = options_of(given, now).over(before)
    settings = settings_of(given, options, found)
    if given["dry_run"]:
        return _show(procedure, options, settings, found)
    with open_event_log(given["events"]) as log:
        work = _work(procedure, options, settings)
        begin = begin_again(work, options, reset_failures=reset_failures)
        return _drive(work, begin, settings, given, log)


def _root(settings: Settings) -> Path:
    return Path.cwd() / str(settings["iterate.root"])


def _work(procedure: str, options: IterateOptions, settings: Settings) -> RunConfig:
    from pytest_reflex.drivers.iterate.setup import prepare
    from pytest_reflex.host import open_host

    host = open_host(settings["plugins"], Path.cwd())
    return prepare(procedure, options, settings=settings, host=host, project=Path.cwd())


def _show(
    procedure: str, options: IterateOptions, settings: Settings, found: State | None = None
) -> int:
    """Show what an iteration would be given; nothing is written, nothing is run."""
    from pytest_reflex.cli.dry_run import show_iteration

    return show_iteration(procedure, options, settings, found)


def _goes_on(procedure: str, root: Path) -> bool:
    """Return whether an interrupted run is to go on: asked on a terminal, elsewhere refused."""
    from pytest_reflex.drivers.iterate.initial_state import is_unfinished, unfinished_error
    from pytest_reflex.drivers.iterate.state import is_driven, read_state

    try:
        found = read_state(root, procedure)
    except StateError:  # read again under the lock
        return False
    if found is None or not is_unfinished(found) or is_driven(root, procedure):
        return False
    refusal = unfinished_error(found)
    if not sys.stdin.isatty():
        raise refusal
    say(f"{refusal.problems[0].message} (to start over: --fresh)")
    click.confirm("Go on with it?", default=True, abort=True, err=True)
    return True


def _drive(
    work: RunConfig, begin: Begin, settings: Settings, given: dict[str, Any], log: Listener
) -> int:
    """Drive the iterations, report what happens on stderr, and return the exit status."""
    from pytest_reflex.cli.display import Display, warn
    from pytest_reflex.drivers.iterate import iteration_loop
    from pytest_reflex.drivers.iterate.logfile import Verbosity

    interruptions = click.get_current_context().find_object(Interruptions) or Interruptions()
    display, view = Display(), IterateView(work.procedure.name)
    progress = Progress(view, leaving=lambda: bool(interruptions.received))
    as_json = settings["iterate.log_format"] == "json"
    volume = Verbosity.VERBOSE if given["verbose"] else Verbosity.NORMAL

    def report(event: DriverEvent) -> None:
        log(event)
        progress.hear(event)

    with iteration_loop.open_loop(
        work,
        begin,
        root=_root(settings),
        say=lambda text: display.say(text),
        warn=warn,
        listen=report,
        as_json=as_json,
        volume=Verbosity.QUIET if given["quiet"] else volume,
        render=plain if as_json else style_lines,
        gate_done=view.gate_done,
    ) as loop:
        progress.say = loop.log.report_unsaved
        try:
            live = not (given["quiet"] or as_json)
            with display.show(progress, live=live), closing(loop.events()) as happening:
                for event in happening:
                    report(event)
            return loop.exit_code
        except KeyboardInterrupt:
            interruptions.deaf = True
            loop.report_interrupt()
            return interruptions.status()
