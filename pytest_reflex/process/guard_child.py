"""The guard process itself: waits for the end of its owner, and ends what that left running."""

from __future__ import annotations

import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

MARK = "PYTEST_REFLEX_CHILD"
TOKEN = "REFLEX_GUARD_TOKEN"

_BATCH = 0.1  # seconds; not awake for every command that begins and ends
_WITHOUT_PIDFD = 0.5
_GRACE = 1.0
_LOOK = 0.05
_PASSES, _SURE = 60, 3


class Leftovers:
    """What has to be cleared away: leaders of groups that run, processes, temporary folders."""

    def __init__(self) -> None:
        self.leaders: set[int] = set()
        self.processes: set[int] = set()
        self.folders: set[str] = set()


def main(owner: int) -> None:
    """Wait for `owner`, the process that started this one, then clean up after it."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    left = _watch(owner)
    end(left.leaders, os.environ.get(TOKEN, ""), left.processes)
    _remove(left.folders)


def _watch(owner: int) -> Leftovers:
    """Return what the owner had when it was gone."""
    left = Leftovers()
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    timeout: float | None = None
    try:
        poll.register(os.pidfd_open(owner), select.POLLIN)
    except (AttributeError, OSError):
        timeout = _WITHOUT_PIDFD * 1000
    torn = b""
    while os.getppid() == owner:
        for descriptor, _ in poll.poll(timeout):
            if descriptor != 0:
                continue
            data = os.read(0, 1 << 16)
            if not data:  # closed a moment before the end
                poll.unregister(0)
                timeout = 50
                continue
            *lines, torn = (torn + data).split(b"\n")
            note(lines, left)
            if os.getppid() == owner:
                time.sleep(_BATCH)
    return _rest(left, torn)


def _rest(left: Leftovers, torn: bytes) -> Leftovers:
    """Read what was reported last."""
    os.set_blocking(0, False)
    try:
        while data := os.read(0, 1 << 16):
            *lines, torn = (torn + data).split(b"\n")
            note(lines, left)
    except BlockingIOError:
        pass
    return left


def note(lines: list[bytes], left: Leftovers) -> None:
    """Take in what begins and what ends.

    +123 and -123 are a group, *123 and /123 a process, >/a/path and </a/path a folder.
    """
    for line in lines:
        kind, name = line[:1], line[1:]
        if kind == b"+":
            left.leaders.add(int(name))
        elif kind == b"-":
            left.leaders.discard(int(name))
        elif kind == b"*":
            left.processes.add(int(name))
        elif kind == b"/":
            left.processes.discard(int(name))
        elif kind == b">":
            left.folders.add(os.fsdecode(name))
        else:
            left.folders.discard(os.fsdecode(name))


def _remove(folders: set[str]) -> None:
    if folders:
        import shutil

        for folder in folders:
            for parent, _, _ in os.walk(folder):
                _try_call(os.chmod, parent, 0o700)  # write-protected ones too
            shutil.rmtree(folder, ignore_errors=True)


def end(leaders: set[int], token: str, processes: Iterable[int] = ()) -> None:
    """Ask everything to end, and after a while make it; be sure that nothing is left."""
    deadline = time.monotonic() + _GRACE
    empty, number = 0, int(signal.SIGTERM)
    for _ in range(_PASSES):
        # One look is not enough: a process that starts a program has no environment then.
        empty = 0 if _signal(leaders, processes, token, number) else empty + 1
        if empty == _SURE:
            return
        number = signal.SIGKILL if time.monotonic() > deadline else 0
        time.sleep(_LOOK)


def _signal(leaders: set[int], processes: Iterable[int], token: str, number: int) -> bool:
    """Signal all groups and processes, also marked ones; return whether there were any."""
    found = False
    for leader in leaders:
        if leader > 1:
            found = _try_call(os.killpg, leader, number) or found
    for pid in (*processes, *_find_marked(token)):
        found = _try_call(os.kill, pid, number) or found
    return found


def _try_call(call: Callable[[Any, int], None], target: int | str, number: int) -> bool:
    try:
        call(target, number)
    except OSError:
        return False
    return True


def _find_marked(token: str) -> list[int]:
    wanted = f"\0{MARK}={token}-".encode()
    found = []
    for name in os.listdir("/proc") if token and os.path.isdir("/proc/self") else ():
        if name.isdigit() and name != str(os.getpid()):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if wanted in b"\0" + file.read():
                        found.append(int(name))
            except OSError:
                continue
    return found
