"""Runs of a flow that meet faults: a repository with a flow of two levels, and what must hold."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.flow import messages
from tests.drivers.flow.stage import ACT, PLAN, node, repository
from tests.faults.memory import memory_folder
from tests.faults.project import faults_of
from tests.faults.warm import Ran, Warm, warm_interpreter

RUN = ("flow", "run", "close all points")
RESUME, STATUS = ("flow", "resume"), ("flow", "status")
BRANCH = "ai-loop/close-all-points"
# It names a point that is open, or closes the one that was named: an act that is done again behind
# a kill changes nothing more. Each act is counted.
_TOOL = """\
prompt=$(cat)
place=$(printf '%s' "$prompt" | sed -n 's/^.*Write \\([^ ]*controller-output[.]md\\).*$/\\1/p')
if [ -n "$place" ]; then
    grep -q OPEN note.txt && met=false || met=true
    point=$(grep -m 1 OPEN note.txt)
    form='---\\ntarget-met: %s\\n---\\n## Action Plan\\n\\nClose %s\\n'
    printf -- "$form" $met "$point" > "$place"
else
    echo x >> .git/acts
    order='s/^- Do what the action plan in \\([^ ]*\\) says.*$/\\1/p'
    plan=$(printf '%s' "$prompt" | sed -n "$order")
    point=$(grep -o 'OPEN [0-9]' "$plan")
    sed -i "s/$point/DONE ${point#OPEN }/" note.txt
fi
echo done
"""
_CONFIG = """\
agent = "tool"
[agents.tool]
command = ["sh", "tool.sh"]
"""
_SENSOR = {"name": "open", "command": "! grep OPEN note.txt"}
_FLOW = node("outer", most=2, sensors=[_SENSOR], child=node("inner", most=1, sensors=[_SENSOR]))
# Every boundary of an unbroken run, in its order.
BOUNDARIES = [
    *(("outer", "0"), ("outer/inner", "1.0"), ("outer/inner", "1.1"), ("outer/inner", "1.2")),
    *(("outer", "1"), ("outer/inner", "2.0"), ("outer/inner", "2.1"), ("outer/inner", "2.2")),
    *(("outer", "2"), ("outer", "3")),
]


class Flowing:
    """A repository in which the flow is run, well or not."""

    def __init__(self, folder: Path, *, hook: str = "", script: str = "") -> None:
        folder.mkdir()
        self.folder = folder
        files = {
            "note.txt": "OPEN 1\nOPEN 2\n",
            "staged.txt": "as it was\n",
            "tool.sh": _TOOL,
            "pytest-reflex.toml": _CONFIG,
            PLAN: "---\nname: plan\n---\nDecide.\n",
            ACT: "---\nname: act\n---\nAct.\n",
            ".ai-loop/flow.yaml": json.dumps({"version": 1, "flow": _FLOW}),
        }
        repository(folder, files)
        if hook:
            path = folder / ".git/hooks" / hook
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n{script}")
            path.chmod(0o755)

    def acts(self) -> int:
        path = self.folder / ".git/acts"
        return len(path.read_text().split()) if path.exists() else 0

    def state(self) -> dict[str, object] | None:
        """Return the state of the run that has one, None where none has."""
        found = sorted(self.folder.glob(".pytest-reflex/runs/flow/run_*_[0-9][0-9][0-9].json"))
        return json.loads(found[-1].read_bytes()) if found else None

    def git(self, *words: str) -> str:
        ran = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, check=True)
        return ran.stdout.decode()

    def boundaries(self, branch: str = BRANCH) -> list[tuple[str, str]]:
        if branch not in Git(self.folder).branches():
            return []
        made = reversed(list(Git(self.folder).messages("main", branch)))
        read = (messages.read(text) for _, text in made)
        return [(one.path, one.label) if one else ("nobody's", "") for one in read]


class FlowGround:
    """Where faults are tried: a place for repositories, a warm interpreter, a good run's calls."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self.warm, self._folder, self._made = warm, folder, 0
        project = self.project()
        ran = self.run(project)
        assert ran.status == 0, ran.stderr + ran.stdout
        assert project.boundaries() == BOUNDARIES
        assert not wrong_at_end(project)
        self.calls = ran.calls

    def project(self, *, hook: str = "", script: str = "") -> Flowing:
        self._made += 1
        return Flowing(self._folder / f"p{self._made}", hook=hook, script=script)

    def run(self, project: Flowing, argv: Sequence[str] = RUN, **more: object) -> Ran:
        return self.warm.one(argv, project.folder, below=project.folder, **more)

    def wrong_after(self, project: Flowing) -> list[str]:
        """Return what does not hold of a run that was killed, which is resumed, or begun again."""
        wrong = []
        if project.state() is None:
            wrong += [] if project.git("branch", "--show-current") == "main\n" else ["it left main"]
            wrong += faults_of(self.warm.one(RUN, project.folder), [0])
        else:
            wrong += faults_of(self.warm.one(STATUS, project.folder), [0])
            wrong += faults_of(self.warm.one(RESUME, project.folder), [0])
        return wrong + wrong_at_end(project, most=1)


def wrong_at_end(project: Flowing, *, most: int = 0) -> list[str]:
    """Return what does not hold of a run at its end; `most` acts may have been done twice."""
    wrong = []
    if (made := project.boundaries()) != BOUNDARIES:
        wrong.append(f"its commits are {made}")
    if not made:
        return wrong
    if (text := project.git("show", f"{BRANCH}:note.txt")) != "DONE 1\nDONE 2\n":
        wrong.append(f"its last commit has {text!r}")
    if not 2 <= project.acts() <= 2 + most:
        wrong.append(f"it acted {project.acts()} times")
    if status := project.git("status", "--porcelain", "--untracked-files=all"):
        wrong.append(f"git says {status!r}")
    if left := sorted(path.name for path in (project.folder / ".git").glob("reflex-*")):
        wrong.append(f"it left {left}")
    if strays := sorted(path.name for path in (project.folder / ".ai-loop").rglob("*.tmp*")):
        wrong.append(f"it left {strays}")
    state = project.git("show", f"{BRANCH}:{_run_state(project)}")
    return wrong if "status: complete\n" in state else [*wrong, f"run-state says {state!r}"]


def _run_state(project: Flowing) -> str:
    names = project.git("ls-tree", "-r", "--name-only", BRANCH, "--", ".ai-loop/runs").split()
    return next((name for name in names if name.endswith("run-state.md")), "none")


@contextmanager
def flow_ground() -> Iterator[FlowGround]:
    """Yield a place in memory where there is one."""
    with memory_folder() as folder:
        yield FlowGround(folder, warm_interpreter())
