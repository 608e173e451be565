"""What a command that drives a run shows: lines on stderr, a live view, events.

Promises: every draw is one write; the cursor is never hidden, so that a kill leaves a usable
terminal; nothing is drawn from the background; what cannot be drawn is left out and stops nothing.
Limits: a terminal that breaks lines anew when it gets narrower may keep a line of an old draw.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from threading import Lock
from types import FrameType

from pytest_reflex.cli.streams import close_stdout, give, is_coloured, say
from pytest_reflex.drivers.common.console import Progress, style_lines
from pytest_reflex.drivers.common.events import STDOUT, Listener, event_log
from pytest_reflex.process.deadline import interval_timer
from pytest_reflex.reports.lines import Line

FRAME = 0.2  # seconds between two draws
_CLEAR, _UP = "\x1b[2K", "\x1b[1A"


def can_be_live() -> bool:
    """Return whether stderr is a terminal that takes such lines, and `rich` is installed."""
    encoding = (getattr(sys.stderr, "encoding", "") or "").lower().replace("-", "")
    return is_coloured(sys.stderr) and encoding == "utf8" and find_spec("rich") is not None


class LiveView:
    """`lines` gives what to draw; it is asked at every draw. One view at a time on a terminal."""

    def __init__(self, lines: Callable[[], Sequence[Line]]) -> None:
        from rich.console import Console

        self._lines, self._descriptor = lines, sys.stderr.fileno()
        self._console = Console(force_terminal=True, color_system="standard", legacy_windows=False)
        self._height, self._pen = 0, Lock()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Draw until the block is left, however it is left; the lines are gone then."""
        sys.stderr.flush()
        before = signal.signal(signal.SIGCONT, self._forget_height)
        try:
            self.draw()
            yield
        finally:
            signal.signal(signal.SIGCONT, before)
            with self._pen:
                self._put("", redraw=False)

    def say(self, text: str) -> None:
        """Write whole lines above the view, from any thread."""
        with self._pen:
            self._put(f"{text}\n", redraw=True)

    def draw(self) -> None:
        """Draw the lines as they are now; a signal may ask for it in the middle of `say`."""
        if self._pen.acquire(blocking=False):
            try:
                self._put("", redraw=True)
            finally:
                self._pen.release()

    def _forget_height(self, number: int, frame: FrameType | None) -> None:
        self._height = 0  # the shell has written where the lines were

    def _put(self, text: str, *, redraw: bool) -> None:
        if self._is_in_background():
            self._height = 0
            self._write(text)
            return
        drawn = self._draw_lines() if redraw else []
        erased = "\r" + _CLEAR + (_UP + _CLEAR) * (self._height - 1) if self._height else ""
        self._height = len(drawn)
        self._write(erased + text + "\n".join(drawn))

    def _draw_lines(self) -> list[str]:
        width, height = self._size()
        try:
            return [self._render(line, width) for line in self._lines()[:height]]
        except Exception:  # a view must not end a run
            return []

    def _render(self, line: Line, width: int) -> str:
        from rich.text import Text

        whole = Text.from_ansi(style_lines([line]), no_wrap=True)
        whole.truncate(width, overflow="ellipsis")
        with self._console.capture() as captured:
            self._console.print(whole, width=width, soft_wrap=True, end="")
        return captured.get()

    def _size(self) -> tuple[int, int]:
        """Return the room for the lines; a column stays free, because some terminals wrap there."""
        columns, rows = 80, 24
        with suppress(OSError):
            columns, rows = os.get_terminal_size(self._descriptor)
        value = os.environ.get("COLUMNS", "")
        if value.isascii() and value.isdigit():
            columns = min(columns or 80, int(value))
        return max(columns - 1, 1), max(rows - 1, 1)

    def _is_in_background(self) -> bool:
        try:
            return os.tcgetpgrp(self._descriptor) != os.getpgrp()
        except OSError:  # not our controlling terminal: no shell runs there
            return False

    def _write(self, text: str) -> None:
        view = memoryview(text.encode("utf-8", "backslashreplace"))
        try:
            while view:
                try:
                    view = view[os.write(self._descriptor, view) :]
                except BlockingIOError:  # a program that shares the terminal made it so
                    select.select([], [self._descriptor], [])
        except OSError:
            self._height = 0


class Display:
    """Where text goes while a run is driven: stderr, above a live view while there is one."""

    def __init__(self) -> None:
        self.say = say

    @contextmanager
    def show(self, progress: Progress, *, live: bool) -> Iterator[None]:
        """Show the progress until the block is left: live where wanted, else in plain lines."""

        if progress.say is None:
            yield
            return
        if not (live and can_be_live()):
            with interval_timer(progress.view.beat, progress.beat):
                yield
            return
        progress.say = None
        view = LiveView(progress.lines)
        with view.open(), interval_timer(FRAME, view.draw):
            self.say = view.say
            try:
                yield
            finally:
                self.say = say


def open_event_log(events: str | None) -> AbstractContextManager[Listener]:
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
