"""A deadline that counts the time in which this process could do something about it."""

from __future__ import annotations

import time

_LONGEST = 1.0
_ASLEEP = 2.0  # no machine is that busy


class Deadline:
    """A point on the monotonic clock, moved on by what this process slept through.

    Whoever stops a session with Ctrl-Z for an hour does not mean that its commands are late. A wait
    that ends two seconds after its time is such a sleep; a wait takes a second at most.
    """

    __slots__ = ("_at", "_awake_at", "_pause")

    def __init__(self, seconds: float | None, pause: float = _LONGEST) -> None:
        self._at = float("inf") if seconds is None else time.monotonic() + seconds
        self._pause = min(pause, _LONGEST)
        self._awake_at = float("inf")

    def passed(self) -> bool:
        """Return whether the time is over."""
        now = time.monotonic()
        late = now - self._awake_at
        if late > _ASLEEP:
            self._at += late
        self._awake_at = float("inf")
        return now >= self._at

    def pause(self) -> float:
        """Return the seconds that the wait which begins now may take; then ask `passed`."""
        now = time.monotonic()
        seconds = max(0.0, min(self._at - now, self._pause))
        self._awake_at = now + seconds
        return seconds
