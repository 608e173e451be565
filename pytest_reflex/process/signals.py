"""Signals that end a program cleanly, each with its own exit status, and Ctrl-Z, which pauses it.

The first SIGINT, SIGTERM or SIGHUP is a KeyboardInterrupt: commands get TERM and some time. The
second, and SIGQUIT, kills them: we leave at once. A signal that was ignored when we were started
(nohup) stays ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_AT_ONCE = getattr(signal, "SIGQUIT", None)


class Interruptions:
    """The signals received, in order; `deaf` where further ones are ignored."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.deaf = False

    def status(self) -> int:
        """Return 128+n for the first signal; 130 where none was recorded."""
        return 128 + (self.received[0] if self.received else signal.SIGINT)

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal that ends us."""
        self.received.append(number)
        if number == _AT_ONCE or len(self.received) > 1:
            kill = _get_loaded("run", "kill_running")
            if kill is not None:
                kill()
        # A third one would only keep us from clearing up.
        if not self.deaf and len(self.received) <= 2:
            raise KeyboardInterrupt


@contextmanager
def interruptible(*, leaving: bool = False) -> Iterator[Interruptions]:
    """Turn signals into KeyboardInterrupt, and have commands pause where we do.

    With `leaving` the process ends afterwards: a late signal must not change how.
    """
    interruptions = Interruptions()
    if threading.current_thread() is not threading.main_thread():
        yield interruptions
        return
    before = dict(_install(interruptions))
    try:
        yield interruptions
    finally:
        if leaving and interruptions.received:
            # The interpreter takes its handlers away before it ends: a mask stays.
            interruptions.deaf = True
            signal.pthread_sigmask(signal.SIG_BLOCK, before)
        else:
            for number, handler in before.items():
                signal.signal(number, handler)


def _install(interruptions: Interruptions) -> Iterator[tuple[int, Any]]:
    wanted = dict.fromkeys(_ENDING, interruptions.take) | {"SIGTSTP": _pause}
    for name, handler in wanted.items():
        number = getattr(signal, name, None)
        # None: set by something else than Python, and not to be put back.
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            yield number, signal.signal(number, handler)


def _pause(number: int, frame: FrameType | None) -> None:
    """Stop with our commands; they have sessions of their own, where Ctrl-Z does not reach."""
    guard = _get_loaded("guard", "GUARD")
    if guard is not None:
        guard.signal(signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    if guard is not None:
        guard.signal(signal.SIGCONT)


def _get_loaded(module: str, name: str) -> Any:
    # Where it was not imported, nothing runs; a handler is not a place to import it.
    return getattr(sys.modules.get(f"pytest_reflex.process.{module}"), name, None)
