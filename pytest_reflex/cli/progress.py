"""Shows what a loop does while it does it: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_reflex.cli.live import FRAME, LiveView, can_be_live
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.reflex.attending import BEAT, Progress
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.model.events import Event
from pytest_reflex.model.words import Step
from pytest_reflex.process.ticking import ticking


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
    progress = Progress(loop, agents, say=None if live else say)
    if not live:
        with ticking(BEAT, progress.beat):
            yield Display(say=say, starting=progress.starting, done=progress.done)
        return
    view = LiveView(progress.lines)
    with view.open(), ticking(FRAME, view.draw):
        yield Display(say=view.say, starting=progress.starting, done=progress.done)
