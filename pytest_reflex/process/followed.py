"""The standard output of a child in a regular file, read while it grows.

A program that leaves before a pipe was emptied loses what it had not written yet; a file takes
everything at once. Promises: no more than `limit` bytes and a few are read, whatever the file
holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from pytest_reflex.process.capture import Capture

_CHUNK = 1 << 16


class FollowedFile:
    """A new file that only its owner may read; `follow` is given each part of it once."""

    def __init__(
        self, path: Path, limit: int, follow: Callable[[bytes], object] | None = None
    ) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self.descriptor = os.open(path, flags, 0o600)
        self._limit, self._follow = limit, follow
        self._at = 0

    def read(self, capture: Capture) -> None:
        """Add what was written since the last look."""
        size = os.fstat(self.descriptor).st_size
        if size < self._at:  # the child opened it anew, which empties it
            self._at = 0
        while self._at < size and capture.total <= self._limit:
            chunk = os.pread(self.descriptor, min(_CHUNK, size - self._at), self._at)
            if not chunk:
                return
            self._at += len(chunk)
            capture.add(chunk)
            if self._follow is not None:
                self._follow(chunk)

    def __enter__(self) -> FollowedFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.descriptor)
