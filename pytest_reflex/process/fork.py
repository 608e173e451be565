"""Run a function in a fork of this process: what is loaded stays warm, and a crash stays there.

Promises: `run_in_fork` returns at most `grace` + 2 s after the deadline; what the function prints
goes nowhere but into `ForkResult.noise`; its process group is gone afterwards, also where this
process is killed (see `guard`). An interruption is handed on, and after `grace` the fork is killed;
a second one kills it at once. Limits: a process that the function started in a session of its own
is killed only where it carries `mark` in its environment (Linux).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil, inf
from typing import IO, NoReturn

from pytest_reflex.process.deadline import Deadline
from pytest_reflex.process.group import kill_leftovers, kill_marked, signal_group
from pytest_reflex.process.guard import GUARD

Send = Callable[[bytes], None]
Hear = Callable[[bytes], object]

_CHUNK = 1 << 16
_NOISE = 4000
_WITHOUT_PIDFD = 0.02  # seconds between two looks where the system has no pidfd
_SPARE = 1.0
_RESET = (
    *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP"),
    *("SIGUSR1", "SIGUSR2", "SIGCHLD"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkResult:
    """What came of it: whole lines that were sent, the exit status (negative: a signal)."""

    lines: tuple[bytes, ...]
    status: int
    timed_out: bool
    noise: str


def can_fork() -> bool:
    """Return whether a fork is safe: the system has it, and no other thread holds a lock."""
    return hasattr(os, "fork") and threading.active_count() == 1


def run_in_fork(
    work: Callable[[Send], int],
    *,
    seconds: float,
    grace: float = 5.0,
    mark: str = "",
    hear: Hear = lambda line: None,
) -> ForkResult:
    """Call ``work(send)`` in a fork; what it returns is the exit status.

    ``send`` takes one line without its end. After `seconds` the fork gets TERM, which is raised in
    it as KeyboardInterrupt, and after `grace` KILL. `mark` is NAME=value of an environment variable
    by which its processes are known. `hear` is called with each line when it has come, also with
    those that come after an interruption.
    """
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as noise:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # a closed stream does not matter here
                stream.flush()
        with GUARD.share():
            pid = os.fork()
        if pid == 0:
            os.close(reader)
            _be_child(work, writer, noise)
        os.close(writer)
        GUARD.watch(pid)
        sent = _SentLines(reader, hear)
        try:
            status, asked = _follow(pid, sent, Deadline(seconds), grace)
        except BaseException:
            _interrupt(pid, grace)
            sent.drain()
            raise
        finally:
            os.close(reader)
            kill_leftovers(pid)
            if mark:
                kill_marked(mark)
            GUARD.release(pid)
        return ForkResult(
            lines=tuple(sent.lines), status=status, timed_out=asked, noise=_last_of(noise)
        )


def _be_child(work: Callable[[Send], int], writer: int, noise: IO[bytes]) -> NoReturn:
    status = 70
    try:
        os.setsid()
        for name in _RESET:
            if number := getattr(signal, name, None):
                signal.signal(number, signal.SIG_DFL)
        for name in ("SIGINT", "SIGTERM"):
            signal.signal(getattr(signal, name), signal.default_int_handler)
        if hasattr(signal, "SIGPIPE"):  # a reader of ours, such as the guard, may be gone
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        _redirect(noise)
        status = work(lambda line: _write_all(writer, line + b"\n"))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
    finally:
        # New objects for old streams: what the parent had not flushed must not come twice.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _redirect(noise: IO[bytes]) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(noise.fileno(), 1)
    os.dup2(noise.fileno(), 2)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def _write_all(writer: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(writer, view) :]


class _SentLines:
    """What was sent through a pipe so far, in whole lines; each is passed to `hear` once."""

    def __init__(self, reader: int, hear: Hear) -> None:
        os.set_blocking(reader, False)
        self.reader = reader
        self.lines: list[bytes] = []
        self._hear = hear
        self._rest = b""

    def drain(self) -> bool:
        """Read what is there; return whether more may come."""
        while True:
            try:
                chunk = os.read(self.reader, _CHUNK)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            for line in whole:
                self.lines.append(line)
                self._hear(line)


class _Wait:
    """Waits for what is registered, and for the end of a child where the system reports it."""

    def __init__(self, pidfd: int) -> None:
        self._poll, self._longest = select.poll(), inf if pidfd >= 0 else _WITHOUT_PIDFD
        if pidfd >= 0:
            self._poll.register(pidfd, select.POLLIN)
        self.register, self.unregister = self._poll.register, self._poll.unregister

    def wait(self, deadline: Deadline) -> None:
        """Wait for the first of them, until the deadline at most."""
        # Rounded up: a wait that ends just before its deadline would spin.
        self._poll.poll(ceil(min(deadline.pause(), self._longest) * 1000))


@contextmanager
def _watch(pid: int) -> Iterator[_Wait]:
    try:
        pidfd = os.pidfd_open(pid)
    except (AttributeError, OSError):  # another system, or an old kernel
        pidfd = -1
    try:
        yield _Wait(pidfd)
    finally:
        if pidfd >= 0:
            os.close(pidfd)


def _follow(pid: int, sent: _SentLines, deadline: Deadline, grace: float) -> tuple[int, bool]:
    """Read until the child has ended; return its status and whether it had to be asked to end.

    End of file is no sign: a grandchild may hold the pipe.
    """
    asked, is_open = False, True
    with _watch(pid) as end:
        end.register(sent.reader, select.POLLIN)
        while True:
            end.wait(deadline)
            if is_open and not sent.drain():
                is_open = False
                end.unregister(sent.reader)  # its end would wake us again and again
            done, raw = os.waitpid(pid, os.WNOHANG)
            if done:
                sent.drain()
                return os.waitstatus_to_exitcode(raw), asked
            if deadline.has_passed():
                signal_group(pid, signal.SIGKILL if asked else signal.SIGTERM)
                deadline, asked = Deadline(grace), True


def _interrupt(pid: int, grace: float) -> None:
    """Have the child end its commands and itself; a second interruption kills it."""
    try:
        signal_group(pid, signal.SIGTERM)
        deadline = Deadline(grace + _SPARE)
        with _watch(pid) as end:
            while not deadline.has_passed() and not os.waitpid(pid, os.WNOHANG)[0]:
                end.wait(deadline)
    except ChildProcessError:
        return
    finally:
        with suppress(ChildProcessError):
            signal_group(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _last_of(noise: IO[bytes]) -> str:
    noise.seek(0, os.SEEK_END)
    noise.seek(max(noise.tell() - _NOISE, 0))
    return noise.read().decode("utf-8", "backslashreplace")
