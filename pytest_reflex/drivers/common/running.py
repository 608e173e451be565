"""A driver that says what comes next and does it; all else of a run is done here.

Promises: limits, budget, stop, feedback, the lock, what was left running, Ctrl-C and resuming are
those of every driver on the frame; an outcome is durable before its event is yielded; a step that
was cut short or killed is done again, and what it cost counts where that is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from pytest_reflex.agents.stream import DENIED
from pytest_reflex.drivers.common import drive as limits
from pytest_reflex.drivers.common.arguments import Budget, budget_of, settings_of, split_plugins
from pytest_reflex.drivers.common.control import StopControl
from pytest_reflex.drivers.common.drive import Inputs, Stop, drive
from pytest_reflex.drivers.common.events import DriverEvent, utc_now
from pytest_reflex.drivers.common.lease import RUN_DIR
from pytest_reflex.drivers.common.record import RUNNING, CallsUnderWay, DriverRecord
from pytest_reflex.drivers.common.record_file import (
    CompletedStep,
    Fields,
    NextStep,
    RecordStore,
    RunFile,
    Say,
)
from pytest_reflex.errors import UsageError
from pytest_reflex.host import agent_kinds, make_agent, open_host
from pytest_reflex.model.run import Cost, cost_of, format_lost_calls
from pytest_reflex.model.steps import Askable, Question, Reply
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.run import Finished
from pytest_reflex.process.run import run as run_command
from pytest_reflex.reports.run_lines import not_held, unknown_of

Events = Generator[DriverEvent, None, None]


class StepDriver(Protocol):
    """What makes a kind of loop. All that is returned is JSON; `decide` and `apply` are pure."""

    name: str

    def start(self, given: Mapping[str, str]) -> Fields:
        """Return the data of a new run; raises UsageError for what it cannot take."""
        ...

    def decide(self, record: DriverRecord) -> NextStep | Stop:
        """Return what comes next, or that the run has come to its end."""
        ...

    def perform(self, step: NextStep, record: DriverRecord, tools: Tools) -> Fields:
        """Do a step and return what it came to; nothing durable is written."""
        ...

    def apply(self, data: Fields, outcome: Fields) -> Fields:
        """Return the data behind a step."""
        ...


class Tools:
    """What a step works with: the agent of the run, and commands. All of it ends with the run."""

    def __init__(
        self,
        project: Path,
        folder: Path,
        agent: Askable | None,
        *,
        cancel: Event,
        seconds_left: Callable[[], float | None],
        timeout: float,
        say: Say,
        calls: CallsUnderWay,
    ) -> None:
        self.project, self.agent, self._timeout = project, agent, timeout
        self.environment, self.cancel = {RUN_DIR: str(folder)}, cancel
        self._seconds_left, self._say = seconds_left, say
        self.calls = calls
        self.denied = ""

    def ask(self, prompt: str, *, by: Askable | None = None, may_edit: bool = False) -> Reply:
        """Ask the agent of the run, or another one; a failure is a Reply with `error`.

        With `may_edit` it may change files of the project; where it was not allowed to, the run
        ends behind the step.
        """
        agent = by or self.agent
        if agent is None:
            raise UsageError("this run has no agent", hint="name one: --agent NAME, or `agent`")
        question = Question(
            prompt=prompt,
            may_edit=may_edit,
            environment=self.environment,
            seconds_left=self._seconds_left(),
            cancel=self.cancel,
            tell=self._say,
        )
        number = self.calls.begin()
        reply = agent.ask(question)
        self.calls.end(number, cost_of(reply))
        if may_edit:
            self.denied = str(reply.details.get(DENIED, ""))
        return reply

    def run(self, command: str | Sequence[str], *, timeout: float | None = None) -> Finished:
        """Run a command in the project, a text by the shell, and return how it ended.

        It may take `timeout` seconds, by default those of `loop.command_timeout`.
        """
        argv = ["sh", "-c", command] if isinstance(command, str) else command
        return run_command(
            argv,
            cwd=self.project,
            env={**copy_environment(), **self.environment},
            timeout=self._timeout if timeout is None else timeout,
            cancel=self.cancel,
        )

    def add_cost(self, cost: Cost | None) -> None:
        """Have what something else cost in the price of the step."""
        self.calls.add(cost)

    @property
    def cost(self) -> Cost | None:
        """The price of all that was asked in the step so far."""
        return self.calls.cost


class _Framed:
    """A driver with the limits of its run around it, as `drive` takes one."""

    def __init__(
        self, driver: StepDriver, store: RecordStore, tools: Tools, control: StopControl
    ) -> None:
        self._driver, self._store, self._tools, self._control = driver, store, tools, control

    def decide(self, state: DriverRecord, inputs: Inputs) -> NextStep | Stop:
        """Return the end that the driver has come to, else that of the frame, else its step."""
        chosen = self._driver.decide(state)
        if isinstance(chosen, Stop):
            return chosen
        if self._tools.denied:
            return Stop(StopReason.DENIED, self._tools.denied)
        stop = limits.find_reached(inputs, state.budget, state.spend, state.wall_time)
        if stop and (chosen.limited or stop.reason is StopReason.USER_STOP):
            return stop
        if not chosen.limited:
            return chosen
        if state.max_iterations and state.iteration >= state.max_iterations:
            return Stop(StopReason.ITERATION_LIMIT)
        return chosen

    def perform(self, action: NextStep) -> Iterator[CompletedStep]:
        try:
            fields = self._driver.perform(action, self._store.state, self._tools)
            data = self._driver.apply(self._store.state.data, fields)
        except BaseException:
            self._store.count_pending_calls()
            raise
        cost = self._store.calls.take()
        if self._control.has_cancelled:  # what was cut short came to nothing
            yield CompletedStep(action, cost)
        else:
            yield CompletedStep(action, cost, fields, data)


def run(
    driver: StepDriver,
    name: str,
    *,
    given: Mapping[str, str] | None = None,
    agent: str | None = None,
    budget: Budget | None = None,
    max_iterations: int | None = None,
    wall_time: float | None = None,
    plugins: Iterable[object] = (),
    fresh: bool = False,
    project: str | Path | None = None,
    say: Say = lambda text: None,
) -> Events:
    """Begin the run `name` of a driver and yield its events, each of them durable already.

    `given` is for the driver; the others are as in `run_loop`. With `fresh` it starts over where a
    run can go on. Close the iterator at any time: `resume` continues the run.
    """
    files = RunFile(_folder(project), driver.name, name)
    changes = _changes(agent, budget_of(budget), max_iterations, wall_time)
    now = utc_now()
    data = driver.start(given or {})
    new = DriverRecord(driver=driver.name, run=name, started_at=now, changed_at=now, data=data)

    def begin(found: DriverRecord | None) -> DriverRecord:
        if found is not None and found.can_go_on and not fresh:
            hint = "resume it, or start over with `fresh`"
            raise UsageError(f"the run {name} of {driver.name} can go on", hint=hint)
        return replace(new, **changes)

    folder, name_of_agent = _folder(project), agent or ""
    return _driven(driver, files, begin, folder, plugins, say, name_of_agent, resumed=False)


def resume(
    driver: StepDriver,
    name: str,
    *,
    agent: str | None = None,
    budget: Budget | None = None,
    max_iterations: int | None = None,
    wall_time: float | None = None,
    plugins: Iterable[object] = (),
    project: str | Path | None = None,
    say: Say = lambda text: None,
) -> Events:
    """Continue the run `name`, under other limits where they are given; ``"usd=+1"`` adds one."""
    files = RunFile(_folder(project), driver.name, name)
    before = files.load()
    more = budget_of(budget, before.budget)
    total = {**before.budget, **more} if more else None
    changes = _changes(agent, total, max_iterations, wall_time)

    def begin(found: DriverRecord | None) -> DriverRecord:
        if found is None or not found.can_go_on:
            hint = "run it again"
            raise UsageError(f"the run {name} of {driver.name} has ended", hint=hint)
        if text := format_lost_calls(found.calls_under_way):
            say(text)
        went_on = replace(found, spend=found.paid, calls_under_way=(), status=RUNNING)
        return replace(went_on, reason="", detail="", **changes)

    folder, name_of_agent = _folder(project), agent or before.agent
    return _driven(driver, files, begin, folder, plugins, say, name_of_agent, resumed=True)


def _driven(
    driver: StepDriver,
    files: RunFile,
    begin: Callable[[DriverRecord | None], DriverRecord],
    project: Path,
    plugins: Iterable[object],
    say: Say,
    agent_name: str,
    *,
    resumed: bool,
) -> Events:
    """Own a run, drive it and yield its events; the agent is looked up before anything is."""
    agent, timeout = _agent_of(agent_name, project, plugins)
    cancel, began = Event(), time.monotonic()
    with files.own(say) as file:
        store = RecordStore(begin(file.read()), file, files, say)
        if left := file.lease.end_leftovers():
            say(f"ended {left} process(es) that an earlier run had left behind")
        if text := _not_held(store.state, agent):
            say(text)

        def seconds_left() -> float | None:
            state, elapsed = store.state, time.monotonic() - began
            left = limits.seconds_left(state.budget, state.spend, state.wall_time, elapsed)
            return None if left is None else max(left, 0.1)

        tools = Tools(
            project,
            files.folder,
            agent,
            cancel=cancel,
            seconds_left=seconds_left,
            timeout=timeout,
            say=say,
            calls=store.calls,
        )
        control = StopControl(store.requests, cancel)
        framed = _Framed(driver, store, tools, control)
        try:
            yield from store.begin(resumed=resumed)
            with closing(drive(framed, store, control)) as events:
                yield from events
        except BaseException:
            cancel.set()
            store.leave()
            raise


def _agent_of(name: str, project: Path, plugins: Iterable[object]) -> tuple[Askable | None, float]:
    """Return the agent of that name or of the settings, and what time a command has.

    None is an agent of the settings that answers no prompt.
    """
    named, objects = split_plugins(plugins)
    settings = settings_of(project, None, named)
    host = open_host((*settings["plugins"], *objects), project)
    agent = make_agent(name or settings["agent"], settings, agent_kinds(host))
    found = agent if isinstance(agent, Askable) else None
    if name and found is None:
        raise UsageError(f"agent {name!r} cannot take a prompt", hint="name an AI tool")
    return found, float(settings["loop.command_timeout"])


def _not_held(record: DriverRecord, agent: Askable | None) -> str:
    unknown = {*limits.unreported_parts(agent), *unknown_of(record.spend)}
    others = {"max_iterations": record.max_iterations, "wall_time": record.wall_time}
    return not_held(record.budget, unknown, [key for key, value in others.items() if value])


def _changes(
    agent: str | None,
    budget: Mapping[str, float] | None,
    max_iterations: int | None,
    wall_time: float | None,
) -> dict[str, Any]:
    given = {
        "agent": agent,
        "budget": budget,
        "max_iterations": max_iterations,
        "wall_time": wall_time,
    }
    return {key: value for key, value in given.items() if value is not None}


def _folder(project: str | Path | None) -> Path:
    return (Path(project) if project else Path.cwd()).absolute()
