"""A goal on a stage: a project, an agent that is a Python object, and what came of it.

The agent is a kind that a plugin of the project registers, so that a whole run takes no process but
those of the criteria.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.goal.run_state import Goal
from pytest_reflex.drivers.goal.start import last_run
from pytest_reflex.model.steps import Question, Reply

PLUGIN = "reflex_goal_stage"
STATE = Path(".loop/state.json")
SPEC = """\
Add the words alpha and beta to notes.txt: `grep alpha notes.txt` finds a line.
Scope: `notes.txt`
Constraints: at most 10 lines; no other file changes.
Steps:
1. add alpha
2. add beta
Success:
- `grep -q alpha notes.txt` exits 0
- `grep -q beta notes.txt` exits 0
Done: when both commands pass
"""
ALPHA, BETA = "`grep -q alpha notes.txt` exits 0", "`grep -q beta notes.txt` exits 0"
DONE = "when both commands pass"
GATE = "libraries were searched for before anything was built"
SEEN = {"met": True, "verification": "observation", "evidence": "search.md lists what was found"}
CONFIG = f"""\
agent = "script"
plugins = ["{PLUGIN}"]
[agents.script]
kind = "script"
"""

Deed = Callable[["Stage"], Any]


@dataclass
class Stage:
    """A project, what the agent does in each iteration, and how it went.

    `deeds` are done in their order, the last one again and again.
    """

    folder: Path
    deeds: list[Deed] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def ask(self, question: Question) -> Reply:
        self.prompts.append(question.prompt)
        told = self.deeds[min(len(self.prompts), len(self.deeds)) - 1](self)
        if isinstance(told, Reply):
            return told
        return Reply(text=told or "done", agent="script", seconds=1.0, usd=1.0)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def add(self, word: str) -> None:
        """Add a word to the notes."""
        notes = self.folder / "notes.txt"
        self.write("notes.txt", f"{notes.read_text()}{word}\n")

    def start(self, *flags: str, spec: str = SPEC) -> int:
        return main(["goal", "start", "--reversibility", "2A", *flags, "--", spec])

    def goal(self, *words: str) -> int:
        return main(["goal", *words])

    def say(self, *, exits: bool = False, **more: Any) -> None:
        """Write the state file as an agent does: claims by text, and other keys."""
        state = self.state()
        state["criteriaStatus"] |= more.pop("claims", {})
        self.write(str(STATE), json.dumps({**state, "exit_signal": exits, **more}))

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / STATE).read_text("utf-8"))
        return found

    def met(self) -> dict[str, bool]:
        """Return which criteria the state file has as met."""
        entries = self.state()["criteriaStatus"].items()
        return {text: one if isinstance(one, bool) else one["met"] for text, one in entries}

    @property
    def record(self) -> DriverRecord:
        found = last_run(self.folder)
        assert found
        return found.load()

    @property
    def standing(self) -> Goal:
        return Goal.from_json(self.record.data)

    def iterations(self) -> list[dict[str, Any]]:
        path = self.folder / ".loop/iterations.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def claim(*texts: str, exits: bool = False, **words: Mapping[str, Any]) -> Deed:
    """Return a deed that claims criteria, and nothing else."""
    return lambda stage: stage.say(claims=dict.fromkeys(texts, True), exits=exits)


def work(stage: Stage) -> None:
    """Do all of the work in one go, and prove it."""
    stage.write("search.md", "nothing fits\n")
    stage.add("alpha")
    stage.add("beta")
    claims = {**dict.fromkeys(stage.met(), SEEN), ALPHA: True, BETA: True}
    stage.say(claims={text: claims[text] for text in stage.met()}, exits=True)


class _Agent:
    """The agent as the program sees it."""

    name = "script"

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def ask(self, question: Question) -> Reply:
        return self._stage.ask(question)

    def respond(self, request: Any) -> Reply:
        raise AssertionError("a goal asks, and has no steps of a loop")


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """Yield a stage in a folder, which has to be the current one."""
    stage = Stage(folder)
    stage.write("notes.txt", "some\n")
    stage.write("pytest-reflex.toml", CONFIG)
    module = ModuleType(PLUGIN)
    register: Callable[..., Any] = lambda register: register(  # noqa: E731
        "script", lambda table: _Agent(stage)
    )
    module.pytest_reflex_register_agents = register  # type: ignore[attr-defined]
    sys.modules[PLUGIN] = module
    try:
        yield stage
    finally:
        del sys.modules[PLUGIN]
