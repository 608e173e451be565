"""``pytest-reflex iterate run`` and ``resume``: the verbs that drive a procedure to its end."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.iterate_names import procedure_argument
from pytest_reflex.cli.iterate_options import driving_options, options_of, settings_of
from pytest_reflex.cli.options import events_option
from pytest_reflex.cli.parsing import OwnOptions
from pytest_reflex.cli.streams import say
from pytest_reflex.errors import StateError
from pytest_reflex.process.signals import Interruptions
from pytest_reflex.settings import Settings

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.events import DriverEvent, Listener
    from pytest_reflex.drivers.iterate.model import State
    from pytest_reflex.drivers.iterate.opening import Options
    from pytest_reflex.drivers.iterate.sitting import Begin
    from pytest_reflex.drivers.iterate.work import Work


@click.command(cls=OwnOptions, short_help="Run a procedure, iteration after iteration.")
@procedure_argument()
@click.option("--fresh", is_flag=True, help="Begin anew where a run was interrupted.")
@events_option
@driving_options()
def run(procedure: str, fresh: bool, **given: Any) -> int:
    """Run PROCEDURE: each iteration gives its prompt to a fresh process of the AI tool.

    Exit status: 0 limit reached or success signal, 2 stopped by `iterate stop`, 6 limit reached by
    a failed iteration, 16 too many failures in a row, 7 nothing changes, 8 wall time or budget, 9 a
    limit of the tool, 11 driven by another process, 14 a person is needed, 129, 130, 131 and 143
    interrupted (see `resume`).
    """
    from pytest_reflex.cli.display import opened
    from pytest_reflex.drivers.iterate.procedures import check_name
    from pytest_reflex.drivers.iterate.sitting import begin_new

    options = options_of(given)
    settings = settings_of(given, options)
    check_name(procedure, settings)
    if given["dry_run"]:
        return _show(procedure, options, settings)
    if not fresh and _goes_on(procedure, _root(settings)):
        return _go_on(procedure, given, reset_failures=False)
    with opened(given["events"]) as log:
        work = _work(procedure, options, settings)
        return _drive(work, begin_new(work, options, fresh=fresh), settings, given, log)


@click.command(cls=OwnOptions, short_help="Continue a run that was interrupted or aborted.")
@procedure_argument(wanted="resumable")
@click.option("--reset-failures", is_flag=True, help="Count failures from 0 again.")
@events_option
@driving_options(adds=True)
def resume(procedure: str, reset_failures: bool, **given: Any) -> int:
    """Continue the run of PROCEDURE; the iteration that was interrupted is run again.

    Limits, tool, contexts and prompts are those with which it was begun, unless they are given.
    """
    return _go_on(procedure, given, reset_failures=reset_failures)


def _go_on(procedure: str, given: dict[str, Any], *, reset_failures: bool) -> int:
    from pytest_reflex.cli.display import opened
    from pytest_reflex.drivers.iterate import opening
    from pytest_reflex.drivers.iterate.procedures import check_name
    from pytest_reflex.drivers.iterate.sitting import begin_again
    from pytest_reflex.drivers.iterate.statefile import read_state

    check_name(procedure, configured())
    found = read_state(_root(configured()), procedure)
    if found is None:
        raise opening.nothing_to_resume(procedure)
    before = opening.Options.from_json(found.options)
    now = {**configured()["iterate.budget"], **before.budget}
    options = options_of(given, now).over(before)
    settings = settings_of(given, options, found)
    if given["dry_run"]:
        return _show(procedure, options, settings, found)
    with opened(given["events"]) as log:
        work = _work(procedure, options, settings)
        begin = begin_again(work, options, reset_failures=reset_failures)
        return _drive(work, begin, settings, given, log)


def _root(settings: Settings) -> Path:
    return Path.cwd() / str(settings["iterate.root"])


def _work(procedure: str, options: Options, settings: Settings) -> Work:
    from pytest_reflex.drivers.iterate.setup import prepare
    from pytest_reflex.host import open_host

    host = open_host(settings["plugins"], Path.cwd())
    return prepare(procedure, options, settings=settings, host=host, project=Path.cwd())


def _show(procedure: str, options: Options, settings: Settings, found: State | None = None) -> int:
    """Show what an iteration would be given; nothing is written, nothing is run."""
    from pytest_reflex.cli.dry_run import show_iteration

    return show_iteration(procedure, options, settings, found)


def _goes_on(procedure: str, root: Path) -> bool:
    """Return whether an interrupted run is to go on: asked on a terminal, elsewhere refused."""
    from pytest_reflex.drivers.iterate.opening import is_unfinished, unfinished
    from pytest_reflex.drivers.iterate.statefile import is_driven, read_state

    try:
        found = read_state(root, procedure)
    except StateError:  # looked at again by whoever holds the lock
        return False
    if found is None or not is_unfinished(found) or is_driven(root, procedure):
        return False
    refusal = unfinished(found)
    if not sys.stdin.isatty():
        raise refusal
    say(f"{refusal.problems[0].message} (to begin anew: --fresh)")
    click.confirm("Go on with it?", default=True, abort=True, err=True)
    return True


def _drive(
    work: Work, begin: Begin, settings: Settings, given: dict[str, Any], log: Listener
) -> int:
    """Drive the iterations, tell what happens on stderr, and return the exit status."""
    from pytest_reflex.cli.display import Display, warn
    from pytest_reflex.drivers.common.console import Progress, styled
    from pytest_reflex.drivers.iterate import sitting
    from pytest_reflex.drivers.iterate.log_record import Volume
    from pytest_reflex.drivers.iterate.telling import IterateView
    from pytest_reflex.reports.lines import plain

    interruptions = click.get_current_context().find_object(Interruptions) or Interruptions()
    display, view = Display(), IterateView(work.procedure.name)
    progress = Progress(view, leaving=lambda: bool(interruptions.received))
    as_json = settings["iterate.log_format"] == "json"
    volume = Volume.VERBOSE if given["verbose"] else Volume.NORMAL

    def tell(event: DriverEvent) -> None:
        log(event)
        progress.hear(event)

    with sitting.opened(
        work,
        begin,
        root=_root(settings),
        say=lambda text: display.say(text),
        warn=warn,
        listen=tell,
        as_json=as_json,
        volume=Volume.QUIET if given["quiet"] else volume,
        render=plain if as_json else styled,
        gate_done=view.gate_done,
    ) as loop:
        progress.say = loop.log.passing
        try:
            live = not (given["quiet"] or as_json)
            with display.showing(progress, live=live), closing(loop.events()) as happening:
                for event in happening:
                    tell(event)
            return loop.exit_code
        except KeyboardInterrupt:
            interruptions.deaf = True
            loop.interrupted()
            return interruptions.status()
