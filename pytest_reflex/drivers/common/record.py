"""The record of a run, the agent calls of a step in it, and its row in the list of all runs.

Promises: calls may begin and end in several threads. Limits: what a call cost that a kill ended
this is unknown.

What every run has is here: limits, spending, feedback, the end. What a driver adds is `data`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from fractions import Fraction
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import round_down
from pytest_reflex.model.run import Cost, Spend, costs_from_json, total_cost, unknown_cost
from pytest_reflex.model.stop import ENDS, StopReason
from pytest_reflex.settings import Settings

DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run of a driver, as its files have it.

    `status` is the word that the driver's own list has for it; `interrupted` is whether its process
    is gone, `driven` whether one is at work. Times are UTC as the files have them, empty where
    nothing is known: `changed_at` is that of the last thing that is durable. `max_iterations` is 0
    where there is no limit. `about` says in words what the run is about, `problem` what is wrong
    with one whose status is `damaged`.
    """

    driver: str
    name: str
    status: str
    interrupted: bool = False
    driven: bool = False
    started_at: str = ""
    changed_at: str = ""
    iteration: int | None = None
    max_iterations: int = 0
    spend: Spend | None = None
    score: Fraction | None = None
    about: str = ""
    problem: str = ""

    @property
    def seconds(self) -> float | None:
        """The time from the start to the last thing that is durable; None where that is unknown."""
        try:
            began, last = map(datetime.fromisoformat, (self.started_at, self.changed_at))
            return max((last - began).total_seconds(), 0.0)
        except (ValueError, TypeError):
            return None

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: null for what is not known."""
        score = self.score
        wire: dict[str, Any] = {
            "driver": self.driver,
            "name": self.name,
            "status": self.status,
            "interrupted": self.interrupted,
            "driven": self.driven,
            "started_at": self.started_at or None,
            "changed_at": self.changed_at or None,
            "seconds": self.seconds,
            "iteration": self.iteration,
            "max_iterations": None if self.iteration is None else self.max_iterations,
            "spend": self.spend.to_json() if self.spend else None,
            "score": None if score is None else float(round_down(score)),
            "score_exact": "" if score is None else f"{score.numerator}/{score.denominator}",
            "about": self.about,
        }
        return wire | ({"problem": self.problem} if self.problem else {})


class ListRuns(Protocol):
    """What a driver gives to be in the list; it reads only, and raises for no single run."""

    def __call__(self, project: Path, settings: Settings) -> Iterable[RunRow]: ...


Save = Callable[[tuple[Cost, ...]], object]
"""Makes durable what the calls cost that the spend of a run has not yet."""


class CallsUnderWay:
    """The calls since the last outcome that was saved, with what each of them cost."""

    def __init__(self, save: Save) -> None:
        self._save, self._lock = save, RLock()
        self._numbers = count()
        self._costs: dict[int, Cost] = {}
        self._began: dict[int, float] = {}

    def begin(self) -> int:
        """Note that a call begins, before it does; return its number for `end`."""
        with self._lock:
            number = next(self._numbers)
            self._began[number] = time.monotonic()
            self._note(number, unknown_cost(0.0))
        return number

    def end(self, number: int, cost: Cost | None) -> None:
        """Note what a call cost, None where it was free."""
        with self._lock:
            if self._began.pop(number, None) is not None:
                self._note(number, cost)

    def add(self, cost: Cost | None) -> None:
        """Note what was paid elsewhere."""
        if cost:
            with self._lock:
                self._note(next(self._numbers), cost)

    @property
    def cost(self) -> Cost | None:
        """What all of them cost so far; of those that have not ended it is unknown."""
        with self._lock:
            now = time.monotonic()
            costs = self._costs | {
                number: unknown_cost(now - began) for number, began in self._began.items()
            }
        return total_cost(costs.values())

    def take(self) -> Cost | None:
        """Return what all of them cost, and forget them: the outcome that is saved next has it."""
        with self._lock:
            cost = self.cost
            self._costs, self._began = {}, {}
        return cost

    def votes(self) -> Votes:
        """Return what takes note of the votes of one evaluation."""
        return Votes(self)

    def _note(self, number: int, cost: Cost | None) -> None:
        self._costs.pop(number, None)
        if cost:
            self._costs[number] = cost
        self._save(tuple(self._costs.values()))


class Votes:
    """The calls of a judge in one evaluation: a vote may take several, and a cached one none."""

    def __init__(self, calls: CallsUnderWay) -> None:
        self._calls, self._lock = calls, RLock()
        self._asked: dict[str, list[int]] = {}

    def begin_vote(self, question: str) -> None:
        """Note that an agent is asked for a vote, before it is."""
        number = self._calls.begin()
        with self._lock:
            self._asked.setdefault(question, []).append(number)

    def end_vote(self, cast: CastVote) -> None:
        """Note what a vote cost, with all calls that it took."""
        with self._lock:
            numbers = self._asked.pop(cast.question, [])
        if not numbers:
            self._calls.add(cast.vote.cost)
        for number, cost in zip(numbers, (cast.vote.cost, *[None] * len(numbers)), strict=False):
            self._calls.end(number, cost)


RUNNING, INTERRUPTED = "running", "interrupted"
_CALLS = "calls_under_way"
_REQUIRED = ("driver", "run", "started_at", "changed_at", "data", "spend")
MAX_ITERATIONS = 10
WALL_TIME = 8 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverRecord:
    """One run as it stands. 0 is not a limit; times are UTC.

    `reason` says why it ended, in the words of `StopReason`, empty where it did not; `feedback` is
    what people said since an agent was asked last; `data` is the driver's own, and JSON.
    `calls_under_way` are the prices of calls that `spend` has not yet: a kill leaves them.
    """

    driver: str
    run: str
    started_at: str
    changed_at: str
    data: Mapping[str, Any]
    status: str = RUNNING
    reason: str = ""
    detail: str = ""
    iteration: int = 0
    max_iterations: int = MAX_ITERATIONS
    wall_time: float = WALL_TIME
    budget: Mapping[str, float] = field(default_factory=dict)
    agent: str = ""
    spend: Spend = field(default_factory=Spend)
    feedback: Mapping[str, str] = field(default_factory=dict)
    calls_under_way: tuple[Cost, ...] = ()

    @property
    def paid(self) -> Spend:
        """What was paid where no process drives the run: calls that were under way count."""
        return self.spend.with_calls(self.calls_under_way)

    @property
    def can_go_on(self) -> bool:
        """Whether a resume continues the run, under other limits where one ended it."""
        return not self.reason or ENDS[StopReason(self.reason)].extendable

    def display_status(self, driven: bool) -> str:
        """Return the status in a word: that of a run whose process was killed is `interrupted`."""
        return INTERRUPTED if self.status == RUNNING and not driven else self.status

    def end(self, stop: Stop, at: str) -> DriverRecord:
        """Return the state at the end of the run."""
        status = ENDS[stop.reason].status.value
        reason = stop.reason.value
        return replace(self, status=status, reason=reason, detail=stop.detail, changed_at=at)

    def leave(self) -> DriverRecord:
        """Return the state of a run that is left before its end."""
        return replace(self, status=INTERRUPTED)

    def status_json(self, driven: bool) -> dict[str, Any]:
        """Return its status: where no process drives it, calls under way were paid."""
        shown = self if driven else replace(self, spend=self.paid, calls_under_way=())
        return {**shown.to_json(), "driven": driven}

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: the names of the attributes are its keys."""
        wire = {one.name: getattr(self, one.name) for one in fields(self)}
        wire["spend"] = self.spend.to_json()
        if not wire[_CALLS]:  # so that older versions read it
            del wire[_CALLS]
        return wire


