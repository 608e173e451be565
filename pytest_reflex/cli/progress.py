"""Shows what a loop does while it does it: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_reflex.cli.live import LiveView, can_be_live
from pytest_reflex.cli.streams import say
from pytest_reflex.cli.ticking import ticking
from pytest_reflex.loops.driver import ReflexLoop
from pytest_reflex.loops.prepared import needs_agent
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

FRAME = 0.2  # seconds between two draws of the live view
BEAT = 30.0  # seconds after which a step that goes on is told of in plain lines
_IMMEDIATE = "offline"  # an agent that answers at once: nobody waits for it


class Progress:
    """What runs now and since when, from the steps that begin and the events that end them.

    `agents` are the names by step; `announce` says in plain lines what may take long.
    """

    def __init__(self, loop: ReflexLoop, agents: Mapping[Step, str], *, announce: bool) -> None:
        self._loop, self._agents, self._announce = loop, agents, announce
        self._began = time.monotonic()
        self._since: dict[Step, float] = {}
        self._turn = 0

    def starting(self, step: Step) -> None:
        """Learn that the driver begins a step."""
        now = time.monotonic()
        self._since = dict.fromkeys(self._parts(step), now)
        if self._announce:
            for part in self._since:
                agent = self._agent(part)
                if agent and agent != _IMMEDIATE:
                    say(started_line(part, agent))

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
        if running := self._running():
            say(waiting_line(running))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """Where a narrator speaks: lines that stay, and word of what begins and ends."""

    say: Callable[[str], None]
    starting: Callable[[Step], None]
    done: Callable[[Event], None]


@contextmanager
def displayed(
    loop: ReflexLoop, agents: Mapping[Step, str], *, quiet: bool, plain: bool
) -> Iterator[Display]:
    """Yield the display that fits stderr and the wishes of the user; it is gone afterwards."""
    if quiet:
        yield Display(say=say, starting=lambda step: None, done=lambda event: None)
        return
    live = can_be_live() and not plain
    progress = Progress(loop, agents, announce=not live)
    if not live:
        with ticking(BEAT, progress.beat):
            yield Display(say=say, starting=progress.starting, done=progress.done)
        return
    view = LiveView(progress.lines)
    with view.open(), ticking(FRAME, view.draw):
        yield Display(say=view.say, starting=progress.starting, done=progress.done)
