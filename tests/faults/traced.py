"""The write-side system calls of a run as strace sees them, and a kill at each of them.

Only the main thread is traced: it alone writes the state, and agents and checks stay untouched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.aftermath import Ground
from tests.faults.project import Project

MISSING = "strace is not installed (Debian: apt-get install strace)"
SYSTEM_CALLS = (
    *("open", "openat", "creat", "write", "pwrite64", "writev", "fsync", "fdatasync"),
    *("sync_file_range", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"),
    *("mkdir", "mkdirat", "truncate", "ftruncate", "fallocate", "chmod", "fchmod", "fchmodat"),
    *("link", "linkat", "symlink", "symlinkat"),
)
OPENS = ("open", "openat", "creat")
_OFFSETS = (0, 0, -1, 1, -2, 2, -4, 4, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Point:
    """The `number`-th call of that `name` in the main thread; `what` is the same in every run."""

    name: str
    number: int
    what: str


def trace(
    project: Project,
    names: Iterable[str],
    log: Path,
    *options: str,
    opens: bool = False,
    more: tuple[str, ...] = (),
) -> int:
    """Run the loop of a project under strace; return its exit status (-9: killed).

    `more` are further words of its command.

    With `opens` only calls on the state's folders and history are seen: a program opens many files,
    and now and then one more.
    """
    argv = ["strace", "-qq", "-y", "-s", "0", "-o", str(log)]
    argv += ["-e", "trace=" + ",".join(f"?{name}" for name in names), *options]
    for path in (project.root, project.run, project.run / "history.jsonl") if opens else ():
        argv += ["-P", str(path)]
    argv += [sys.executable, "-m", "pytest_reflex", *project.new(*more)]
    return subprocess.run(argv, cwd=project.folder, capture_output=True, timeout=120).returncode


def points_of(project: Project, log: Path) -> list[Point]:
    """Return every call in a log that writes below the state folder."""
    counts: Counter[str] = Counter()
    found = []
    for line in log.read_text("utf-8", "backslashreplace").splitlines():
        name = line.partition("(")[0]
        if name not in SYSTEM_CALLS:
            continue
        counts[name] += 1
        if writes(line) and str(project.state) in line:
            found.append(Point(name, counts[name], _what(project, line)))
    return found


def writes(line: str) -> bool:
    """Return whether a call changes something: all that were asked for do, but opening to read."""
    return line.partition("(")[0] not in OPENS or "O_CREAT" in line or "O_TRUNC" in line


def _what(project: Project, line: str) -> str:
    """Return a call without what differs from run to run: folder, numbers, random names."""
    text = line.replace(str(project.folder), "").rpartition(")")[0]
    return re.sub(r"\.[0-9a-f]{12}\.tmp|\b\d+(?=<)|, \d+$", "", text)


def kills(place: Ground) -> Iterator[tuple[str, list[str] | None]]:
    """Kill a run at each point; yield the point and what was wrong afterwards."""
    log = place.folder / "strace.log"
    points = []
    for names, opens in ((OPENS, True), (set(SYSTEM_CALLS) - set(OPENS), False)):
        project = place.project()
        trace(project, names, log, opens=opens)
        points += points_of(project, log)
    for number, point in enumerate(points, 1):
        yield f"{number}: {point.what}", _killed(place, point, log)


def _killed(place: Ground, point: Point, log: Path) -> list[str] | None:
    """Kill at one point; None where no run came to it again.

    PRODUCE and PREPARE may end in either order, and current.json is written where a second has
    passed: both may move the number of a call, and the latter may leave one out.
    """
    last = ""
    for offset in _OFFSETS:
        project = place.project()
        number = max(point.number + offset, 1)
        inject = f"inject={point.name}:signal=KILL:when={number}"
        trace(project, [point.name], log, "-e", inject, opens=point.name in OPENS)
        lines = log.read_text("utf-8", "backslashreplace").splitlines()
        last = next((line for line in reversed(lines) if line.startswith(f"{point.name}(")), "")
        if last.endswith("= ?") and _what(project, last) == point.what:
            wrong = place.wrong_after(project)
            shutil.rmtree(project.folder)
            return wrong
        shutil.rmtree(project.folder)
    if "current.json" in point.what:
        return None
    return [f"it was not hit: {last[-200:]}"]
