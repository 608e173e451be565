"""A terminal for tests: a real pseudo-terminal whose output an emulator turns into a screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pyte

TIMEOUT = 60.0


class Terminal:
    """A program that runs on a terminal of its own, as the leader of its session."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        *,
        columns: int = 80,
        rows: int = 30,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str] = (sys.executable, "-m", "pytest_reflex"),
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=2000)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._ours, theirs = pty.openpty()
        self._set_size(columns, rows)
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [*program, *argv],
            cwd=cwd,
            env={**clean, "TERM": "xterm-256color", "PYTHONUTF8": "1", **(environment or {})},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        self._set_size(columns, rows)
        self.screen.resize(rows, columns)

    def send(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    @property
    def shown(self) -> str:
        """What stands on the screen now, without the blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    @property
    def everything(self) -> str:
        """What has scrolled away, and what stands on the screen."""
        gone = [
            "".join(line[x].data for x in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        return "\n".join([*gone, self.shown])

    def read(self, seconds: float = 0.1) -> bool:
        """Take what the program has written; return whether it is still there."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # nobody has the other end any more
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    def wait_for(self, *texts: str) -> str:
        """Return the screen once all texts stand on it."""
        deadline = time.monotonic() + TIMEOUT
        while not all(text in self.shown for text in texts):
            there = self.read()
            assert there or all(text in self.shown for text in texts), self.everything
            assert time.monotonic() < deadline, self.everything
        return self.shown

    def end(self) -> int:
        """Return the exit status once the program has ended."""
        deadline = time.monotonic() + TIMEOUT
        while self.read():
            assert time.monotonic() < deadline, self.everything
        return self.process.wait(TIMEOUT)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.send(b"\x03")
