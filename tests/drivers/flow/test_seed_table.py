"""What seed 002 states has its tests, none of them is gone, and its forms are kept."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from pytest_reflex.errors import ExitCode
from tests.drivers.flow.stage import OPEN, TWO, Call, Stage, close_one, decide_by_note, node

pytestmark = pytest.mark.long

TESTS = Path(__file__).resolve().parents[2]
TABLE: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("seed_statements.toml").read_text(encoding="utf-8")
)
ROWS = [(part, row) for part, rows in TABLE.items() for row in rows]
MESSAGE = """\
ai-loop[outer > inner]: iteration 1.1 — Take out an open point

[node-path] outer/inner
[level] 1
[iteration] 1.1
[status] running
[target-met] false
[sensors] open: fail
[action] Take out an open point
"""


@cache
def functions(module: str) -> frozenset[str]:
    """Return the names of the test functions of a module."""
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("part", "row"), ROWS, ids=[f"{part}: {row}" for part, row in ROWS])
def test_a_statement_of_the_seed_has_its_test(part: str, row: str) -> None:
    tests = TABLE[part][row]
    assert tests
    for test in tests:
        module, _, name = test.partition("::")
        assert name in functions(module), f"{row}: there is no {test}"


def test_every_part_of_the_seed_is_in_the_table() -> None:
    assert list(TABLE)[-1] == "Beyond the seed"
    assert len(ROWS) >= 50


def keys(text: str) -> list[str]:
    """Return the keys of front matter, in their order."""
    return re.findall(r"(?m)^([a-z-]+):", text.split("---\n")[1])


def test_run_state_has_the_keys_of_the_seed_in_their_order(stage: Stage) -> None:
    stage.flow(TWO).run()
    assert keys(stage.run_state()) == [
        *("run-id", "status", "active-node-path", "execution-stack"),
        *("branch", "base-branch", "task"),
    ]


def test_the_state_of_a_node_has_the_keys_of_the_seed(stage: Stage) -> None:
    seen: dict[str, str] = {}

    def act(call: Call, output: Path) -> None:
        seen[call.node] = (output.parent / "orchestrator-output.md").read_text()
        close_one(call, output)

    stage.script.actuator = act
    stage.flow(TWO).run()
    text = seen["outer/inner"]
    assert keys(text)[:5] == [
        *("iteration", "status", "max-iterations", "node-path", "parent-node-path"),
    ]
    assert text.startswith(
        "---\niteration: 2\nstatus: running\nmax-iterations: 2\nnode-path: outer/inner\n"
        "parent-node-path: outer\n"
    )
    root = stage.output("outer", "orchestrator-output.md")
    assert "parent-node-path: root\n" in root
    assert "\n# Task (setpoint)\n\nclose all points\n" in root
    assert "status: complete\n" in root


def bodies(stage: Stage) -> list[str]:
    made = stage.git("log", "--reverse", "--format=%B%x00", "main..HEAD").split("\0\n")
    return [text.partition("\nReflex-Run")[0] for text in made if text]


def test_the_message_of_a_measurement_is_that_of_the_seed(stage: Stage) -> None:
    lint = {"name": "lint", "command": "true"}
    stage.flow(node("only", sensors=[OPEN, lint])).run()
    assert bodies(stage)[0] == (
        "ai-loop[only]: iteration 0 — initial measurement\n\n[node-path] only\n[level] 0\n"
        "[iteration] 0\n[status] running\n[target-met] false\n[sensors] open: fail, lint: pass\n"
        "[action] initial measurement\n"
    )


def test_the_message_of_an_iteration_is_that_of_the_seed(stage: Stage) -> None:
    stage.flow(TWO).run()
    assert bodies(stage)[2] == MESSAGE


def test_a_run_that_stopped_behind_its_child_measures_the_parent(stage: Stage) -> None:
    log = {"name": "log", "command": "echo x >> .git/measured; ! grep OPEN note.txt"}

    def decide(call: Call, output: Path) -> None:
        decide_by_note(call, output)
        if "target-met: true" in output.read_text() and call.node == "outer/inner":
            stage.script.controller = decide_by_note

    stage.script.controller = decide
    flow = node("outer", sensors=[log], child=node("inner"))
    # Four calls of the inner node, and the first one of the outer: then the parent is to measure.
    code = stage.flow(flow).run("close all points", "--budget", "calls=6")
    assert code == ExitCode.BUDGET_EXCEEDED
    assert len((stage.folder / ".git/measured").read_text().split()) == 1
    assert stage.resume("--budget", "calls=+5") == 0
    assert len((stage.folder / ".git/measured").read_text().split()) == 2
    assert stage.told()[-2:] == ["outer 1: Take out an open point", "outer 2: target met"]
