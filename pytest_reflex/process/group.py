"""Signals to whole process groups, and the search for processes that outlived their leader.

A child is the leader of a session of its own, so that its process id is also the id of its group.
What left that session is known by a mark in its environment, which it hands on to all it starts.
Nothing here raises because a process is gone already, and nothing signals our own group.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from pytest_reflex.process.guard_child import MARK

_PROC = "/proc"
_KILL_TIMEOUT = 1.0  # seconds until a process that was sent KILL must be gone
_LOOK = 0.005
_TRIES, _MOMENT = 5, 0.001
_OF_KERNEL = 0x0020_0000
_OWNED = re.compile(rb"\0%s=[0-9a-f]+-([0-9]{1,10})-[0-9]+\0" % os.fsencode(MARK))
_FEW = 64  # process ids; beyond that the list of all processes is shorter


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

    The id could belong to a new group by now: where the system knows (Linux), only processes of
    the leader's own session count, and those that are dead but not yet reaped do not.
    """
    if not signal_group(leader, 0):
        return False
    if not os.path.isdir(f"{_PROC}/self"):
        return signal_group(leader, signal.SIGKILL)
    return _kill_all(_numbers, lambda pid: _session(pid) == leader) > 0


def kill_marked(mark: str) -> int:
    """Kill every process whose environment holds `mark` (NAME=value); return how many did.

    Finds those that left their group and session. Linux only; elsewhere nothing is found.
    """
    return _kill_all(_numbers, _carries(mark))


def kill_escaped(mark: str, leader: int) -> int:
    """Kill what carries the mark of a child that has ended; return how many there were.

    As `kill_marked`, and much cheaper for a short life: whatever the child started has a later
    process id than it, so that only ids given out since then are looked at.
    """
    return _kill_all(lambda: _since(leader), _carries(mark))


def kill_abandoned(mark: str) -> int:
    """Kill what carries the mark of an owner that is gone, but no process that we descend from.

    What a process that still lives has started was not left behind, whatever its mark says.
    """
    spared = {os.getpid(), *_ancestors()}
    carries = _carries(mark)

    def is_meant(pid: int) -> bool:
        return pid not in spared and carries(pid) and not _owner(pid)

    return _kill_all(_numbers, is_meant)


def find_owner(mark: str) -> int:
    """Return the id of another process that lives and has started what carries a mark, else 0.

    Linux only; elsewhere nothing is found.
    """
    carries = _carries(mark)
    return next(filter(None, (_owner(pid) for pid in _numbers() if carries(pid))), 0)


def signal_marked(start: str, number: int) -> None:
    """Send a signal to every process with a mark (NAME=value) that starts so. Linux only."""
    wanted = b"\0" + os.fsencode(start)
    for pid in _numbers():
        if pid > 1 and pid != os.getpid() and wanted in b"\0" + _environment(pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _carries(mark: str) -> Callable[[int], bool]:
    wanted = b"\0" + os.fsencode(mark) + b"\0"
    return lambda pid: wanted in b"\0" + _environment(pid) + b"\0"


def _environment(pid: int) -> bytes:
    """Return the environment of a process; it shows none for a moment while it starts a program."""
    for _ in range(_TRIES):
        if (found := _read(pid, "environ")) or not _is_program(pid):
            return found
        time.sleep(_MOMENT)
    return b""


def _kill_all(pids: Callable[[], Iterable[int]], is_meant: Callable[[int], bool]) -> int:
    """Kill until none is left: one that was not killed yet may have started another."""
    killed: set[int] = set()
    deadline = time.monotonic() + _KILL_TIMEOUT
    while found := [pid for pid in pids() if is_meant(pid) and _kill(pid, is_meant)]:
        killed.update(found)
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK)
    return len(killed)


def _kill(pid: int, is_meant: Callable[[int], bool]) -> bool:
    """Kill a process that still is the one that was meant, not another with its id."""
    if pid <= 1 or pid == os.getpid():
        return False
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except (AttributeError, OSError):  # another system, or no descriptor is free
        return _kill_by_number(pid)
    try:
        if not is_meant(pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def _kill_by_number(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _numbers() -> Iterator[int]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    yield from (int(name) for name in names if name.isascii() and name.isdigit())


def _since(leader: int) -> Iterable[int]:
    """Return ids that may have been given out after `leader`, those without a process included."""
    try:
        with open(f"{_PROC}/loadavg", "rb") as file:
            newest = int(file.read().split()[-1])
    except (OSError, ValueError, IndexError):
        return _numbers()
    # Fewer than none: the system began to count anew.
    return range(leader + 1, newest + 1) if 0 <= newest - leader <= _FEW else _numbers()


def _ancestors() -> Iterator[int]:
    pid = os.getppid()
    while pid > 1:
        yield pid
        fields = _status(pid)
        pid = int(fields[1]) if len(fields) > 1 else 0


def _owner(pid: int) -> int:
    """Return the id of the living process, not ours, whose guard's mark a process has; else 0."""
    found = _OWNED.search(b"\0" + _environment(pid) + b"\0")
    owner = int(found[1]) if found else 0
    if owner in (0, os.getpid()):
        return 0
    # An owner that is younger than its child has a reused process id.
    return owner if 0 < _start_ticks(owner) <= _start_ticks(pid) else 0


def _start_ticks(pid: int) -> int:
    """Return when a living process was started, in ticks since the system was; else 0."""
    fields = _status(pid)
    return int(fields[19]) if len(fields) > 19 and fields[0] not in (b"Z", b"X") else 0


def _session(pid: int) -> int:
    """Return the session of a living process, 0 where it is dead, reaped or not."""
    fields = _status(pid)
    return int(fields[3]) if len(fields) > 3 and fields[0] not in (b"Z", b"X") else 0


def _is_program(pid: int) -> bool:
    """Return whether a process lives, and is none of the kernel's own."""
    fields = _status(pid)
    return len(fields) > 6 and fields[0] not in (b"Z", b"X") and not int(fields[6]) & _OF_KERNEL


def _status(pid: int) -> list[bytes]:
    """Return what `stat` has after the name: state, parent, group, session, two more, flags ..."""
    # The name of the program may hold blanks and brackets; the fields follow its last bracket.
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"{_PROC}/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
