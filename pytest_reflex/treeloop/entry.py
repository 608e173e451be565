"""`pytest --reflex-loop`: from the options to the exit status, which is one of pytest's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, chdir, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from pytest_reflex.errors import ReflexError, TamperedError, UsageError
from pytest_reflex.host import Host, employ, open_host
from pytest_reflex.loops.driver import ReflexLoop
from pytest_reflex.loops.setup import resumable
from pytest_reflex.model.words import Step, StopReason
from pytest_reflex.reports.proposal import proposal_text
from pytest_reflex.settings import Settings, load
from pytest_reflex.settings.readers import budget_changes
from pytest_reflex.treeloop.child import Runner
from pytest_reflex.treeloop.files import KIND, TreeFiles
from pytest_reflex.treeloop.order import Order, agents_by_step, order_of
from pytest_reflex.treeloop.setup import (
    NothingToDoError,
    Survey,
    begin,
    runner_of,
    survey,
    take_up,
    watch_of,
)
from pytest_reflex.treeloop.steps import TreeSteps
from pytest_reflex.treeloop.telling import Teller, proposal_lines

PASSED, FAILED, INTERRUPTED = (
    int(pytest.ExitCode.OK),
    int(pytest.ExitCode.TESTS_FAILED),
    int(pytest.ExitCode.INTERRUPTED),
)


def drive(config: pytest.Config) -> int:
    """Run the loop that the options ask for, and return the exit status.

    Raises pytest.UsageError for what is the user's fault.
    """
    try:
        order = order_of(config)
        teller = Teller(verbose=order.verbose, quiet=order.quiet, color=order.color)
        with chdir(order.root):
            if order.resume is not None:
                return _resume(order, teller)
            return _new(order, teller, partial(_ask, config))
    except TamperedError as error:
        sys.stdout.write(f"{error}\n")
        return FAILED
    except ReflexError as error:
        raise pytest.UsageError(*map(str, error.problems)) from None


def _new(order: Order, teller: Teller, ask: Callable[[], bool]) -> int:
    settings = _settings(order)
    wanted = agents_by_step(order.agents, settings.values)
    host, names = _host(settings, wanted)
    runner = Runner(
        arguments=order.arguments, cwd=order.cwd, seconds=settings["loop.session_timeout"]
    )
    session = runner.run()
    try:
        found = survey(order, settings, session)
    except NothingToDoError:
        teller.show(session)
        teller.say("The session passes already: nothing is left to do.", colour="green")
        return PASSED
    except UsageError:
        teller.show(session)
        raise
    by = _confirmed(found, names, teller, ask)
    equip = _equipment(host, names, runner, teller)
    run = begin(found, settings=settings, host=host, agents=names, by=by, equip=equip)
    return _watch(run, teller)


def _resume(order: Order, teller: Teller) -> int:
    settings = _settings(order)
    run = resumable(order.root / settings["loop.root"], order.resume or order.alias)
    if run.state.setup.get("kind") != KIND:
        raise UsageError(
            f"{run.alias!r} is no loop over a pytest session",
            hint=f"continue it with `pytest-reflex loop resume {run.alias}`",
        )
    recorded = tuple(run.state.setup["session"]["arguments"])
    if order.own_arguments and order.arguments != recorded:
        raise UsageError(
            f"the run {run.alias!r} was begun with other arguments: {' '.join(recorded)}",
            hint="leave them out: a resumed run keeps its own",
        )
    wanted = {**run.state.setup["agents"]}
    if order.agents:
        wanted |= agents_by_step(order.agents, {**settings.values, "loop.agents": wanted})
    host, names = _host(settings, wanted)
    equip = _equipment(host, names, None, teller, settings["loop.session_timeout"])
    return _watch(take_up(run.folder, host=host, equip=equip), teller)


def _settings(order: Order) -> Settings:
    return load(
        order.root,
        {
            "loop.max_iterations": order.max_iterations,
            "loop.budget": budget_changes(order.budgets) or None,
        },
    )


def _host(settings: Settings, wanted: Mapping[str, str]) -> tuple[Host, Mapping[Step, str]]:
    host = open_host(settings["plugins"], Path.cwd())
    return host, employ(host, settings, (), wanted)


def _equipment(
    host: Host,
    names: Mapping[Step, str],
    runner: Runner | None,
    teller: Teller,
    seconds: float = 0,
) -> Callable[[TreeFiles], TreeSteps]:
    """Return what makes the hooks of a run, once its files are there."""

    def equip(files: TreeFiles) -> TreeSteps:
        return TreeSteps(
            hooks=host.hooks,
            runner=runner or runner_of(files, seconds),
            watch=watch_of(files),
            files=files,
            offline=frozenset(s.value.lower() for s, name in names.items() if name == "offline"),
            tell=teller.note,
            show=teller.show,
        )

    return equip


def _confirmed(
    found: Survey, names: Mapping[Step, str], teller: Teller, ask: Callable[[], bool]
) -> str:
    """Show criteria, limits and files, and return how they were confirmed; raises UsageError."""
    if names[Step.REFINE] == "offline" and not found.mendable:
        raise UsageError(
            "the agent offline can only apply fixes that rules of suites carry, and none does",
            hint="name an agent: --reflex-agent NAME",
        )
    order = found.order
    if not (order.quiet and order.yes):
        teller.show(found.session)
        teller.say(proposal_text(found.criteria, found.limits, names))
        teller.say(proposal_lines(found.limits, found.territory.patterns, found.warnings))
    if order.yes:
        return "--reflex-yes"
    if not ask():
        raise UsageError("criteria and limits were not confirmed", hint="nothing was written")
    return "terminal"


def _ask(config: pytest.Config) -> bool:
    """Ask on the terminal; raises UsageError where there is none."""
    with _without_capture(config):
        if not sys.stdin.isatty():
            raise UsageError(
                "criteria and max iterations are not confirmed, and there is no terminal to ask on",
                hint="add --reflex-yes; nothing was written",
            )
        return click.confirm("Start the loop with these criteria and limits?")


@contextmanager
def _without_capture(config: pytest.Config) -> Iterator[None]:
    """Have the real standard input back while a question is asked."""
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    if capture is None:
        yield
        return
    capture.suspend_global_capture(in_=True)
    yield


def _watch(run: AbstractContextManager[ReflexLoop], teller: Teller) -> int:
    """Drive a run, tell what happens, and return the exit status."""
    with run as loop:
        for path in loop.files.aside:
            teller.note(f"Recovered; what could not be read is kept as {path.name}")
        try:
            with closing(loop.events()) as events:
                for event in events:
                    teller.tell(event, loop)
        except KeyboardInterrupt:
            teller.interrupted(loop.files.alias)
            return INTERRUPTED
        teller.end(loop)
        if loop.state.stop.reason is StopReason.USER_STOP:
            return INTERRUPTED
        return PASSED if loop.state.stop.passed else FAILED
