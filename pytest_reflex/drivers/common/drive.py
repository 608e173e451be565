"""The only loop of the drivers, and what bounds it: poll, decide, perform, commit, until a reason
to stop.

One look at the state before each decision reports what people did and ask, and other writers there.
Promises: what a step came to is durable before the next thing happens; a request to stop is seen
before each step, and beside a step each second; any early end leaves a state that a resume
continues. A driver gives the decision and the steps, and has neither clock nor files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pytest_reflex.drivers.common.control import Requests, StopControl
from pytest_reflex.model.run import Spend
from pytest_reflex.model.stop import StopReason

State = TypeVar("State")
Action = TypeVar("Action", bound="DriverAction")
Outcome = TypeVar("Outcome")
Event = TypeVar("Event")
# The same, as a driver takes and gives them, and as a store does.
S_contra = TypeVar("S_contra", contravariant=True)
S_co = TypeVar("S_co", covariant=True)
O_contra = TypeVar("O_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a decision rests on beside the state.

    `stop` is the reason of a person who asked to stop, None where no one did; `tampering` says what
    protected files were modified, empty for none; `elapsed` are the seconds of this sitting.
    """

    stop: str | None = None
    tampering: str = ""
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True)
class Stop:
    """The decision to end a run, and what more there is to say of it."""

    reason: StopReason
    detail: str = ""


class DriverAction(Protocol):
    """What a driver decided to do; a person may cut it short where it is `interruptible`."""

    @property
    def interruptible(self) -> bool: ...


class Driver(Protocol[S_contra, Action, O_co]):
    """What makes one kind of loop: pure decisions, and steps that write nothing durable."""

    def decide(self, state: S_contra, inputs: Inputs) -> Action | Stop | None:
        """Return what comes next; None where the run has ended already. Pure."""
        ...

    def perform(self, action: Action) -> Iterator[O_co]:
        """Do it, and yield what it came to; each outcome is durable when it goes on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult:
    """What a store saw at one look: what people ask, and in words who else wrote into its state."""

    requests: Requests = field(default_factory=Requests)
    forgery: str = ""


class Store(Protocol[S_co, O_contra, E_co]):
    """The state of one run on disk, held by this process."""

    @property
    def state(self) -> S_co: ...

    def poll(self) -> Generator[E_co, None, PollResult]:
        """Take up what people did to the run since the last look, and return what they ask."""
        ...

    def commit(self, outcome: O_contra) -> Iterable[E_co]:
        """Make an outcome durable, and the state what follows from it."""
        ...

    def end(self, stop: Stop) -> Iterable[E_co]:
        """Make the end of the run durable."""
        ...

    def leave(self) -> None:
        """Have the run stand as interrupted: it is left before its end."""
        ...


def drive(
    driver: Driver[State, Action, Outcome],
    store: Store[State, Outcome, Event],
    control: StopControl,
    *,
    clock: Callable[[], float] = time.monotonic,
    tampering: Callable[[], str] = lambda: "",
    announce: Callable[[Action], Iterable[Event]] = lambda action: (),
) -> Generator[Event, None, None]:
    """Drive a run to its end; yield each event when it is durable.

    `tampering` looks whether protected files were modified, before each decision; it is not asked
    where the store itself was. `announce` gives the events that say what is going to be performed.
    Closing the generator leaves the run as it stands; so does whatever is raised.
    """
    began = clock()
    try:
        while True:
            polled = yield from store.poll()
            inputs = Inputs(
                stop=control.check(polled.requests),
                tampering=polled.forgery or tampering(),
                elapsed=clock() - began,
            )
            action = driver.decide(store.state, inputs)
            if action is None:
                return
            if isinstance(action, Stop):
                yield from store.end(action)
                return
            yield from announce(action)
            # Closed here, not when it is forgotten: agents may have to be waited for.
            steps = driver.perform(action)
            with closing(_closable(steps)) as outcomes, control.watch(action.interruptible):
                for outcome in outcomes:
                    yield from store.commit(outcome)
    except BaseException:
        store.leave()
        raise


def _closable(outcomes: Iterator[Outcome]) -> Generator[Outcome, None, None]:
    if isinstance(outcomes, Generator):
        return outcomes
    return (outcome for outcome in outcomes)


Budget = Mapping[str, float]


def usage_of(spend: Spend) -> dict[str, float]:
    """Return what was spent of each part that a budget may have."""
    return {
        "calls": spend.calls,
        "seconds": spend.seconds,
        "usd": spend.usd,
        "tokens": spend.tokens,
    }


def find_exhausted(budget: Budget, spend: Spend) -> str:
    """Return which part of a budget is used up, or an empty string."""
    used = usage_of(spend)
    for name, limit in budget.items():
        if used[name] >= limit:
            return f"{name}: {used[name]:g} of {limit:g} used"
    return ""


def budget_left(budget: Budget, spend: Spend) -> dict[str, float]:
    """Return what is left of each part of a budget, 0 or less where it is used up."""
    used = usage_of(spend)
    return {name: limit - used[name] for name, limit in budget.items()}


def over_time(elapsed: float, wall_time: float) -> str:
    """Return that the time since start or resume is used up, or an empty string; 0: no limit."""
    if not wall_time or elapsed < wall_time:
        return ""
    return f"wall time: {elapsed:.0f} s of {wall_time:g} s since start or resume"


def find_reached(inputs: Inputs, budget: Budget, spend: Spend, wall_time: float) -> Stop | None:
    """Return the stop that a person asked for, or that of a limit which every run has."""
    if inputs.stop is not None:
        return Stop(StopReason.USER_STOP, inputs.stop)
    if spent := find_exhausted(budget, spend):
        return Stop(StopReason.BUDGET_EXCEEDED, spent)
    if over := over_time(inputs.elapsed, wall_time):
        return Stop(StopReason.WALL_TIME, over)
    return None


def seconds_left(
    budget: Budget, spend: Spend, wall_time: float = 0.0, elapsed: float = 0.0
) -> float | None:
    """Return how long the next call may take, None without a limit of time."""
    of_budget = budget_left(budget, spend).get("seconds")
    left = [of_budget, wall_time - elapsed if wall_time else None]
    return min((one for one in left if one is not None), default=None)


def unreported_parts(agent: object) -> list[str]:
    """Return the parts of a budget that an agent cannot report, as far as its table says."""
    from pytest_reflex.agents.command import CommandAgent

    if not isinstance(agent, CommandAgent):
        return []
    known = {"usd": agent.cost, "tokens": agent.tokens}
    return [key for key, sources in known.items() if not sources]
