"""Signals that end a driver cleanly: SIGTERM and SIGHUP act like Ctrl-C, with their own status."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pytest_reflex.errors import ExitCode

CAUGHT = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt; yield the numbers of those received."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in CAUGHT}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ended_by_signal(received: list[int]) -> int:
    """Return 128+n for the first signal received, 130 for Ctrl-C."""
    return 128 + received[0] if received else ExitCode.INTERRUPTED