def dump(record: DriverRecord) -> bytes:
    """Return the bytes of a state file; raises TypeError where `data` is not JSON."""
    return (json.dumps(record.to_json(), indent=2, default=dict) + "\n").encode()


def load(data: bytes, driver: str, run: str) -> DriverRecord:
    """Read what `dump` wrote of this run; raises ValueError for anything else."""
    try:
        wire = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(wire, dict):
        raise ValueError("it holds no JSON object")
    names = {one.name for one in fields(DriverRecord)}
    if missing := [name for name in _REQUIRED if name not in wire]:
        raise ValueError(f"it has no {missing[0]!r}")
    if unknown := sorted(set(wire) - names):
        raise ValueError(f"unknown key {one_line(unknown[0], 60)!r}")
    spend, calls = Spend.from_json(wire["spend"]), costs_from_json(wire.get(_CALLS))
    found = DriverRecord(**{**wire, "spend": spend, _CALLS: calls})
    if (found.driver, found.run) != (driver, run):
        raise ValueError(f"it is of {found.driver} {found.run}")
    for name, kind in _KINDS.items():
        value = getattr(found, name)
        if isinstance(value, bool) or not isinstance(value, kind):
            raise ValueError(f"{name} is {value!r}")
    if found.reason and found.reason not in set(StopReason):
        raise ValueError(f"reason is {found.reason!r}")
    return found


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("started_at", "changed_at", "status", "reason", "detail", "agent"), str),
    **dict.fromkeys(("iteration", "max_iterations"), int),
    **dict.fromkeys(("data", "budget", "feedback"), dict),
    "wall_time": (int, float),
}
