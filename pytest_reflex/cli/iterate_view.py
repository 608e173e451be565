"""Shows what an iteration loop does while it does it: live on a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from pytest_reflex.cli.live import FRAME, LiveView, can_be_live
from pytest_reflex.cli.paint import painted
from pytest_reflex.cli.streams import say
from pytest_reflex.iterations.telling import BEAT, Progress
from pytest_reflex.process.ticking import ticking

Say = Callable[[str], None]


class Voice:
    """Where the lines of a log go: above a live view while there is one, else to stderr."""

    def __init__(self) -> None:
        self._say: Say = say

    def __call__(self, text: str) -> None:
        self._say(painted(text))

    @contextmanager
    def showing(self, progress: Progress, *, live: bool) -> Iterator[None]:
        """Show the progress until the block is left, if the terminal can or as plain lines."""
        if not (live and can_be_live()):
            with ticking(BEAT, partial(progress.beat, self)):
                yield
            return
        view = LiveView(progress.lines)
        with view.open(), ticking(FRAME, view.draw):
            self._say = view.say
            try:
                yield
            finally:
                self._say = say
