"""What ends a wait, or interrupts it: a deadline, cancellation, a timer at intervals.

The deadline counts the time in which this process could do something about it.

A thread would keep EVALUATE from its fork, where no other thread may hold a lock; a timer and its
signal do not. Limits: only in the main thread of a system with timers, and not where the alarm is
in use already; where other code takes it later, the calls end.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from types import FrameType

_LONGEST = 1.0
_ASLEEP = 2.0  # no machine is that busy


class Deadline:
    """A point on the monotonic clock, moved on by what this process slept through.

    The commands of a session that was suspended with Ctrl-Z for an hour are not late. A wait that
    ends two seconds after its time is such a sleep; a wait takes a second at most.
    """

    __slots__ = ("_at", "_awake_at", "_pause")

    def __init__(self, seconds: float | None, pause: float = _LONGEST) -> None:
        self._at = float("inf") if seconds is None else time.monotonic() + seconds
        self._pause = min(pause, _LONGEST)
        self._awake_at = float("inf")

    def has_passed(self) -> bool:
        """Return whether the time is over."""
        now = time.monotonic()
        late = now - self._awake_at
        if late > _ASLEEP:
            self._at += late
        self._awake_at = float("inf")
        return now >= self._at

    def pause(self) -> float:
        """Return the seconds that the wait which begins now may take; then ask `has_passed`."""
        now = time.monotonic()
        seconds = max(0.0, min(self._at - now, self._pause))
        self._awake_at = now + seconds
        return seconds


class Cancel(Event):
    """An event that also wakes a poll of descriptors: `fileno` can be read once it is set.

    It is polled and never read, by any number of threads. Limits: it is not to be cleared; a fork
    that sets it wakes its parent, in whom it is not set.
    """

    _ends: tuple[int, int]

    def set(self) -> None:
        """Set the event and wake everybody."""
        super().set()
        if ends := self.__dict__.get("_ends"):
            with suppress(OSError):  # a full pipe wakes as well
                os.write(ends[1], b"\0")

    def fileno(self) -> int:
        """Return the descriptor, -1 where there is none left."""
        if "_ends" not in self.__dict__:
            try:
                ends = os.pipe()
            except OSError:
                return -1
            os.set_blocking(ends[1], False)
            if self.__dict__.setdefault("_ends", ends) is not ends:  # another thread was first
                _close(ends)
            if self.is_set():
                self.set()
        return self._ends[0]

    def __del__(self) -> None:
        if ends := self.__dict__.get("_ends"):
            _close(ends)


def _close(ends: tuple[int, int]) -> None:
    for one in ends:
        with suppress(OSError):
            os.close(one)


@contextmanager
def interval_timer(seconds: float, tick: Callable[[], None]) -> Iterator[None]:
    """Call `tick` every `seconds` until the block is left."""
    if not _is_free():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        tick()

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGALRM) is ring:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _is_free() -> bool:
    if not hasattr(signal, "setitimer"):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    unused = signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    return unused and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
