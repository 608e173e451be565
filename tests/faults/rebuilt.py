"""W9: the state rebuilt from a history equals the one that was written while it was made.

Loops are played with random criteria, limits, answers, prices, refusals, changes by hand and
requests to stop; some are left and taken up again.
"""

from __future__ import annotations

import json
import random
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.history import text_after
from pytest_reflex.drivers.reflex.run_status import read_run
from pytest_reflex.drivers.reflex.statefile import dump, run_json
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.events import Event
from pytest_reflex.model.steps import Reply, StepRequest
from tests.drivers.reflex.stage import PLAN, Stage, history_of, issues
from tests.faults.figure import Figure, of_cases
from tests.faults.memory import memory_folder

FULL, SAMPLE = 10_000, 10
WORDS = ("alpha", "beta", "gamma", "delta", "é\u2028", "x")


def figure(full: bool) -> Figure:
    with memory_folder() as folder:
        seeds = range(FULL if full else SAMPLE)
        return of_cases((f"history {seed}", _played(folder, seed)) for seed in seeds)


class Dice:
    """A random agent: good answers mostly, with prices that are sometimes unknown."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def text(self) -> str:
        words = self.dice.choices(WORDS, k=self.dice.randrange(6))
        return "".join(self.dice.choice(["# {}\n", "{}\n", "{} "]).format(word) for word in words)

    def _reply(self, good: str) -> Reply:
        dice = self.dice
        if dice.random() < 0.08:
            return Reply(text="", agent="dice", error=self.text() or "it would not")
        return Reply(
            text=good if dice.random() > 0.08 else dice.choice(["", "no", "{", good * 2]),
            agent="dice",
            seconds=dice.random(),
            usd=dice.choice([None, 0.1, Fraction(1, 3).__float__()]),
            tokens=dice.choice([None, 7]),
            details={"free": True} if dice.random() < 0.2 else {},
        )

    def pytest_reflex_plan(self, request: StepRequest) -> Reply:
        return self._reply(PLAN)

    def pytest_reflex_produce(self, request: StepRequest) -> Reply:
        return self._reply(request.artifact or self.text())

    def pytest_reflex_prepare(self, request: StepRequest) -> Reply:
        checks = [
            {
                "rule_id": rule.id,
                "type": "content",
                "search": self.dice.choice(WORDS),
                "expected": "e",
            }
            for rule in request.rules
        ]
        return self._reply(json.dumps({"checks": checks}))

    def pytest_reflex_critique(self, request: StepRequest) -> Reply:
        assert request.evaluation
        failed = [r.rule.id for r in (*request.evaluation.failed, *request.evaluation.warnings)]
        return self._reply(issues(*failed[:5]))

    def pytest_reflex_refine(self, request: StepRequest) -> Reply:
        return self._reply((request.artifact or "") + self.text())


def _criteria(dice: random.Random) -> str:
    """Return criteria of one or two phases; some rules are prose, which agents make checks for."""
    rules = []
    levels = dice.choice(["a", "b", "ab"])
    for number in range(dice.randrange(1, 5)):
        check: Any = {"type": "content", "search": dice.choice(WORDS[:4])}
        rules.append(
            {
                "id": f"{dice.choice(levels)}.x.r{number}",
                "description": "says it",
                "severity": dice.choice(["fail", "warn", "info"]) if number else "fail",
                "weight": dice.choice([1, 2, 0.1]),
                "check": "it says it" if dice.random() < 0.2 else check,
            }
        )
    return json.dumps({"name": "dice", "version": 1, "rules": rules})


def _flags(dice: random.Random) -> dict[str, str]:
    return {
        "loop.max_iterations": str(dice.randrange(1, 6)),
        "loop.no_major_issues": dice.choice(["B", "never"]),
        "loop.produce": dice.choice(["always", "first"]),
        "loop.blocker_stagnation": dice.choice(["0", "2", "3"]),
        "loop.oscillation": dice.choice(["true", "false"]),
    }


def _played(folder: Path, seed: int) -> list[str]:
    project = folder / str(seed)
    project.mkdir()
    agent = Dice(seed)
    stage = Stage(project, _criteria(agent.dice))
    wrong: list[str] = []
    try:
        with stage.begin(agent, _flags(agent.dice), sequential=True) as loop:
            left = _play(stage, loop, agent.dice, wrong)
        while left:
            with stage.resume(agent) as loop:
                left = _play(stage, loop, agent.dice, wrong)
        wrong += _compared(stage, loop)
    except ReflexError as error:
        wrong.append(f"it ended with {error}")
    shutil.rmtree(project)
    return wrong


def _play(stage: Stage, loop: ReflexLoop, dice: random.Random, wrong: list[str]) -> bool:
    """Play on and return whether the run was left before its end."""
    events = history_of(loop)
    for _ in events:
        chance = dice.random()
        is_running = loop.state.status.value == "running"
        if chance < 0.03:
            wrong += _compared(stage, loop)
            events.close()
            return is_running
        # What is edited behind the end is not known to the loop that ended: it is stale.
        if chance < 0.05 and is_running and (stage.root / "words/artifact.md").exists():
            (stage.root / "words/artifact.md").write_text("by hand alpha\n")
        elif chance < 0.06:
            _ask_to_stop(stage)
    return False


def _ask_to_stop(stage: Stage) -> None:
    current = stage.root / "current.json"
    if current.exists():
        pointer = json.loads(current.read_bytes())
        current.write_text(json.dumps({**pointer, "stop_requested": "dice"}))


def _compared(stage: Stage, loop: ReflexLoop) -> list[str]:
    """Return where the history gives another state, run.json or artifact than the run had."""
    folder = stage.root / "words"
    live, events = loop.state, list[Event](loop.files.latest_events())
    rebuilt = read_run(folder).state
    wrong = []
    if rebuilt != live:
        wrong.append("the state differs")
    if (folder / "run.json").read_bytes() != dump(run_json(rebuilt)):
        wrong.append("run.json differs")
    if text_after(events) != loop.files.artifact_text():
        wrong.append("the artifact differs")
    return wrong
