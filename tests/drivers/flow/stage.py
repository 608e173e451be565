"""A flow on a stage: a repository, agents that are a Python object, and what was made of it all.

The agents are a kind that a plugin of the project registers, so that a whole run takes no process
but those of git and of the sensors.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.drivers.flow import messages
from pytest_reflex.drivers.flow.messages import Boundary
from pytest_reflex.drivers.flow.run_file import last_run
from pytest_reflex.drivers.flow.workspace import LOG, RUNS
from pytest_reflex.model.steps import Question, Reply

PLUGIN = "reflex_flow_stage"
NOTE = "note.txt"
OPEN = {"name": "open", "command": f"! grep OPEN {NOTE}"}
"""A sensor that passes where nothing is open."""
COUNT = {
    "name": "count",
    "command": f"grep -c OPEN {NOTE} || true",
    "target": "value(/(\\d+)/) < 1",
}
ALL_PASS = "builtin:all-pass"
PLAN = ".claude/agents/plan.md"
ACT = ".claude/agents/act.md"
_CONTROLLER = re.compile(r"Write (\S+)/controller-output\.md")
_ACTUATOR = re.compile(r"Write into (\S+)/actuator-output\.md")
_SENSOR = re.compile(r"Output file: (\S+)")
_NODE = re.compile(r"/nodes/(\S+)")


@dataclass(frozen=True, slots=True)
class Call:
    """One question that an agent was asked: its role, the node, the prompt, the agent's table."""

    role: str
    node: str
    prompt: str
    agent: Mapping[str, Any]


Deed = Callable[[Call, Path], object]


def decision(met: bool, plan: str = "Take out an open point") -> str:
    """Return what a controller writes."""
    parts = f"## Gap Analysis\n\nsome\n\n## Action Plan\n\n{plan}\n\n## Hints\n\nnone\n"
    return f"---\ntarget-met: {str(met).lower()}\n---\n\n{parts}"


def decide_by_note(call: Call, output: Path) -> None:
    """Decide by what is open in the note."""
    output.write_text(decision("OPEN" not in Path(NOTE).read_text()))


def close_one(call: Call, output: Path) -> None:
    """Take an open point out of the note."""
    note = Path(NOTE)
    note.write_text(note.read_text().replace("OPEN", "DONE", 1))
    output.write_text("done\n")


def sense_pass(call: Call, output: Path) -> None:
    """Say that all is well."""
    output.write_text("---\nsensor: x\nstatus: pass\nvalue: 5\n---\nfine\n")


@dataclass
class Script:
    """What agents do, by their role; `asked` is what they were asked."""

    controller: Deed = decide_by_note
    actuator: Deed = close_one
    sensor: Deed = sense_pass
    asked: list[Call] = field(default_factory=list)

    def ask(self, question: Question, table: Mapping[str, Any]) -> Reply:
        found = _CONTROLLER.search(question.prompt) or _ACTUATOR.search(question.prompt)
        role = "sensor"
        if found:
            role = "controller" if found.re is _CONTROLLER else "actuator"
        outputs = (
            [Path(found[1]) / f"{role}-output.md"]
            if found
            else [Path(path) for path in _SENSOR.findall(question.prompt)]
        )
        match = _NODE.search(outputs[0].parent.as_posix())
        assert match, outputs
        call = Call(role, match[1], question.prompt, table)
        self.asked.append(call)
        told = None
        for output in outputs:
            told = getattr(self, role)(call, output)
        if isinstance(told, Reply):
            return told
        return Reply(text="done", agent="script", seconds=1.0)

    def count(self, role: str, node: str = "") -> int:
        return sum(one.role == role and node in ("", one.node) for one in self.asked)

    def prompts(self, role: str) -> list[str]:
        return [one.prompt for one in self.asked if one.role == role]


class _Agent:
    """The agent as the program sees it."""

    name = "script"

    def __init__(self, script: Script, table: Mapping[str, Any]) -> None:
        self._script, self._table = script, table

    def ask(self, question: Question) -> Reply:
        return self._script.ask(question, self._table)

    def respond(self, request: Any) -> Reply:
        raise AssertionError("a flow asks, and has no steps of a loop")


