"""`pytest --reflex-loop`: from the options to the exit status, which is one of pytest's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, chdir, closing
from pathlib import Path

import pytest

from pytest_reflex.errors import LimitError, ReflexError, TamperedError, UsageError
from pytest_reflex.host import Host, employ, open_host
from pytest_reflex.loops.driver import ReflexLoop
from pytest_reflex.loops.setup import resumable
from pytest_reflex.model.words import Step, StopReason
from pytest_reflex.process.signals import interruptible
from pytest_reflex.settings import Settings, load
from pytest_reflex.settings.readers import budget_changes
from pytest_reflex.treeloop.child import Runner, Session
from pytest_reflex.treeloop.confirming import confirmed, refuse_unasked
from pytest_reflex.treeloop.files import KIND, TreeFiles
from pytest_reflex.treeloop.order import Order, chosen_agents, order_of, usual_agents
from pytest_reflex.treeloop.setup import (
    Equip,
    NothingToDoError,
    begin,
    runner_of,
    survey,
    take_up,
    watch_of,
)
from pytest_reflex.treeloop.steps import TreeSteps
from pytest_reflex.treeloop.telling import Teller

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
        with interruptible() as interruptions, chdir(order.root):
            teller.interruptions = interruptions
            if order.resume is not None:
                return _resume(order, teller)
            refuse_unasked(config)
            return _new(order, teller)
    except TamperedError as error:
        teller.note(str(error))
        return FAILED
    except ReflexError as error:
        raise pytest.UsageError(*map(str, error.problems)) from None
    except KeyboardInterrupt:
        return INTERRUPTED


def _new(order: Order, teller: Teller) -> int:
    settings = _settings(order)
    host, names = _host(settings, chosen_agents(order.agents, usual_agents(settings)))
    runner = Runner(
        arguments=order.arguments, cwd=order.cwd, seconds=settings["loop.session_timeout"]
    )
    session = runner.run()
    teller.show(session)
    try:
        found = survey(order, settings, session)
    except NothingToDoError:
        teller.say("The session passes already: nothing is left to do", colour="green")
        return PASSED
    except UsageError as error:
        if status := _own_status(session):
            teller.note(str(error))
            return status
        raise
    if names[Step.REFINE] == "offline" and not found.mendable:
        raise UsageError(
            "the agent offline can only apply fixes that rules of suites carry, and none does",
            hint="name an agent: --reflex-agent NAME",
        )
    by = confirmed(found, names, teller.say)
    equip = _equipment(host, names, lambda files: runner, teller)
    return _watch(
        begin(found, settings=settings, host=host, agents=names, by=by, equip=equip), teller
    )


def _own_status(session: Session) -> int:
    """Return the status of a first session that says by it what kept it from its rules."""
    own = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    return session.status if session.status in own else 0


def _resume(order: Order, teller: Teller) -> int:
    settings = _settings(order)
    run = resumable(order.root / settings["loop.root"], order.resume or order.alias)
    setup = run.state.setup
    if setup.get("kind") != KIND:
        raise UsageError(
            f"{run.alias!r} is no loop over a pytest session",
            hint=f"continue it with `pytest-reflex loop resume {run.alias}`",
        )
    recorded = tuple(setup["session"]["arguments"])
    if order.own_arguments and order.arguments != recorded:
        raise UsageError(
            f"the run {run.alias!r} was begun with these arguments: {' '.join(recorded)}",
            hint="leave them out: a resumed run keeps its own",
        )
    host, names = _host(settings, chosen_agents(order.agents, setup["agents"]))
    seconds = settings["loop.session_timeout"]
    equip = _equipment(host, names, lambda files: runner_of(files, seconds), teller)
    return _watch(take_up(run.folder, host=host, equip=equip), teller)


def _settings(order: Order) -> Settings:
    flags = {
        "loop.max_iterations": order.max_iterations,
        "loop.budget": budget_changes(order.budgets) or None,
    }
    return load(order.root, flags)


def _host(settings: Settings, wanted: Mapping[str, str]) -> tuple[Host, Mapping[Step, str]]:
    host = open_host(settings["plugins"], Path.cwd())
    return host, employ(host, settings, (), wanted)


def _equipment(
    host: Host,
    names: Mapping[Step, str],
    runner: Callable[[TreeFiles], Runner],
    teller: Teller,
) -> Equip:
    """Return what makes the hooks of a run, once its files are there."""

    def equip(files: TreeFiles) -> TreeSteps:
        return TreeSteps(
            hooks=host.hooks,
            runner=runner(files),
            watch=watch_of(files),
            files=files,
            offline=frozenset(s.value.lower() for s, name in names.items() if name == "offline"),
            tell=teller.note,
            show=teller.show,
        )

    return equip


def _watch(run: AbstractContextManager[ReflexLoop], teller: Teller) -> int:
    """Drive a run, tell what happens, and return the exit status."""
    with run as loop:
        teller.begin(loop)
        try:
            with closing(loop.events()) as events:
                for event in events:
                    teller.tell(event, loop)
        except KeyboardInterrupt:
            teller.interruptions.deaf = True
            teller.interrupted(loop.files.alias)
            return INTERRUPTED
        except LimitError as error:
            teller.note(error.problems[0].message)
            teller.interrupted(loop.files.alias)
            return INTERRUPTED
        teller.end(loop)
        stop = loop.state.stop
        if stop.reason is StopReason.USER_STOP:
            return INTERRUPTED
        return PASSED if stop.passed else FAILED
