"""The loop that all drivers share: what a driver yields is durable, and its steps are closed."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import pytest

from pytest_reflex.drivers.common.control import Requests, StopControl
from pytest_reflex.drivers.common.drive import Inputs, PollResult, Stop, drive


@dataclass(frozen=True)
class Step:
    interruptible: bool = False


@dataclass
class Numbers:
    """A driver and a store in one: it performs steps until it has three numbers."""

    as_generator: bool
    state: list[int] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def decide(self, state: list[int], inputs: Inputs) -> Step | Stop | None:
        return Step() if len(state) < 3 else None

    def perform(self, action: Step) -> Iterator[int]:
        return self._perform() if self.as_generator else iter([1, 2])

    def _perform(self) -> Iterator[int]:
        try:
            yield 1
            yield 2
        finally:
            self.log.append("closed")

    def poll(self) -> Generator[str, None, PollResult]:
        yield from ()
        return PollResult()

    def commit(self, outcome: int) -> Iterator[str]:
        self.state.append(outcome)
        yield f"{outcome} is durable"

    def end(self, stop: Stop) -> Iterator[str]:
        yield "ended"

    def leave(self) -> None:
        self.log.append("left")


def driven(numbers: Numbers) -> Generator[str, None, None]:
    control = StopControl(Requests, threading.Event())
    return drive(numbers, numbers, control)


@pytest.mark.parametrize("as_generator", [False, True])
def test_every_outcome_is_committed_whatever_iterator_a_driver_returns(as_generator: bool) -> None:
    numbers = Numbers(as_generator)
    assert list(driven(numbers)) == ["1 is durable", "2 is durable"] * 2
    assert numbers.log == ["closed"] * 2 * as_generator


def test_a_step_is_closed_before_the_run_is_left() -> None:
    numbers = Numbers(as_generator=True)
    events = driven(numbers)
    assert next(events) == "1 is durable"
    events.close()
    assert numbers.state == [1]
    assert numbers.log == ["closed", "left"]
