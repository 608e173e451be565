"""A call at intervals while something else goes on, in the main thread and without another one.

A thread would keep EVALUATE from its fork, where no lock may be held by anybody else; a timer and
its signal do not. Limits: only in the main thread of a system with timers, and not where somebody
uses the alarm already; who takes it later has it, and the calls end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ticking(seconds: float, tick: Callable[[], None]) -> Iterator[None]:
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
