"""Dry runs leave nothing behind: no file, no byte, no process, before a run and in the middle."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.drivers.reflex.history import read_events, text_after
from pytest_reflex.storage.journal import read_journal
from tests.faults.figure import Figure
from tests.faults.iterating import Iterating
from tests.faults.project import Project
from tests.faults.traced import MISSING, SYSTEM_CALLS

_STARTS = ("execve", "execveat")
_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
# With --json the document is written to a second descriptor of stdout, which is a pipe here.
_SHOWN = re.compile(r"write\((?:[12]<|\d+<pipe:)")
Tree = dict[str, tuple[int, int, bytes]]


@dataclass(frozen=True, slots=True)
class Case:
    """A dry run: its name, its folder, and its arguments."""

    name: str
    folder: Path
    argv: tuple[str, ...]


def figure(full: bool) -> Figure:
    """Compare the tree before and after; with `full` also look at every system call."""
    if full and not shutil.which("strace"):
        return Figure(good=0, total=1, failures=(MISSING,))
    with tempfile.TemporaryDirectory(prefix="reflex-dry-") as place:
        wrong = {case.name: list(_wrong(case, traced=full)) for case in cases(Path(place), full)}
    failures = tuple(f"{name}: {why}" for name, found in wrong.items() for why in found)
    note = "no call but to the standard streams" if full else "trees compared"
    good = sum(not found for found in wrong.values())
    return Figure(good=good, total=len(wrong), note=note, failures=failures)


def cases(place: Path, full: bool) -> Iterator[Case]:
    """Yield dry runs of a new loop and of one interrupted after each of its events."""
    project = Project(place / "whole")
    new = (*project.new(), "--dry-run")
    yield Case("new", project.folder, new)
    if full:
        yield Case("new, as JSON", project.folder, (*new, "--json"))
    _run(project.folder, project.new())
    count = len(read_journal(project.run / "history.jsonl").records)
    for number in range(1, count) if full else (count // 2,):
        folder = place / f"after-{number}"
        interrupted(project, folder, number)
        resume = ("loop", "resume", "run", "--dry-run")
        yield Case(f"resume after event {number}", folder, resume)
        if full:
            yield Case(f"resume after event {number}, as JSON", folder, (*resume, "--json"))
    yield from _of_procedures(place)


def _of_procedures(place: Path) -> Iterator[Case]:
    """Yield dry runs of a procedure, before a run and in the middle of one."""
    project = Iterating(place / "procedure")
    run = ("iterate", "run", "build", "--dry-run")
    yield Case("iterate run", project.folder, run)
    left = Iterating(place / "procedure-left")
    left.leave()
    yield Case("iterate run, with a run left behind", left.folder, run)
    yield Case("iterate resume", left.folder, ("iterate", "resume", "build", "--dry-run"))


def interrupted(project: Project, folder: Path, number: int) -> None:
    """Copy a project whose run has ended into one that was interrupted after some events."""
    shutil.copytree(project.folder, folder)
    run = folder / project.run.relative_to(project.folder)
    path = run / "history.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:number]))
    events, _ = read_events(path, read_journal(path).records)
    (run / "artifact.md").unlink()
    if text := text_after(events):
        (run / "artifact.md").write_text(text, encoding="utf-8")
    (run / "run.json").unlink()


def _wrong(case: Case, *, traced: bool) -> Iterator[str]:
    before = tree(case.folder)
    log = case.folder.parent / "strace.log"
    calls = ",".join(f"?{name}" for name in (*SYSTEM_CALLS, *_STARTS))
    strace = ["strace", "-f", "-qq", "-y", "-s", "0", "-o", str(log), "-e", f"trace={calls}"]
    done = _run(case.folder, case.argv, strace if traced else ())
    if done.returncode != 0 or not done.stdout:
        yield f"exit status {done.returncode}: {done.stderr.decode()[-300:]}"
    if tree(case.folder) != before:
        yield f"the folder changed: {sorted(set(tree(case.folder)) ^ set(before))}"
    if (case.folder / "calls.log").exists() and "calls.log" not in before:
        yield "an agent was called"
    if traced:
        yield from writes(log)


def writes(log: Path) -> Iterator[str]:
    """Yield the calls in a log that could leave something behind, or start a program."""
    started = 0
    for line in log.read_text("utf-8", "backslashreplace").splitlines():
        call = re.sub(r"^\d+ +", "", line)
        name = call.partition("(")[0]
        if name in _STARTS:
            started += 1
            if started > 1:
                yield f"a program was started: {call[:200]}"
        elif name in ("open", "openat"):
            if _WRITING.search(call):
                yield call[:200]
        elif name in SYSTEM_CALLS and not _SHOWN.match(call):
            yield call[:200]


def tree(folder: Path) -> Tree:
    """Return every path below a folder with its mode, its time and its content."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[path.relative_to(folder).as_posix()] = (status.st_mode, status.st_mtime_ns, data)
    return found


def _run(
    folder: Path, argv: Sequence[str], before: Sequence[str] = ()
) -> subprocess.CompletedProcess[bytes]:
    command = [*before, sys.executable, "-m", "pytest_reflex", *argv]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL
    )
