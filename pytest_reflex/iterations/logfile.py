"""The log of a run on disk: JSON lines that are appended as well as the disk allows.

Promises: a line is appended in one write, private to the user; what cannot be written is told once
and stops nothing; a line that was cut short stands on a line of its own; no link is followed.
Limits: nothing is flushed to the platter, so that a power cut may take the last lines.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pytest_reflex.model.plain import visible

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def log_path(root: Path, procedure: str, started_at: str) -> Path:
    """Return where the log of a run is, below the folder of the loop's files (`.rooda`).

    `started_at` is the start that its state file names: a resumed run goes on in the same file.
    """
    stamp = "".join(char for char in started_at if char.isalnum())
    return root / "log" / procedure / f"{stamp}.jsonl"


class LogFile:
    """Appends to a file that is opened at the first line; `tell` hears once what went wrong."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self.path = path
        self._tell: Callable[[str], None] | None = tell
        self._descriptor: int | None = None

    def append(self, line: str) -> None:
        """Append one line, given without its end."""
        try:
            descriptor = self._opened()
            start = b"" if _ends_whole(descriptor) else b"\n"
            data = memoryview(start + line.encode("utf-8", "backslashreplace") + b"\n")
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError as error:
            self._failed(error)

    def close(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int:
        # An agent that clears the tree of what git ignores clears this away as well.
        if self._descriptor is not None and not os.fstat(self._descriptor).st_nlink:
            self.close()
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, _FLAGS, 0o600)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise OSError("it is no regular file")
            self._descriptor = descriptor
        return self._descriptor

    def _failed(self, error: OSError) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            reason = error.strerror or str(error)
            tell(f"the log {visible(str(self.path))} could not be written ({reason}): going on")


def _ends_whole(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
