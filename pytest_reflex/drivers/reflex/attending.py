"""What a loop that is driven is doing, for whoever waits: a live view, or plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.prepared import needs_agent
from pytest_reflex.model.events import Event
from pytest_reflex.model.words import Step
from pytest_reflex.reports.progress import (
    LEAVING,
    Line,
    Running,
    progress_lines,
    started_line,
    waiting_line,
)

BEAT = 30.0  # seconds after which a step that goes on is told of in plain lines
_IMMEDIATE = "offline"  # an agent that answers at once: nobody waits for it


class Progress:
    """What runs now and since when, from the steps that begin and the events that end them.

    `agents` are the names by step; `say` prints a plain line about what may take long, and is None
    where such lines are not wanted.
    """

    def __init__(
        self,
        loop: ReflexLoop,
        agents: Mapping[Step, str],
        *,
        say: Callable[[str], object] | None = None,
    ) -> None:
        self._loop, self._agents, self._say = loop, agents, say
        self._began = time.monotonic()
        self._since: dict[Step, float] = {}
        self._turn = 0

    def starting(self, step: Step) -> None:
        """Learn that the driver begins a step."""
        now = time.monotonic()
        self._since = dict.fromkeys(self._parts(step), now)
        for part in self._since if self._say else ():
            agent = self._agent(part)
            if self._say and agent and agent != _IMMEDIATE:
                self._say(started_line(part, agent))

    def done(self, event: Event) -> None:
        """Learn that a step has ended."""
        self._since.pop(event.step, None)

    def lines(self) -> list[Line]:
        """Return the lines of the live view as they are now."""
        self._turn += 1
        seconds = time.monotonic() - self._began
        lines = progress_lines(self._loop.state, self._running(), seconds, self._turn)
        if self._loop.cancel.is_set():
            lines[-1] = LEAVING
        return lines

    def beat(self) -> None:
        """Tell that what runs goes on, in a plain line."""
        if self._say and (running := self._running()):
            self._say(waiting_line(running))

    def _running(self) -> list[Running]:
        now = time.monotonic()
        return [Running(step, self._agent(step), now - at) for step, at in self._since.items()]

    def _parts(self, step: Step) -> list[Step]:
        if step is not Step.PRODUCE_PREPARE:
            return [step]
        return [Step.PRODUCE] if self._loop.sequential else [Step.PRODUCE, Step.PREPARE]

    def _agent(self, step: Step) -> str:
        """Return the agent that a step asks, empty where it asks none."""
        state = self._loop.state
        if step is Step.PREPARE and not needs_agent(state.criteria.active(state.level)):
            return ""
        return self._agents.get(step, "")
