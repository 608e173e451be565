"""Signals to whole process groups, and the search for processes that outlived their leader.

A child is the leader of a session of its own, so that its process id is also the id of its group.
Nothing here raises because a process is gone already, and nothing signals our own group.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

_PROC = "/proc"


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to the group of a child that was not reaped yet; False where none is left."""
    if leader <= 1 or leader == os.getpgrp():
        return False
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_leftovers(leader: int) -> bool:
    """Kill what is left of a group whose leader was reaped; return whether there was anything.

    The id could belong to a new group by now: where the system can tell (Linux), only processes of
    the leader's own session count, and those that are dead but not yet reaped do not.
    """
    if not signal_group(leader, 0):
        return False
    if not os.path.isdir(f"{_PROC}/self"):
        return signal_group(leader, signal.SIGKILL)
    return _kill(pid for pid in _numbers() if _lives_in_session(pid, leader))


def kill_marked(mark: str) -> bool:
    """Kill every process whose environment holds `mark` (NAME=value); return whether any did.

    Finds those that left their group and session. Linux only; elsewhere nothing is found.
    """
    wanted = b"\0" + os.fsencode(mark) + b"\0"
    return _kill(pid for pid in _numbers() if wanted in b"\0" + _read(pid, "environ") + b"\0")


def _kill(pids: Iterator[int]) -> bool:
    found = False
    for pid in pids:
        if pid > 1 and pid != os.getpid():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                found = True
    return found


def _numbers() -> Iterator[int]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    yield from (int(name) for name in names if name.isascii() and name.isdigit())


def _lives_in_session(pid: int, session: int) -> bool:
    # The name of the program may hold blanks and brackets; the fields follow its last bracket.
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return len(fields) > 3 and fields[0] not in (b"Z", b"X") and int(fields[3]) == session


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"{_PROC}/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
