"""The oracle: what must hold after any fault, seen through `loop status` and `loop resume`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.intercepted import Fault
from tests.faults.memory import memory_folder
from tests.faults.project import CALLS, Project, differences, faults_of, overpaid
from tests.faults.warm import Warm, warm_interpreter

STATUS, RESUME = ("loop", "status"), ("loop", "resume", "run", "--quiet")


class Ground:
    """Where faults are tried: a place for projects, a warm interpreter, and an unbroken run."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self.folder, self.warm, self._made = folder, warm, 0
        project = self.project()
        ran = warm.one(project.new(), project.folder, below=project.state)
        assert ran.status == 0, (ran.status, ran.stderr)
        assert sorted(project.calls()) == sorted(CALLS), project.calls()
        self.unbroken: dict[str, Any] = project.outcome()
        self.story = sorted(event["event"] for event in project.events())
        self.calls = ran.calls
        self.killed_calls: list[str] = []

    def project(self) -> Project:
        self._made += 1
        return Project(self.folder / f"p{self._made}")

    def copy(self, project: Project) -> Project:
        """Return another project that is as one is now."""
        self._made += 1
        folder = self.folder / f"p{self._made}"
        shutil.copytree(project.folder, folder)
        return Project(folder)

    def killed(self, kind: str = "kill") -> Project:
        """Return a project whose run was killed in its second iteration; torn: within a line."""
        project = self.project()
        fault = Fault(at=12, kind=kind, only="write history")
        ran = self.warm.one(project.new(), project.folder, below=project.state, fault=fault)
        assert ran.status == -9, ran.stderr
        self.killed_calls = project.calls()
        return project

    def wrong_after(self, project: Project, *, most: int = 1, kept: bool = False) -> list[str]:
        """Return what does not hold of a project in which a run met a fault; it is resumed.

        `most` calls may have been paid twice; `kept` allows for evidence beside the files.
        """
        shown = self.warm.one(STATUS, project.folder)
        resumed = self.warm.one(RESUME, project.folder)
        wrong = [*faults_of(shown), *faults_of(resumed)]
        if not began(project):
            return [*wrong, *self._wrong_anew(project)]
        ended = "has ended" in resumed.stderr
        if resumed.status != 0 and not ended:
            wrong.append(f"resume: exit {resumed.status}: {resumed.stderr.strip()[-300:]}")
        wrong += [*differences(project, self.unbroken, kept=kept), *overpaid(project.calls(), most)]
        if sorted(event["event"] for event in project.events()) != self.story:
            wrong.append("its history tells another story")
        return wrong

    def _wrong_anew(self, project: Project) -> list[str]:
        """Of a run that never began nothing was paid, and another one can begin."""
        if project.calls():
            return [f"paid without a history: {project.calls()}"]
        ran = self.warm.one(project.new(), project.folder)
        wrong = faults_of(ran, [0])
        if sorted(project.calls()) != sorted(CALLS):
            wrong.append(f"a new run called {project.calls()}")
        return wrong + faults_of(self.warm.one(STATUS, project.folder), [0])


def began(project: Project) -> bool:
    """Return whether the first event of a run is whole on the disk."""
    history = project.run / "history.jsonl"
    return history.exists() and b"\n" in history.read_bytes()


@contextmanager
def ground() -> Iterator[Ground]:
    """Yield a place in memory where there is one, since thousands of runs call fsync."""
    with memory_folder() as folder:
        yield Ground(folder, warm_interpreter())


def spread(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most that many of some items, evenly spread, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    step = (len(items) - 1) / (most - 1)
    return [items[round(number * step)] for number in range(most)]
