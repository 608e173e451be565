"""A running child: its output, kept within bounds, and its end, watched by one poll loop.

A program that leaves before a pipe was emptied loses what it had not written yet; a file takes
everything at once. Promises: no more than `limit` bytes and a few are read, whatever the file
holds.
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from pytest_reflex.process.group import kill_leftovers, signal_group

KEPT = 256 * 1024


class Capture:
    """Holds the first `head` and the last `tail` bytes of what is added, and the total."""

    __slots__ = ("_head", "_head_size", "_tail", "_tail_size", "total")

    def __init__(self, head: int = KEPT, tail: int = KEPT) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._head_size = head
        self._tail_size = tail
        self.total = 0

    @property
    def truncated(self) -> bool:
        return self.total > self._head_size + self._tail_size

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        free = self._head_size - len(self._head)
        if free > 0:
            self._head += chunk[:free]
            chunk = chunk[free:]
        if chunk:
            self._tail += chunk
            if len(self._tail) > 2 * self._tail_size + len(chunk):
                del self._tail[: len(self._tail) - self._tail_size]

    def data(self) -> bytes:
        """Return all bytes, or head and tail with a note between them.

        A UTF-8 character at a cut is left out whole.
        """
        if not self.truncated:
            return bytes(self._head + self._tail)
        head = _without_torn_end(bytes(self._head))
        tail = _without_torn_start(bytes(self._tail[len(self._tail) - self._tail_size :]))
        left_out = self.total - len(head) - len(tail)
        return head + b"\n[... %d bytes left out ...]\n" % left_out + tail


def _without_torn_end(data: bytes) -> bytes:
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0b1100_0000 == 0b1000_0000:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if length > back else data
    return data


def _without_torn_start(data: bytes) -> bytes:
    start = 0
    while start < min(3, len(data)) and data[start] & 0b1100_0000 == 0b1000_0000:
        start += 1
    return data[start:]


_CHUNK = 1 << 16
_LOOK = 1 << 20  # bytes of a file that are read before the clock is looked at again


class FollowedFile:
    """A new file that only its owner may read; `follow` is given each part of it once.

    A program that writes faster than it is read is known by the size of the file: `is_full` says
    whether it has more than `limit` bytes.
    """

    def __init__(
        self, path: Path, limit: int, follow: Callable[[bytes], object] | None = None
    ) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self.descriptor = os.open(path, flags, 0o600)
        self._limit, self._follow = limit, follow
        self._at = 0
        self.is_full = self.has_more = False

    def read(self, capture: Capture, most: float = math.inf, *, follow: bool = True) -> None:
        """Add what was written since the last look, about `most` bytes of it."""
        size = os.fstat(self.descriptor).st_size
        if size < self._at:  # the child opened it anew, which empties it
            self._at = 0
        end = min(size, self._at + most)
        while self._at < end and capture.total <= self._limit:
            chunk = os.pread(self.descriptor, min(_CHUNK, size - self._at), self._at)
            if not chunk:
                break
            self._at += len(chunk)
            capture.add(chunk)
            if follow and self._follow is not None:
                self._follow(chunk)
        self.is_full = size > self._limit
        self.has_more = self._at < size and capture.total <= self._limit

    def __enter__(self) -> FollowedFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)


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
        """Whether a process may still write to one of our pipes."""
        return bool(self._outputs)

    def step(self, seconds: float) -> None:
        """Wait at most `seconds` for something to happen, and deal with it."""
        if self._pidfd < 0 and not self.exited:
            seconds = min(seconds, _WITHOUT_PIDFD)
        if self._files:
            seconds = min(seconds, 0 if any(one.has_more for one in self._files) else _FILE_LOOK)
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
        for file, capture in self._files.items():
            file.read(capture, _LOOK)

    def read_files(self, *, follow: Callable[[], bool]) -> None:
        """Take all that the child has written to its files; it is followed as long as `follow`.

        To follow a flood takes a minute.
        """
        for file, capture in self._files.items():
            file.read(capture, _LOOK)
            while file.has_more and not file.is_full and follow():
                file.read(capture, _LOOK)
            file.read(capture, follow=False)

    @property
    def is_flooding(self) -> bool:
        """Whether it has written more to one of its files than it may."""
        return any(file.is_full for file in self._files)

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        signal_group(self.pid, number)

    def wait_exit(self, seconds: float) -> bool:
        """Serve the pipes until the child has exited, for at most `seconds`; no flood is served."""
        deadline = time.monotonic() + seconds
        while not self.exited and (left := deadline - time.monotonic()) > 0:
            if self.is_flooding:
                self.signal(signal.SIGKILL)
            self.step(left)
        return self.exited

    def wait_silence(self, seconds: float) -> bool:
        """Read until no process has our pipes open any more, for at most `seconds`.

        What was written by then is read whatever the clock says: a busy machine loses nothing.
        """
        deadline = time.monotonic() + seconds
        while self._outputs and (left := deadline - time.monotonic()) > 0:
            if self.is_flooding:
                break
            self.step(left)
        for _ in range(_LAST_READS):
            if self._outputs and not self.is_flooding:
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
        except ChildProcessError:  # reaped elsewhere: its status is lost
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
            # Never report a status of 0 that was not seen.
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
        except BrokenPipeError:  # it closed its stdin unread, which is no error
            self._input = memoryview(b"")
        if not self._input:
            self._poll.unregister(self._stdin)
            self._stdin = -1
            if self._process.stdin is not None:
                self._process.stdin.close()


def _milliseconds(seconds: float) -> int | None:
    # Rounded up: a wait that ends just before its deadline would spin.
    return None if seconds == float("inf") else max(0, math.ceil(seconds * 1000))
