"""What a command that drives a run shows: lines on stderr, a live view, and its events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from pytest_reflex.cli.streams import close_stdout, give, say
from pytest_reflex.drivers.common.console import Progress
from pytest_reflex.drivers.common.event_log import STDOUT, event_log
from pytest_reflex.drivers.common.events import Listener
from pytest_reflex.process.ticking import ticking


class Display:
    """Where text goes while a run is driven: stderr, above a live view while there is one."""

    def __init__(self) -> None:
        self.say = say

    @contextmanager
    def showing(self, progress: Progress, *, live: bool) -> Iterator[None]:
        """Show the progress until the block is left: live where wanted, else in plain lines."""
        from pytest_reflex.cli.live import FRAME, LiveView, can_be_live

        if progress.say is None:
            yield
            return
        if not (live and can_be_live()):
            with ticking(progress.view.beat, progress.beat):
                yield
            return
        progress.say = None
        view = LiveView(progress.lines)
        with view.open(), ticking(FRAME, view.draw):
            self.say = view.say
            try:
                yield
            finally:
                self.say = say


def opened(events: str | None) -> AbstractContextManager[Listener]:
    """Return what writes events where `--events` says."""
    return event_log(events, flag="--events", out=_give, warn=warn)


def takes_stdout(events: str | None) -> bool:
    """Return whether standard output is for events alone."""
    return events == STDOUT


def _give(line: str) -> None:
    try:
        give(line)
    except BrokenPipeError:
        close_stdout()
        raise


def warn(text: str) -> None:
    """Say on stderr what is wrong, and stops nothing."""
    say(f"pytest-reflex: warning: {text}")