def node(
    name: str,
    *,
    most: int = 3,
    sensors: Iterable[Any] = (OPEN,),
    controller: str = PLAN,
    child: Mapping[str, Any] | None = None,
    termination: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a node of flow.yaml, direct where it has no child."""
    acts = (
        {"strategy": "composite", "child": child} if child else {"strategy": "direct", "agent": ACT}
    )
    return {
        "id": name,
        "type": "loop",
        "controller": controller,
        "sensors": list(sensors),
        "actuator": acts,
        "termination": {"max_iterations": most, **(termination or {})},
        **more,
    }


@dataclass
class Stage:
    """A repository with a flow, and how it went; made by `stage`."""

    folder: Path
    script: Script

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def flow(self, root: Mapping[str, Any], **more: Any) -> Stage:
        """Write flow.yaml, as YAML that happens to be JSON."""
        self.write(".ai-loop/flow.yaml", json.dumps({"version": 1, **more, "flow": root}, indent=1))
        return self

    def open_points(self, number: int) -> Stage:
        """Have so many open points in the note, committed."""
        self.write(NOTE, "".join(f"OPEN {one}\n" for one in range(number)))
        self.git("commit", "--quiet", "--allow-empty", "-a", "-m", "the note")
        return self

    def agent(self, name: str, text: str = "", model: str = "") -> str:
        """Write an agent file and return its path."""
        front = f"name: {name}\n" + (f"model: {model}\n" if model else "")
        path = f".claude/agents/{name}.md"
        self.write(path, f"---\n{front}---\n{text or f'Be {name}.'}\n")
        return path

    def run(self, task: str = "close all points", *flags: str) -> int:
        return main(["flow", "run", *flags, "--", task])

    def resume(self, *flags: str) -> int:
        return main(["flow", "resume", *flags])

    def git(self, *words: str) -> str:
        ran = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, check=True)
        return ran.stdout.decode()

    @property
    def run_id(self) -> str:
        found = last_run(self.folder)
        assert found
        return found

    @property
    def record(self) -> DriverRecord:
        return RunFile(self.folder, "flow", self.run_id).load()

    def boundaries(self) -> list[Boundary]:
        """Return what the commits of the last run say, the first one first."""
        data = self.record.data
        made = list(Git(self.folder).messages(data["base_commit"], data["branch"]))
        found = [messages.read(text) for _, text in reversed(made)]
        assert all(found), made
        return [one for one in found if one]

    def told(self) -> list[str]:
        """Return the boundaries as lines: node, label and action."""
        return [f"{one.path} {one.label}: {one.action}" for one in self.boundaries()]

    def log(self) -> str:
        """Return the commits of a run that makes none."""
        return (self.folder / RUNS / self.run_id / LOG).read_text("utf-8")

    def output(self, path: str, name: str) -> str:
        """Return a file of a node of the last run."""
        return (self.folder / RUNS / self.run_id / "nodes" / path / name).read_text("utf-8")

    def run_state(self) -> str:
        return (self.folder / RUNS / self.run_id / "run-state.md").read_text("utf-8")


CONFIG = f"""\
agent = "script"
plugins = ["{PLUGIN}"]
[agents.script]
kind = "script"
"""
TWO = node("outer", child=node("inner", most=2))
THREE = node("outer", child=node("middle", child=node("inner", most=2)))


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, files: Mapping[str, str]) -> None:
    """Make a repository whose first commit has these files."""
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    with (folder / ".git/config").open("a") as file:
        file.write("[user]\n\tname = Tester\n\temail = tester@example.org\n")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "first")


@contextmanager
def staged(folder: Path, *, config: str = CONFIG) -> Iterator[Stage]:
    """Yield a stage in a folder, which has to be the current one."""
    files = {
        NOTE: "OPEN 1\nOPEN 2\n",
        "README.md": "readme\n",
        "pytest-reflex.toml": config,
        PLAN: "---\nname: plan\n---\nControl {node-path}.\n{sensors-section}\n",
        ACT: "---\nname: act\n---\nDo what {input-path} says, tell {output-path}.\n",
    }
    repository(folder, files)
    stage = Stage(folder, Script())
    module = ModuleType(PLUGIN)
    register: Callable[..., Any] = lambda register: register(  # noqa: E731
        "script", lambda table: _Agent(stage.script, table)
    )
    module.pytest_reflex_register_agents = register  # type: ignore[attr-defined]
    sys.modules[PLUGIN] = module
    try:
        yield stage
    finally:
        del sys.modules[PLUGIN]


def lines_of(boundaries: Sequence[Boundary]) -> list[tuple[str, str, str]]:
    """Return path, label and status of each."""
    return [(one.path, one.label, one.status) for one in boundaries]
