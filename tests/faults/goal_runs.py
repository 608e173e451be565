"""Runs of a goal that meet faults: a project with two steps, and what must hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.drivers.flow.stage import repository
from tests.drivers.goal.stage import SPEC
from tests.faults.memory import memory_folder
from tests.faults.project import faults_of
from tests.faults.warm import Ran, Warm, warm_interpreter

START = ("goal", "start", "--reversibility", "2B", "spec.md")
CONTINUE, STATUS = ("goal", "continue", "--yes"), ("goal", "status")
# It adds the word of the step that the prompt names; one that is done again behind a kill changes
# nothing more. Each call is counted.
_TOOL = """\
prompt=$(cat)
echo x >> .git/calls
word=$(printf '%s' "$prompt" | sed -n 's/^Now: add //p')
grep -q "$word" notes.txt || echo "$word" >> notes.txt
echo looked > search.md
seen='{"met": true, "verification": "observation", "evidence": "search.md"}'
python3 -c 'import json, sys
state = json.load(open(".loop/state.json"))
word, seen = sys.argv[1], json.loads(sys.argv[2])
status, at = state["criteriaStatus"], 1 + (word == "beta")
for text in status:
    if word in text: status[text] = True
    elif "grep" not in text: status[text] = seen
steps = ["add alpha", "add beta"]
state |= {"completedSteps": steps[:at], "remainingSteps": steps[at:], "exit_signal": at == 2}
json.dump(state, open(".loop/state.json", "w"))' "$word" "$seen"
echo done
"""
_CONFIG = 'agent = "tool"\n[agents.tool]\ncommand = ["sh", "tool.sh"]\n'


class Working:
    """A repository in which a goal is worked on, well or not."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        files = {
            "notes.txt": "some\n",
            "tool.sh": _TOOL,
            "spec.md": SPEC,
            "pytest-reflex.toml": _CONFIG,
        }
        repository(folder, files)

    def calls(self) -> int:
        path = self.folder / ".git/calls"
        return len(path.read_text().split()) if path.exists() else 0

    def record(self) -> dict[str, Any] | None:
        """Return the record of the run, None where there is none."""
        path = self.folder / ".pytest-reflex/runs/goal/goal-1.json"
        return json.loads(path.read_bytes()) if path.exists() else None


class GoalGround:
    """Where faults are tried: a place for projects, a warm interpreter, a good run's calls."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self.warm, self._folder, self._made = warm, folder, 0
        project = self.project()
        ran = self.run(project)
        assert ran.status == 0, ran.stderr + ran.stdout
        assert not (wrong := wrong_at_end(project)), wrong
        self.calls = ran.calls

    def project(self) -> Working:
        self._made += 1
        return Working(self._folder / f"p{self._made}")

    def run(self, project: Working, argv: Sequence[str] = START, **more: object) -> Ran:
        return self.warm.one(argv, project.folder, below=project.folder, **more)

    def wrong_after(self, project: Working) -> list[str]:
        """Return what does not hold of a run that was killed, and is continued or begun again."""
        record = project.record()
        if record is None:
            return faults_of(self.warm.one(START, project.folder), [0]) + wrong_at_end(project)
        wrong = faults_of(self.warm.one(STATUS, project.folder), [0])
        over = bool(record["reason"])
        wrong += faults_of(self.warm.one(CONTINUE, project.folder), [4 if over else 0])
        return wrong + wrong_at_end(project, most=1)


def wrong_at_end(project: Working, *, most: int = 0) -> list[str]:
    """Return what does not hold of a run at its end; `most` calls may have been made twice."""
    record = project.record()
    if record is None:
        return ["there is no record"]
    wrong = []
    if (record["reason"], record["detail"]) != ("target-met", "SHIP"):
        wrong.append(f"it ended with {record['reason']!r}, {record['detail']!r}")
    if record["iteration"] != 2:
        wrong.append(f"it has {record['iteration']} iterations")
    if (text := (project.folder / "notes.txt").read_text()) != "some\nalpha\nbeta\n":
        wrong.append(f"the notes are {text!r}")
    if not 2 <= project.calls() <= 2 + most:
        wrong.append(f"the tool was called {project.calls()} times")
    refs = project.folder / ".git/refs/pytest-reflex/goal/goal-1"
    if (names := sorted(path.name for path in refs.iterdir())) != ["1", "2"]:
        wrong.append(f"its checkpoints are {names}")
    if strays := sorted(path.name for path in (project.folder / ".git").glob("reflex-index-*")):
        wrong.append(f"it left {strays}")
    return wrong + _wrong_files(project)


def _wrong_files(project: Working) -> list[str]:
    folder, wrong = project.folder / ".loop", []
    rows = [json.loads(line) for line in (folder / "iterations.jsonl").read_text().splitlines()]
    if (numbers := [row["iteration"] for row in rows]) != [1, 2]:
        wrong.append(f"its lines are {numbers}")
    state = json.loads((folder / "state.json").read_bytes())
    if (state["status"], state["exit_signal"]) != ("completed", True):
        wrong.append(f"the state file says {state['status']}, {state['exit_signal']}")
    if "SHIP" not in (folder / "summary.md").read_text("utf-8"):
        wrong.append("summary.md has no verdict")
    return wrong


@contextmanager
def goal_ground() -> Iterator[GoalGround]:
    """Yield a place in memory where there is one."""
    with memory_folder() as folder:
        yield GoalGround(folder, warm_interpreter())
