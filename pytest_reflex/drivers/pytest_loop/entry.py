"""`pytest --reflex-loop`: from the options to the exit status, and its recording.

Limits: what a tool changes in files itself is in the history and not in the recording, so only a
tool that answers with texts can be replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, chdir, closing
from dataclasses import replace
from pathlib import Path

import click
import pytest

from pytest_reflex.agents.recorder import Recorder
from pytest_reflex.drivers.common.console import Progress
from pytest_reflex.drivers.common.events import STDOUT, DriverEvent, Listener, event_log
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.pytest_loop.child import Runner, Session
from pytest_reflex.drivers.pytest_loop.console_reporter import ConsoleReporter
from pytest_reflex.drivers.pytest_loop.files import open_run, project_of
from pytest_reflex.drivers.pytest_loop.loop_options import (
    LoopOptions,
    choose_agents,
    options_of,
    usual_agents,
)
from pytest_reflex.drivers.pytest_loop.setup import Equip, begin, runner_of, take_up, watch_of
from pytest_reflex.drivers.pytest_loop.steps import TreeSteps, has_refining_plugin
from pytest_reflex.drivers.pytest_loop.survey import (
    NothingToDoError,
    by_terminal,
    confirm,
    refuse_unasked,
    survey,
)
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.extend import ExtendRequest, extend_limits
from pytest_reflex.drivers.reflex.run_status import (
    NOT_VERIFIED,
    RunOverview,
    find_interrupted,
    find_run,
)
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.statefile import is_of_session
from pytest_reflex.drivers.reflex.view import LoopView
from pytest_reflex.errors import LimitError, PausedError, ReflexError, TamperedError, UsageError
from pytest_reflex.host import Host, open_host, register_agents
from pytest_reflex.integrity.project import STATE, ProjectTree
from pytest_reflex.model.enums import Step
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus, StopReason, is_extendable
from pytest_reflex.process.bytecode import bytecode_of, loaded_sources
from pytest_reflex.process.deadline import interval_timer
from pytest_reflex.process.signals import interruptible
from pytest_reflex.reports.run_lines import allow_text, extend_command
from pytest_reflex.settings import Settings, load
from pytest_reflex.settings.readers import budget_changes


def recorder_of(settings: Settings, root: Path) -> Recorder | None:
    """Return what records a new run, if `loop.record` asks for it; raises UsageError."""
    template = settings["loop.record"]
    return Recorder.prepare(template, root) if template else None


def recorder_again(state: RunState, root: Path) -> tuple[Recorder | None, str]:
    """Return what goes on recording a run, or a warning where its recording is gone."""
    template = state.setup.get("record")
    if not template:
        return None, ""
    recorder = Recorder(template=template, project=root)
    warning = recorder.go_on(state.alias, state.run_id)
    return (None, warning) if warning else (recorder, "")


def close_recording(host: Host) -> None:
    """Let go of the recording of a run that is left."""
    for _, plugin in host.manager.list_name_plugin():
        if isinstance(plugin, Recorder):
            plugin.close()


PASSED, FAILED, INTERRUPTED = (
    int(pytest.ExitCode.OK),
    int(pytest.ExitCode.TESTS_FAILED),
    int(pytest.ExitCode.INTERRUPTED),
)


def drive(config: pytest.Config) -> int:
    """Run the loop that the options ask for, and return the exit status.

    Raises pytest.UsageError for what is the user's error, KeyboardInterrupt where no run is begun.
    """
    try:
        options = options_of(config)
        console = ConsoleReporter(
            verbose=options.verbose,
            quiet=options.quiet,
            color=options.color,
            no_stdout=options.events == STDOUT,
        )
        with interruptible() as interruptions, chdir(options.root), _log(options, console) as log:
            console.interruptions = interruptions
            if options.resume is not None:
                return _resume(config, options, console, log)
            return _new(config, options, console, log)
    except TamperedError as error:
        console.note(str(error))
        return FAILED
    except ReflexError as error:
        raise pytest.UsageError(*(escape_control(str(one)) for one in error.problems)) from None


def _log(options: LoopOptions, console: ConsoleReporter) -> AbstractContextManager[Listener]:
    return event_log(options.events, flag="--reflex-events", out=click.echo, warn=console.note)


def _new(
    config: pytest.Config, options: LoopOptions, console: ConsoleReporter, log: Listener
) -> int:
    settings = _settings(options, console)
    wanted = choose_agents(options.agents, usual_agents(settings))
    host, names = _host(settings, wanted, recorder_of(settings, options.root))
    runner = Runner(
        arguments=options.arguments,
        cwd=options.cwd,
        seconds=settings["loop.session_timeout"],
        bytecode=bytecode_of(loaded_sources(), options.root),
    )
    own = own_paths(options.root, options.root / settings["loop.root"])
    before = ProjectTree(options.root, (*STATE, *own)).take()
    session = console.first(runner)
    # No agent was called until now: what lies about is what was compiled for this person.
    runner = replace(runner, bytecode=bytecode_of(session.loaded, options.root))
    try:
        found = survey(options, settings, session, before.changes())
    except NothingToDoError:
        console.say("The session passes already: nothing is left to do", "done")
        return PASSED
    except UsageError as error:
        if status := _own_status(session):
            console.note(str(error))
            return status
        raise
    if names[Step.REFINE] == "offline" and not (found.fixable or has_refining_plugin(host)):
        raise UsageError(
            "the agent offline can only apply fixes that rules of suites carry, and none does",
            hint="name an agent: --reflex-agent NAME",
        )
    refuse_unasked(config)
    by = confirm(found, names, console.say)
    equip = _equipment(host, names, lambda files: runner, console)
    run = begin(found, settings=settings, host=host, agents=names, by=by, equip=equip)
    return _watch(run, host, console, log)


def _own_status(session: Session) -> int:
    """Return the status of a first session that says by it what kept it from its rules."""
    own = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    return session.status if session.status in own else 0


def _resume(
    config: pytest.Config, options: LoopOptions, console: ConsoleReporter, log: Listener
) -> int:
    settings = _report_unknown_keys(load(options.root), console)
    root = options.root / settings["loop.root"]
    name = options.resume or options.alias or find_interrupted(root, of_session=True)
    run = find_run(root, name)
    setup = run.state.setup
    if not is_of_session(run.state):
        raise UsageError(
            f"{run.alias!r} is not a loop over a pytest session",
            hint=f"go on with `pytest-reflex loop resume {run.alias}`",
        )
    recorded = tuple(setup["session"]["arguments"])
    if options.own_arguments and options.arguments != recorded:
        raise UsageError(
            f"the run {run.alias!r} was begun with these arguments: {' '.join(recorded)}",
            hint="leave them out: a resumed run keeps its own",
        )
    more, by = _more(config, options, run, console)
    recorder, warning = recorder_again(run.state, options.root)
    if warning:
        console.note(warning)
    host, names = _host(settings, choose_agents(options.agents, setup["agents"]), recorder)
    seconds = settings["loop.session_timeout"]
    equip = _equipment(host, names, lambda files: runner_of(files, seconds), console)
    again = take_up(
        run.folder,
        host=host,
        equip=equip,
        agents=names,
        more=more,
        by=by,
        accept_changes=options.accept_changes,
    )
    return _watch(again, host, console, log)


def _more(
    config: pytest.Config, options: LoopOptions, run: RunOverview, console: ConsoleReporter
) -> tuple[ExtendRequest | None, str]:
    """Return what a run that had ended may go on with, and how that was confirmed."""
    state, given = run.state, bool(options.max_iterations or options.budgets or options.allow)
    ended = state.stop.to_json()["reason"]
    if state.status is RunStatus.RUNNING:
        if given:
            raise UsageError(f"loop {run.alias!r} has not ended: its limits stay as they are")
        return None, ""
    if not run.alive:  # killed after its last event, its files may not have followed
        open_run(run.folder).close()
    if not given:
        hint = "begin a new loop"
        if state.stop.offered:
            hint = allow_text(state, of_session=True)
        elif is_extendable(state.stop.reason):
            hint = f"let it go on with `{extend_command(state, of_session=True)}`"
        claimed = f", {NOT_VERIFIED}" if run.verified is False else ""
        raise UsageError(f"loop {run.alias!r} has ended ({ended}{claimed})", hint=hint)
    more = ExtendRequest(
        max_iterations=options.max_iterations, budget=options.budgets, allow=options.allow
    )
    limits = extend_limits(state, more)
    refuse_unasked(config)
    budget = ", ".join(f"{key} {amount:g}" for key, amount in limits.budget.items()) or "none"
    console.say(
        f"Loop {escape_control(run.alias)} ({ended}) goes on after iteration {state.iteration}"
    )
    console.say(f"Max iterations: {limits.max_iterations}\nBudget: {budget}\n")
    return more, "--reflex-yes" if options.yes else by_terminal("Go on within these limits?")


def _settings(options: LoopOptions, console: ConsoleReporter) -> Settings:
    flags = {
        "loop.max_iterations": options.max_iterations,
        "loop.budget": budget_changes(options.budgets) or None,
        "loop.may_change": list(options.may_change) or None,
    }
    return _report_unknown_keys(load(options.root, flags, option="--reflex-"), console)


def _report_unknown_keys(settings: Settings, console: ConsoleReporter) -> Settings:
    """Report unknown keys of the configuration, and return the settings."""
    for problem in settings.unknown:
        console.note(f"warning: {problem}")
    return settings


def _host(
    settings: Settings, wanted: Mapping[str, str], recorder: Recorder | None
) -> tuple[Host, Mapping[Step, str]]:
    host = open_host(settings["plugins"], Path.cwd())
    return host, register_agents(host, settings, (), wanted, recorder=recorder, judge="")


def _equipment(
    host: Host,
    names: Mapping[Step, str],
    runner: Callable[[RunFiles], Runner],
    console: ConsoleReporter,
) -> Equip:
    """Return what makes the hooks of a run, once its files are there."""

    def equip(files: RunFiles) -> TreeSteps:
        return TreeSteps(
            runner=runner(files),
            watch=watch_of(project_of(files)),
            files=project_of(files),
            offline=frozenset(s.value.lower() for s, name in names.items() if name == "offline"),
            begin=console.begin_session,
            show=console.show,
        )

    return equip


def _watch(
    run: AbstractContextManager[ReflexLoop], host: Host, console: ConsoleReporter, log: Listener
) -> int:
    """Drive a run, report what happens, and return the exit status."""
    with run as loop, ExitStack() as at_end:
        at_end.callback(close_recording, host)
        console.begin(loop)
        progress = Progress(LoopView(loop), say=None if console.quiet else console.say)

        def report(event: DriverEvent) -> None:
            log(event)
            progress.hear(event)
            console.report(event, loop)

        driven = replace(loop, listen=report).events()
        try:
            with interval_timer(progress.view.beat, progress.beat), closing(driven) as events:
                for event in events:
                    report(event)
        except KeyboardInterrupt:
            console.interruptions.deaf = True
            console.report_interrupt(loop.files.alias)
            return INTERRUPTED
        except LimitError as error:
            console.note(error.problems[0].message)
            console.report_interrupt(loop.files.alias)
            return INTERRUPTED
        except PausedError as error:
            console.note(str(error))
            return INTERRUPTED
        except TamperedError:  # its history cannot say so itself
            if loop.state.status is not RunStatus.RUNNING:
                console.end(loop)
            raise
        console.end(loop)
        stop = loop.state.stop
        if stop.reason is StopReason.USER_STOP:
            return INTERRUPTED
        return PASSED if stop.passed else FAILED
