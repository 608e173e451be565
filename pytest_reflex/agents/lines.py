"""The lines of a stream that comes in parts."""

from __future__ import annotations

from collections.abc import Callable


class LineReader:
    """Gives each whole line to `read`, without its newline; a longer one than `longest` is skipped.

    `longest` is in bytes, and bounds what is kept of a line that has not ended.
    """

    def __init__(self, longest: int, read: Callable[[bytes], object]) -> None:
        self._longest, self._read = longest, read
        self._line, self._is_long = b"", False

    def __call__(self, chunk: bytes) -> None:
        """Take the next part of the stream."""
        *lines, rest = (self._line + chunk).split(b"\n")
        for line in lines:
            if not self._is_long:
                self._read(line)
            self._is_long = False
        self._is_long = self._is_long or len(rest) > self._longest
        self._line = b"" if self._is_long else rest
