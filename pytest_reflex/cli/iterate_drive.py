"""``pytest-reflex iterate run`` and ``resume``: the verbs that drive a procedure to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.given import OwnOptions
from pytest_reflex.cli.iterate_names import procedure_argument
from pytest_reflex.cli.iterate_options import driving_options, options_of, settings_of
from pytest_reflex.cli.streams import say
from pytest_reflex.errors import StateError
from pytest_reflex.process.signals import Interruptions
from pytest_reflex.settings import Settings

if TYPE_CHECKING:
    from pytest_reflex.cli.iterate_view import Voice
    from pytest_reflex.drivers.common.snapshot import SnapshotFile
    from pytest_reflex.drivers.iterate.driver import Work
    from pytest_reflex.drivers.iterate.log import Log
    from pytest_reflex.drivers.iterate.logfile import LogFile
    from pytest_reflex.drivers.iterate.model import State
    from pytest_reflex.drivers.iterate.opening import Options
    from pytest_reflex.drivers.iterate.telling import Progress

# Returns the state to begin with, and whether it is that of a run that goes on.
Opening = Callable[["SnapshotFile[State]", "Work"], tuple["State", bool]]


@click.command(cls=OwnOptions, short_help="Run a procedure, round after round.")
@procedure_argument()
@click.option("--fresh", is_flag=True, help="Begin anew where a run was interrupted.")
@driving_options()
def run(procedure: str, fresh: bool, **given: Any) -> int:
    """Run PROCEDURE: each round gives its prompt to a fresh process of the AI tool.

    Exit status: 0 limit reached or success signal, 2 stopped by `iterate stop`, 6 limit reached by
    a failed round, 16 too many failures in a row, 7 nothing changes, 8 wall time or budget, 11
    driven by another process, 129, 130, 131 and 143 interrupted (see `resume`).
    """
    from pytest_reflex.drivers.iterate import driver, opening
    from pytest_reflex.drivers.iterate.procedures import check_name

    options = options_of(given)
    settings = settings_of(given, options)
    check_name(procedure, settings)
    if given["dry_run"]:
        return _show(procedure, options, settings, number=1)
    if not fresh and _goes_on(procedure, _root(settings)):
        return _go_on(procedure, given, reset_failures=False)

    def begin(file: SnapshotFile[State], work: Work) -> tuple[State, bool]:
        found = file.read()
        if found is not None and opening.is_unfinished(found) and not fresh:
            raise opening.unfinished(found)
        return opening.fresh(procedure, work.bounds, options, driver.utc_now()), False

    return _drive(procedure, options, settings, given, begin)


@click.command(cls=OwnOptions, short_help="Continue a run that was interrupted or aborted.")
@procedure_argument(wanted="resumable")
@click.option("--reset-failures", is_flag=True, help="Count failures from 0 again.")
@driving_options(adds=True)
def resume(procedure: str, reset_failures: bool, **given: Any) -> int:
    """Continue the run of PROCEDURE; the round that was interrupted is run again.

    Limits, tool, contexts and prompts are those with which it was begun, unless they are given.
    """
    return _go_on(procedure, given, reset_failures=reset_failures)


def _go_on(procedure: str, given: dict[str, Any], *, reset_failures: bool) -> int:
    from pytest_reflex.drivers.iterate import opening
    from pytest_reflex.drivers.iterate.gate_start import refuse_other_gates, starts_from_json
    from pytest_reflex.drivers.iterate.procedures import check_name
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
        return _show(procedure, options, settings, number=found.iteration + 1)

    def begin(file: SnapshotFile[State], work: Work) -> tuple[State, bool]:
        now, reset = file.read(), reset_failures
        state = opening.taken_up(now, procedure, work.bounds, options, reset_failures=reset)
        refuse_other_gates(
            starts_from_json(state.gates_at_start, "gates_at_start"),
            work.gates.declared(),
            procedure,
        )
        return state, True

    return _drive(procedure, options, settings, given, begin)


def _root(settings: Settings) -> Path:
    return Path.cwd() / str(settings["iterate.root"])


def _work(procedure: str, options: Options, settings: Settings) -> Work:
    from pytest_reflex.drivers.iterate.setup import prepare
    from pytest_reflex.host import open_host

    host = open_host(settings["plugins"], Path.cwd())
    return prepare(procedure, options, settings=settings, host=host, project=Path.cwd())


def _show(procedure: str, options: Options, settings: Settings, *, number: int) -> int:
    """Show what a round would be given; nothing is written, nothing is run."""
    from pytest_reflex.cli.dry_run import show_iteration

    return show_iteration(procedure, options, settings, number=number)


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
    procedure: str, options: Options, settings: Settings, given: dict[str, Any], begin: Opening
) -> int:
    """Check everything, take the lock, and drive the rounds."""
    from pytest_reflex.cli.iterate_view import Voice
    from pytest_reflex.drivers.iterate.driver import IterationLoop
    from pytest_reflex.drivers.iterate.state import beyond_limit
    from pytest_reflex.drivers.iterate.statefile import state_file
    from pytest_reflex.drivers.iterate.telling import Progress
    from pytest_reflex.store.filesystem import lock_warning

    work, root = _work(procedure, options, settings), _root(settings)
    interruptions = click.get_current_context().find_object(Interruptions) or Interruptions()
    troubles: list[str] = []
    tell: list[Callable[[str], object]] = [troubles.append]
    with state_file(root, procedure, lambda text: tell[0](text)) as file:
        state, goes_on = begin(file, work)
        progress = Progress(procedure, leaving=lambda: bool(interruptions.received))
        voice = Voice(plain=_is_json(settings))
        log = _log(progress, voice, file=_log_file(root, state), settings=settings, given=given)
        tell[0] = log.error
        if goes_on:
            log.resuming(state, work.bounds)
        else:
            log.starting(work.bounds)
        if left := file.lease.end_leftovers():
            many = "1 process" if left == 1 else f"{left} processes"
            troubles.append(f"ended {many} that an earlier run had left behind")
        troubles += filter(None, [lock_warning(root), beyond_limit(state)])
        for text in troubles:
            log.warning(text)
        loop = IterationLoop(work, state=state, file=file, log=log, fresh=not goes_on)
        try:
            live = not (given["quiet"] or _is_json(settings))
            with voice.showing(progress, log, live=live):
                return loop.run()
        except KeyboardInterrupt:
            interruptions.deaf = True
            loop.interrupted()
            return interruptions.status()


def _log(
    progress: Progress,
    voice: Voice,
    *,
    file: LogFile,
    settings: Settings,
    given: dict[str, Any],
) -> Log:
    from pytest_reflex.drivers.iterate.log import Log, Volume
    from pytest_reflex.process.secrecy import secrets

    volume = Volume.VERBOSE if given["verbose"] else Volume.NORMAL
    return Log(
        progress.procedure,
        voice,
        as_json=_is_json(settings),
        volume=Volume.QUIET if given["quiet"] else volume,
        hidden=secrets(os.environ, os.environ, ()),
        file=file,
        progress=progress,
    )


def _log_file(root: Path, state: State) -> LogFile:
    from pytest_reflex.drivers.iterate.logfile import LogFile, log_path

    path = log_path(root, state.procedure_name, state.started_at)
    return LogFile(path, lambda text: say(f"pytest-reflex: warning: {text}"), root=root)


def _is_json(settings: Settings) -> bool:
    return bool(settings["iterate.log_format"] == "json")
