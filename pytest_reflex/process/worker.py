"""A child of our own that stays for many questions, each with a deadline.

A question and its answer are one frame each: 8 bytes of length (big-endian), then the payload. The
child ends by itself when its standard input closes, and where it is too busy to notice, the guard
ends it. A worker that missed a deadline is killed: what it says later belongs to no question.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from threading import Lock

from pytest_reflex.process import worker_child
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.group import signal_group
from pytest_reflex.process.guard import GUARD
from pytest_reflex.process.spawn import spawn

_CHUNK = 1 << 16
_LENGTH = 8
_LOOK = 0.05
_BUSIEST = 30  # times as long as on an idle machine, at most
_AT_WORK = ("R", "D", "T")  # it runs or wants to, waits for a disk, or was stopped with us


class LateError(Exception):
    """The answer did not come in time; the worker is gone."""


class DiedError(Exception):
    """The worker ended without an answer."""


def worker_command(module: str, *arguments: str, site: bool = True) -> list[str]:
    """Return the command of a worker that is served by a module's file, as `worker_child` says.

    `site` where it needs more than the standard library.
    """
    alone = [] if site else ["-S"]
    return [sys.executable, "-I", "-B", *alone, worker_child.__file__, module, *arguments]


class Worker:
    """One warm child. Not for several threads at once, and not across a fork."""

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str]) -> None:
        name, _, value = GUARD.mark().partition("=")
        self._process = spawn(argv, cwd="/", env={**env, name: value}, stdin=True, stderr=False)
        GUARD.watch(self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._owner = os.getpid()
        self._asked_at = self._seconds = self._used = 0.0

    @property
    def usable(self) -> bool:
        """Whether it can still be asked: alive, and started by this very process."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Return the answer; raises LateError or DiedError, after which the worker is gone."""
        self._asked_at, self._seconds = time.monotonic(), seconds
        self._used = _use_of(self._process.pid)[1]
        deadline = self._asked_at + seconds
        try:
            self._send(len(question).to_bytes(_LENGTH, "big"), deadline)
            self._send(question, deadline)
            length = int.from_bytes(self._receive(_LENGTH, deadline), "big")
            return self._receive(length, deadline)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the child and reap it; in a fork of its owner, only let go of it."""
        if self._owner == os.getpid():
            if self._process.returncode is None:
                signal_group(self._process.pid, signal.SIGKILL)
                self._process.wait()
            GUARD.release(self._process.pid)
        self._process.returncode = self._process.returncode or 0
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._to, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._to, view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise DiedError from None

    def _receive(self, length: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._wait(self._from, select.POLLIN, deadline)
            chunk = os.read(self._from, min(_CHUNK, length - len(data)))
            if not chunk:
                raise DiedError
            data += chunk
        return bytes(data)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        while not poll.poll(max(deadline - time.monotonic(), 0.0) * 1000):
            if not self._waits_for_processor():
                raise LateError
            deadline = time.monotonic() + _LOOK

    def _waits_for_processor(self) -> bool:
        """Return whether the child is at work and had less of the processor than its seconds.

        A busy machine is not caused by the question. Linux only; elsewhere the clock decides.
        """
        if time.monotonic() - self._asked_at > self._seconds * _BUSIEST:
            return False
        state, used = _use_of(self._process.pid)
        return state in _AT_WORK and used - self._used < self._seconds


STARTING = 60.0


class KeptWorker:
    """A worker that is kept between questions, started on the first one and after each loss."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._lock = Lock()

    def close(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            self._drop()

    def forget(self) -> None:
        """Let go of the child of the process that this one was forked from."""
        self._lock = Lock()
        self._drop()

    def close_at_exit(self) -> None:
        """Have the child end with this process, and a fork forget it."""
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker = None

    def _start(self, argv: Sequence[str]) -> Worker:
        self._worker = Worker(argv, env=copy_environment())
        self._worker.ask(b"", STARTING)  # starting up is not the question's fault
        return self._worker


def _use_of(pid: int) -> tuple[str, float]:
    """Return the state of a process, and the seconds of the processor that it had."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return fields[0].decode(), ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return "", 0.0
