"""Run one command to its end: bounded in time and output, with its whole process group.

Promises: `run` returns at most `grace` + 2 s after the deadline; no process of the child's group
survives it, however it ends (also by KeyboardInterrupt, and by the death of this process: see
`guard`); a child that does not read its input, never stops writing, ignores signals or leaves
children behind cannot block it. What was left behind is killed and reported, in whatever session.
Limits: outside Linux a child that leaves its session and closes our pipes is not found; nowhere is
one that also wipes its environment.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from threading import Event

from pytest_reflex.process.child import KEPT, Capture, Child, FollowedFile
from pytest_reflex.process.deadline import Cancel, Deadline
from pytest_reflex.process.group import kill_escaped, kill_marked
from pytest_reflex.process.guard import GUARD
from pytest_reflex.process.spawn import SpawnError, spawn

HARD_CAP = 2_000_000_000
_DRAIN = 1.0
_CANCEL_POLL = 0.1
_LONG = 10.0  # seconds in which the system may have given out all process ids
_running: set[Child] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a command ended and what it wrote.

    `returncode` is the exit status, negative for a signal, None where it is not known. It means
    nothing where `stopped`. Output is head and tail where there was too much; `stdout_total` and
    `stderr_total` count every byte.
    """

    returncode: int | None
    stdout: bytes
    stderr: bytes
    stdout_total: int
    stderr_total: int
    stdout_truncated: bool
    stderr_truncated: bool
    seconds: float
    timed_out: bool = False
    cancelled: bool = False
    overflow: bool = False
    left_children: bool = False

    @property
    def truncated(self) -> bool:
        return self.stdout_truncated or self.stderr_truncated

    @property
    def stopped(self) -> bool:
        """Whether we ended it: by time-out, cancellation, or because it wrote too much."""
        return self.timed_out or self.cancelled or self.overflow

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, if one did."""
        code = self.returncode
        return -code if code is not None and code < 0 else None


def run(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    stdin: bytes | None = None,
    timeout: float | None = None,
    grace: float = 5.0,
    head: int = KEPT,
    tail: int = KEPT,
    hard_cap: int = HARD_CAP,
    cancel: Event | None = None,
    keep_partial: Callable[[bytes], object] | None = None,
    stdout_file: FollowedFile | None = None,
    notes: FollowedFile | None = None,
) -> Finished:
    """Run `argv` without a shell and return how it ended.

    `env` is its whole environment. `stdin` is written and closed, None is /dev/null. `timeout` and
    `grace` are seconds: at the deadline the group gets TERM, after the grace KILL. Of each stream
    `head` and `tail` bytes are kept; a child that writes more than `hard_cap` is killed. Setting
    `cancel` ends it like a time-out, at once where that is a `Cancel`. Where we are interrupted,
    `keep_partial` is given what stdout had until then. Standard output is a pipe, or goes into
    `stdout_file`; `notes` is a further file that is followed. Raises SpawnError where it cannot be
    started.
    """
    started = time.monotonic()
    wake = cancel.fileno() if isinstance(cancel, Cancel) else -1
    deadline = Deadline(timeout, float("inf") if cancel is None or wake >= 0 else _CANCEL_POLL)
    name, _, value = (mark := GUARD.mark()).partition("=")
    out, err = Capture(head, tail), Capture(head, tail)

    def why_stop(child: Child) -> _StopCause:
        if deadline.has_passed():
            return _StopCause.TIMED_OUT
        if cancel is not None and cancel.is_set():
            return _StopCause.CANCELLED
        is_over = child.is_flooding or out.total + err.total > hard_cap
        return _StopCause.OVERFLOW if is_over else _StopCause.NOTHING

    stdout = subprocess.PIPE if stdout_file is None else stdout_file.descriptor
    try:
        variables = {**env, name: value}
        process = spawn(argv, cwd=cwd, env=variables, stdin=stdin is not None, stdout=stdout)
        child = Child(process, stdin, out, err, wake, stdout_file, notes)
        with _register(child):
            why, left = _attend(child, mark, grace, deadline, why_stop)
    except SpawnError:
        raise
    except BaseException:
        # Interrupted while it was being started, it is known by its mark only.
        kill_marked(mark)
        if keep_partial is not None:
            keep_partial(out.data())
        raise
    return _result(child.returncode, out, err, time.monotonic() - started, why, left)


def kill_running() -> None:
    """Kill the groups of all commands that run now, in whatever thread: no one waits for them."""
    for child in tuple(_running):
        if not child.exited:
            child.signal(signal.SIGKILL)


class _StopCause(Enum):
    """Why a child has to be stopped."""

    NOTHING = auto()
    TIMED_OUT = auto()
    CANCELLED = auto()
    OVERFLOW = auto()


def _result(
    returncode: int | None, out: Capture, err: Capture, seconds: float, why: _StopCause, left: bool
) -> Finished:
    return Finished(
        returncode=returncode,
        stdout=out.data(),
        stderr=err.data(),
        stdout_total=out.total,
        stderr_total=err.total,
        stdout_truncated=out.truncated,
        stderr_truncated=err.truncated,
        seconds=seconds,
        timed_out=why is _StopCause.TIMED_OUT,
        cancelled=why is _StopCause.CANCELLED,
        overflow=why is _StopCause.OVERFLOW,
        left_children=left,
    )


@contextmanager
def _register(child: Child) -> Iterator[None]:
    """Let a child be ended by `kill_running`, and by the guard when this process is gone."""
    GUARD.watch(child.pid)
    _running.add(child)
    try:
        yield
    finally:
        if child.ended:  # else interrupted twice: what still lives is the guard's
            _running.discard(child)
            GUARD.release(child.pid)


def _attend(
    child: Child,
    mark: str,
    grace: float,
    deadline: Deadline,
    why_stop: Callable[[Child], _StopCause],
) -> tuple[_StopCause, bool]:
    """Serve a child until nothing of it is left; return why it was stopped, and what it left."""
    started = time.monotonic()
    why, left = _StopCause.NOTHING, False
    try:
        while not child.exited and (why := why_stop(child)) is _StopCause.NOTHING:
            child.step(deadline.pause())
        if why is not _StopCause.NOTHING:
            _stop(child, 0.0 if why is _StopCause.OVERFLOW else grace)
            left = kill_marked(mark) > 0
        if not child.wait_silence(_DRAIN):
            child.signal(signal.SIGKILL)
            kill_marked(mark)
            child.wait_silence(_DRAIN)
            left = True
    except BaseException:
        # Above all KeyboardInterrupt; a second one ends the grace.
        why = _StopCause.CANCELLED
        _stop(child, grace)
        raise
    finally:
        left = child.end() or left
        short = time.monotonic() - started < _LONG
        escaped = kill_escaped(mark, child.pid) if short else kill_marked(mark)
        ended = why is _StopCause.NOTHING
        child.read_files(follow=lambda: ended and why_stop(child) is _StopCause.NOTHING)
    if ended and child.is_flooding:
        why = _StopCause.OVERFLOW
    return why, left or escaped > 0


def _stop(child: Child, grace: float) -> None:
    """Ask the group to end, then make it; what the leader left behind is not asked."""
    if grace > 0:
        child.signal(signal.SIGTERM)
        child.signal(signal.SIGCONT)  # a stopped process handles no signal
        child.wait_exit(grace)
    child.signal(signal.SIGKILL)
    child.wait_exit(_DRAIN)
