"""A run that another program left is shown and goes on, by what its own files say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.errors import ExitCode
from tests.drivers.flow.stage import NOTE, PLAN, Call, Stage, close_one, decide_by_note, node

pytestmark = [pytest.mark.long, pytest.mark.variants]

RUN = "run_20261015_003"
RUNS = f".ai-loop/runs/{RUN}"
NODES = f"{RUNS}/nodes"
TASK = 'Close all points: "for good", with no others'
STATE = """\
---
run-id: {run}
status: {status}
active-node-path: {active}
execution-stack:
{stack}
branch: {branch}
base-branch: {base}
task: '{task}'
---
"""
NODE = """\
---
iteration: {iteration}
status: {status}
max-iterations: 3
node-path: {path}
parent-node-path: {parent}
---

# Task (setpoint)

{task}
"""
CONTROLLER = """\
---
target-met: false
---

## Gap Analysis

Points are open.

## Action Plan (setpoint for inner loop)

Close what is open.
One by one.
"""


def stood(
    stage: Stage,
    *,
    active: str = "outer/inner",
    status: str = "running",
    outer: int = 1,
    inner: int = 0,
    inner_status: str = "running",
    full_stack: bool = True,
    branch: str = "ai-loop/close",
    sensor: str = "pending",
) -> None:
    """Leave what another program does that was interrupted."""
    paths = ["outer", "outer/inner"][: active.count("/") + 1]
    names = paths if full_stack else [path.rpartition("/")[2] for path in paths]
    stack = "\n".join(f"  - {name}" for name in names)
    stage.write(
        f"{RUNS}/run-state.md",
        STATE.format(
            run=RUN,
            status=status,
            active=active,
            stack=stack,
            branch=branch,
            base="main",
            task=TASK,
        ),
    )
    values = {"path": "outer", "parent": "root", "task": TASK, "status": "running"}
    stage.write(f"{NODES}/outer/orchestrator-output.md", NODE.format(iteration=outer, **values))
    stage.write(f"{NODES}/outer/controller-output.md", CONTROLLER)
    stage.write(
        f"{NODES}/outer/sensor-look-output.md", "---\nsensor: look\nstatus: fail\n---\nno\n"
    )
    plan = "Close what is open.\nOne by one."
    values = {"path": "outer/inner", "parent": "outer", "task": plan, "status": inner_status}
    inner_text = NODE.format(iteration=inner, **values)
    stage.write(f"{NODES}/outer/inner/orchestrator-output.md", inner_text)
    stub = f"---\nsensor: look\nstatus: {sensor}\n---\nNo baseline measurement.\n"
    stage.write(f"{NODES}/outer/inner/sensor-look-output.md", stub)


@pytest.fixture
def left(stage: Stage) -> Stage:
    """Another program's flow, on its branch."""
    look = stage.agent("look")

    def sense(call: Call, output: Path) -> None:
        state = "fail" if "OPEN" in Path(NOTE).read_text() else "pass"
        output.write_text(f"---\nsensor: look\nstatus: {state}\n---\n{state}\n")

    stage.script.sensor = sense
    inner = node("inner", sensors=[look], controller=PLAN)
    stage.flow(node("outer", sensors=[look], controller=PLAN, child=inner))
    stage.git("add", "--all")
    stage.git("commit", "--quiet", "-m", "a flow")
    stage.git("switch", "--quiet", "-c", "ai-loop/close")
    return stage


