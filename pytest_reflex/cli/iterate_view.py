"""Shows what an iteration loop does while it does it: live on a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from pytest_reflex.cli.live import FRAME, LiveView, can_be_live
from pytest_reflex.cli.paint import painted
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.telling import BEAT, Progress
from pytest_reflex.process.ticking import ticking

Say = Callable[[str], None]


class Voice:
    """Where the lines of a log go: above a live view while there is one, else to stderr."""

    def __init__(self, *, plain: bool = False) -> None:
        self._say: Say = say
        self._paint = str if plain else painted

    def __call__(self, text: str) -> None:
        self._say(self._paint(text))

    @contextmanager
    def showing(self, progress: Progress, log: Log, *, live: bool) -> Iterator[None]:
        """Show the progress until the block is left: live, or in lines of the log."""
        if not (live and can_be_live()):
            with ticking(BEAT, partial(progress.beat, log.passing)):
                yield
            return
        view = LiveView(progress.lines)
        with view.open(), ticking(FRAME, view.draw):
            self._say = view.say
            try:
                yield
            finally:
                self._say = say
