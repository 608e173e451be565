"""What happens in a run of any driver, in one vocabulary; what was waited for is reported at
once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The kinds of events that all drivers share.

    A run has `started` (also where it goes on); an `iteration` has ended; a `step` beside the
    agent's work is done; the agent has `acted`; a check or gate has `measured`; the driver or a
    person has `decided` something; the driver is `waiting` for a step, an agent, or the end of a
    rate limit; the run has `stopped`. All but `waiting` are durable.
    """

    STARTED = "started"
    ITERATION = "iteration"
    STEP = "step"
    MEASURED = "measured"
    DECIDED = "decided"
    ACTED = "acted"
    WAITING = "waiting"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverEvent:
    """Something that happened in a run.

    `run` is the name of the run in its driver; `iteration` is the one that it is about, 0 before
    the first; `fields` say more, and can be written as JSON.
    """

    driver: str
    run: str
    kind: Kind
    iteration: int
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: the names of the attributes are its keys."""
        return {
            "driver": self.driver,
            "run": self.run,
            "kind": self.kind.value,
            "iteration": self.iteration,
            "fields": dict(self.fields),
        }


Listener = Callable[[DriverEvent], object]


class Waits:
    """What happens within a step: it goes to who listens at once, else before the next event."""

    def __init__(self, listen: Listener | None) -> None:
        self._kept = deque[DriverEvent]()
        self.tell: Listener = listen or self._kept.append

    def before(self, events: Iterator[DriverEvent]) -> Iterator[DriverEvent]:
        """Yield the events, and before each of them what was kept."""
        for event in events:
            while self._kept:
                yield self._kept.popleft()
            yield event
