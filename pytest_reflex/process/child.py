"""A running child: its pipes and its end, watched by one poll loop."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import time

from pytest_reflex.process.capture import Capture
from pytest_reflex.process.followed import FollowedFile
from pytest_reflex.process.group import kill_leftovers, signal_group

_CHUNK = 1 << 16
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
_WRITABLE = select.POLLOUT | select.POLLERR
_WITHOUT_PIDFD = 0.02  # seconds between two looks where the system has no pidfd
_FILE_LOOK = 0.1  # seconds between two looks at a file that the child writes to
_REAP = 1.0
_LAST_READS = 32  # of a chunk each: twice what the largest pipe holds, and the end of it


class Child:
    """The leader of a process group, with what it is given to read and what it wrote.

    It is reaped in `end` only: until then its id cannot go to another process, and signals to the
    group are safe. `wake` is a descriptor that ends a wait when it can be read.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: bytes | None,
        out: Capture,
        err: Capture,
        wake: int = -1,
        file: FollowedFile | None = None,
        notes: FollowedFile | None = None,
    ) -> None:
        self._process = process
        captures = {file: out, notes: Capture(0, 0)}
        self._files = {file: one for file, one in captures.items() if file is not None}
        self.pid = process.pid
        self.exited = self.ended = False
        self.returncode: int | None = None
        self._input = memoryview(stdin or b"")
        self._poll = select.poll()
        self._outputs: dict[int, Capture] = {}
        self._stdin = self._pidfd = -1
        for pipe, capture in ((process.stdout, out), (process.stderr, err)):
            if pipe is not None:
                self._outputs[pipe.fileno()] = capture
                self._poll.register(pipe.fileno(), _READABLE)
        if process.stdin is not None:
            self._stdin = process.stdin.fileno()
            os.set_blocking(self._stdin, False)
            self._poll.register(self._stdin, _WRITABLE)
        self._wake = wake
        if wake >= 0:
            self._poll.register(wake, select.POLLIN)
        self._watch_exit()

    @property
    def writing(self) -> bool:
        """Whether somebody may still write to one of our pipes."""
        return bool(self._outputs)

    def step(self, seconds: float) -> None:
        """Wait at most `seconds` for something to happen, and deal with it."""
        if self._pidfd < 0 and not self.exited:
            seconds = min(seconds, _WITHOUT_PIDFD)
        if self._files:
            seconds = min(seconds, _FILE_LOOK)
        for descriptor, _ in self._poll.poll(_milliseconds(seconds)):
            if descriptor in self._outputs:
                self._read(descriptor)
            elif descriptor == self._stdin:
                self._write()
            elif descriptor == self._wake:
                self._poll.unregister(descriptor)  # once is enough: it stays as it is
            else:
                self._see_exit()
        if self._pidfd < 0 and not self.exited:
            self._see_exit()
        self.read_files()

    def read_files(self) -> None:
        """Take what the child has written to its files, where it has any."""
        for file, capture in self._files.items():
            file.read(capture)

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        signal_group(self.pid, number)

    def wait_exit(self, seconds: float) -> bool:
        """Serve the pipes until the child has exited, for at most `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.exited and (left := deadline - time.monotonic()) > 0:
            self.step(left)
        return self.exited

    def wait_silence(self, seconds: float) -> bool:
        """Read until no process has our pipes open any more, for at most `seconds`.

        What was written by then is read whatever the clock says: a busy machine loses nothing.
        """
        deadline = time.monotonic() + seconds
        while self._outputs and (left := deadline - time.monotonic()) > 0:
            self.step(left)
        for _ in range(_LAST_READS):
            if self._outputs:
                self.step(0)
        return not self._outputs

    def end(self) -> bool:
        """Kill what still runs, reap the child, close everything; return whether others were left.

        The group's other members die here in any case.
        """
        if not self.exited:
            self.signal(signal.SIGKILL)
            self.wait_exit(_REAP)
        self._reap()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        left = kill_leftovers(self.pid) if self.exited else False
        self.ended = True
        return left

    def _watch_exit(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # another system, or an old kernel
            return
        self._poll.register(self._pidfd, select.POLLIN)

    def _see_exit(self) -> None:
        try:
            state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # reaped by somebody else: its status is lost
            self.exited = True
        else:
            self.exited = state is not None
        if self.exited and self._pidfd >= 0:
            self._poll.unregister(self._pidfd)

    def _reap(self) -> None:
        flags = 0 if self.exited else os.WNOHANG
        try:
            pid, status = os.waitpid(self.pid, flags)
        except ChildProcessError:
            # Never a status of 0 that nobody has seen.
            self._process.returncode = -signal.SIGKILL
            return
        if pid:
            self.returncode = os.waitstatus_to_exitcode(status)
            self._process.returncode = self.returncode

    def _read(self, descriptor: int) -> None:
        chunk = os.read(descriptor, _CHUNK)
        if chunk:
            self._outputs[descriptor].add(chunk)
        else:
            self._poll.unregister(descriptor)
            del self._outputs[descriptor]

    def _write(self) -> None:
        try:
            self._input = self._input[os.write(self._stdin, self._input[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not want to read: no fault of ours
            self._input = memoryview(b"")
        if not self._input:
            self._poll.unregister(self._stdin)
            self._stdin = -1
            if self._process.stdin is not None:
                self._process.stdin.close()


def _milliseconds(seconds: float) -> int | None:
    # Rounded up: a wait that ends just before its deadline would spin.
    return None if seconds == float("inf") else max(0, math.ceil(seconds * 1000))
