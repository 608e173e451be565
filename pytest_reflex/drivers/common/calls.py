"""The agent calls of a step: durable before they begin, so that who is killed in one has paid it.

Promises: calls may begin and end in several threads. Limits: what a call cost that a kill ended
nobody knows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from threading import RLock

from pytest_reflex.model.judged import Cast
from pytest_reflex.model.run import Cost, total_cost, unknown_cost

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
        """What all of them cost so far; of those that have not ended nobody knows how much."""
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

    def asked(self, question: str) -> None:
        """Note that an agent is asked for a vote, before it is."""
        number = self._calls.begin()
        with self._lock:
            self._asked.setdefault(question, []).append(number)

    def heard(self, cast: Cast) -> None:
        """Note what a vote cost, with all calls that it took."""
        with self._lock:
            numbers = self._asked.pop(cast.question, [])
        if not numbers:
            self._calls.add(cast.vote.cost)
        for number, cost in zip(numbers, (cast.vote.cost, *[None] * len(numbers)), strict=False):
            self._calls.end(number, cost)
