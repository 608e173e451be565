"""F01 for a loop over a session: its driver is killed at every write-side call, and resumed."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytest_reflex.model.events import INTERRUPTED
from tests.drivers.pytest_loop.stage import RIGHT, Project
from tests.faults.aftermath import spread
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.iterating import named
from tests.faults.memory import memory_folder
from tests.faults.project import faults_of
from tests.faults.warm import Ran, Warm, warm_interpreter

SAMPLE = 2
# The first answer fixes one rule, the second the other.
_AGENT = """\
text = code.read_text()
fixed = text.replace("a - b", "a + b")
if fixed == text:
    fixed = text.replace("return a\\n", "return a / 2\\n")
print(json.dumps({"files": [{"path": "sums.py", "text": fixed}]}))
"""
_CALLS = 2
_STATUS = ("loop", "status", "make-the-tests-pass")


def figure(full: bool) -> Figure:
    """Kill before each call and, where it writes to the history, in its middle."""
    with memory_folder() as folder:
        place = SessionGround(folder, warm_interpreter())
        faults = [
            Fault(at=at, kind=kind)
            for at, call in enumerate(place.calls, 1)
            for kind in (("kill", "torn") if call == "write history.jsonl" else ("kill",))
        ]
        chosen = faults if full else spread(faults[1:-1], SAMPLE)
        return of_cases(
            (f"{named(place.calls, fault.at)}, {fault}", place.killed(fault)) for fault in chosen
        )


class SessionGround:
    """Where loops over a session are killed; `calls` are those of one that nobody kills."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self._folder, self._warm, self._made = folder, warm, 0
        project = self._project()
        ran = self._run(project, *project.new())
        assert ran.status == 0, ran.stdout + ran.stderr
        assert project.calls() == _CALLS
        self.calls = ran.calls
        self._kinds = [event["event"] for event in project.events()]

    def _project(self) -> Project:
        self._made += 1
        folder = self._folder / f"s{self._made}"
        folder.mkdir()
        project = Project(folder / "project", _AGENT)
        # The warning of the second rule has to block, too.
        project.write("test_sums.py", project.read("test_sums.py").replace(', severity="warn"', ""))
        return project

    def _run(self, project: Project, *arguments: str, fault: Fault | None = None) -> Ran:
        more = {"fault": fault} if fault else {}
        below = project.folder / ".ai-factory"
        return self._warm.one(["pytest", *arguments], project.folder, below=below, **more)

    def killed(self, fault: Fault) -> list[str] | None:
        """Return what does not hold; None where this run had fewer calls.

        current.json is written where a second has passed.
        """
        project = self._project()
        ran = self._run(project, *project.new(), fault=fault)
        if not ran.status and len(ran.calls) < fault.at:
            return None
        wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
        history = project.run_folder / "history.jsonl"
        if history.exists() and b"\n" in history.read_bytes():
            wrong += faults_of(self._warm.one(_STATUS, project.folder), [0])
            ran = self._run(project, *project.arguments("--reflex-loop", "--reflex-resume"))
        else:
            # One that was killed before its first event is not a loop, and keeps its empty folder.
            is_there = project.run_folder.exists()
            ran = self._run(project, *project.new())
            if is_there:
                project.alias += "-2"
        wrong += self._wrong_at_end(project, ran)
        shutil.rmtree(project.folder.parent)
        return wrong

    def _wrong_at_end(self, project: Project, ran: Ran) -> list[str]:
        wrong = faults_of(ran)
        if ran.status and "has ended" not in ran.stdout + ran.stderr:
            wrong.append(f"exit {ran.status}")
        if project.stop()[0] != "threshold_reached":
            wrong.append(f"it ended as {project.stop()}: {(ran.stdout + ran.stderr)[-300:]}")
        if project.read() != RIGHT:
            wrong.append("its files are not the artifact")
        events = list(project.events())
        lost = [event for event in events if event["payload"].get(INTERRUPTED)]
        if (kinds := [one["event"] for one in events if one not in lost]) != self._kinds:
            wrong.append(f"its events are {kinds}")
        if len(lost) > 1:
            wrong.append(f"{len(lost)} calls are said to be lost")
        if not _CALLS <= project.calls() <= _CALLS + 1:
            wrong.append(f"its agent was called {project.calls()} times")
        left = {path.name for path in project.run_folder.iterdir() if ".torn-" not in path.name}
        if left != {"run.json", "history.jsonl", "artifact.md"}:
            wrong.append(f"its files are {sorted(left)}")
        return wrong