def test_it_is_listed_and_shown(left: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stood(left)
    assert main(["flow", "list"]) == 0
    assert RUN in capsys.readouterr().out
    assert main(["flow", "status"]) == 0
    shown = capsys.readouterr().out
    for told in (
        RUN,
        "interrupted",
        TASK,
        "ai-loop/close",
        "outer: iteration 1/3",
        "inner: iteration",
    ):
        assert told in shown
    assert "look pending" in shown
    assert not (left.folder / ".pytest-reflex").exists()  # a look writes nothing


@pytest.mark.parametrize("full_stack", [True, False], ids=["by path", "by id"])
def test_it_goes_on_in_the_child(left: Stage, full_stack: bool) -> None:
    stood(left, full_stack=full_stack)
    assert left.resume(RUN) == 0
    calls = [(call.role, call.node) for call in left.script.asked]
    assert calls[:3] == [
        ("sensor", "outer/inner"), ("controller", "outer/inner"), ("actuator", "outer/inner"),
    ]  # fmt: skip
    assert calls[-2:] == [("sensor", "outer"), ("controller", "outer")]
    assert left.told() == [
        "outer/inner 1.1: Take out an open point",
        "outer/inner 1.2: Take out an open point",
        "outer/inner 1.3: target met",
        "outer 1: Close what is open.",
        "outer 2: target met",
    ]
    assert "Close what is open.\nOne by one." in left.output(
        "outer/inner", "orchestrator-output.md"
    )
    assert TASK in left.output("outer", "orchestrator-output.md")
    assert "status: complete" in left.run_state()


def test_a_decision_of_an_iteration_that_was_cut_short_does_not_count(left: Stage) -> None:
    stood(left, inner=2, sensor="pass")
    met = "---\ntarget-met: true\n---\n\n## Gap Analysis\n\nNone.\n"
    left.write(f"{NODES}/outer/inner/controller-output.md", met)
    left.write(f"{NODES}/outer/inner/actuator-output.md", "done\n")
    assert left.resume(RUN) == 0
    first = left.script.asked[:3]
    assert [call.role for call in first] == ["sensor", "controller", "actuator"]
    assert left.told()[0] == "outer/inner 1.2: Take out an open point"
    assert "DONE 1" in left.git("show", f"HEAD:{NOTE}")


def test_a_child_that_has_ended_has_its_parent_measured_again(left: Stage) -> None:
    stood(left, inner=2, inner_status="complete")
    left.write(NOTE, "DONE\n")
    assert left.resume(RUN) == 0
    calls = [(call.role, call.node) for call in left.script.asked]
    assert calls == [("sensor", "outer"), ("controller", "outer")]


def test_a_run_in_its_root_measures_the_root_again(left: Stage) -> None:
    stood(left, active="outer", outer=2)
    left.write(NOTE, "DONE\n")
    assert left.resume() == 0
    assert left.told() == ["outer 2: target met"]


def test_once_resumed_it_is_a_run_like_any_other(left: Stage) -> None:
    stood(left)

    def give_up(call: Call, output: Path) -> None:
        raise KeyboardInterrupt

    left.script.actuator = give_up
    assert left.resume(RUN) == ExitCode.INTERRUPTED
    left.script.actuator = close_one
    left.script.controller = decide_by_note
    assert left.resume() == 0
    labels = [(one.path, one.label, one.status) for one in left.boundaries()]
    assert len(labels) == len(set(labels)) == 5


def test_a_new_run_asks_for_it_or_leaves_it(
    left: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stood(left)
    assert left.run() == ExitCode.USAGE
    assert RUN in capsys.readouterr().err
    assert left.run("another task", "--new") == 0
    assert "status: abandoned" in (left.folder / RUNS / "run-state.md").read_text()
    assert main(["flow", "resume", RUN]) == ExitCode.USAGE


@pytest.mark.parametrize("status", ["complete", "max-iterations-reached", "error", "abandoned"])
def test_one_that_has_ended_is_shown_and_not_asked_for(
    left: Stage, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    stood(left, status=status)
    assert main(["flow", "status", RUN]) == 0
    assert "Ended" in capsys.readouterr().out
    assert left.run() == 0 or status == "max-iterations-reached"


def test_it_is_refused_on_another_branch_and_without_its_branch(
    left: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stood(left)
    left.git("switch", "--quiet", "main")
    assert left.resume(RUN) == ExitCode.USAGE
    assert "git switch ai-loop/close" in capsys.readouterr().err
    left.git("branch", "--quiet", "-D", "ai-loop/close")
    assert left.resume(RUN) == ExitCode.USAGE
    assert "git switch -c ai-loop/close" in capsys.readouterr().err
    assert left.script.asked == []


DAMAGED = {
    "no front matter": ("run-state.md", "status: running\n", "front matter"),
    "a cut file": ("run-state.md", "---\nstatus: run", "front matter"),
    "broken YAML": ("run-state.md", "---\nstatus: [\n---\n", "run-state.md"),
    "no text": ("run-state.md", "---\nstatus: \udcff\n---\n", "UTF-8"),
    "no such status": (
        "run-state.md", "---\nstatus: asleep\ntask: x\nactive-node-path: outer\n---\n", "asleep",
    ),
    "no task": ("run-state.md", "---\nstatus: running\nactive-node-path: outer\n---\n", "task"),
    "a path that leads out": (
        "run-state.md", "---\nstatus: running\ntask: x\nactive-node-path: ../../x\n---\n",
        "../../x",
    ),
    "another run": ("run-state.md", "---\nrun-id: run_1\nstatus: running\n---\n", "run_1"),
    "no number of an iteration": (
        "nodes/outer/orchestrator-output.md", "---\niteration: two\n---\n", "two",
    ),
    "a node without front matter": ("nodes/outer/orchestrator-output.md", "x", "front matter"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_a_state_that_is_damaged_is_told_with_its_file(
    left: Stage, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    name, text, told = DAMAGED[case]
    stood(left)
    (left.folder / RUNS / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    for words in (["status", RUN], ["resume", RUN]):
        assert main(["flow", *words]) not in (0, ExitCode.INTERNAL)
        error = capsys.readouterr().err
        assert told in error
        assert name.rpartition("/")[2] in error
        assert "Traceback" not in error
    assert main(["flow", "list"]) == 0
    assert "damaged" in capsys.readouterr().out
    assert left.script.asked == []


def test_a_node_that_the_flow_has_no_more_is_named(
    left: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stood(left)
    shutil.copy(left.folder / ".ai-loop/flow.yaml", left.folder / "old.yaml")
    left.flow(node("outer", sensors=[], controller=PLAN))
    assert left.resume(RUN) == ExitCode.USAGE
    assert "outer/inner" in capsys.readouterr().err
