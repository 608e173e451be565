"""A loop is killed, interrupted, driven badly: what is durable stays, nothing is paid twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.slim import slim_python

pytestmark = pytest.mark.variants

AGENT = """\
import json, os, pathlib, signal, sys, time
prompt = sys.stdin.read()
step = prompt.split("executing phase ", 1)[1].split()[0]
artifact = prompt.partition("----- BEGIN ")[2].partition("----- END ")[0]
issues = prompt.partition("## Issues to fix")[2].partition("## Required output")[0]
with open("calls.log", "a") as log:
    log.write(step + "\\n")
if pathlib.Path("stubborn").exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if pathlib.Path("hang-" + step).exists():
    pathlib.Path("hanging").write_text(str(os.getpid()))
    time.sleep(600)
if step == "PLAN":
    print(json.dumps({"plan": ["say alpha", "say beta", "check again"]}))
elif step == "CRITIQUE":
    rule = "a.x.alpha" if "a.x.alpha" in prompt else "b.x.beta"
    issue = {"rule_id": rule, "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
    print(json.dumps({"issues": [issue]}))
elif step == "REFINE" and "b.x.beta" in issues:
    print("alpha beta")
elif step == "REFINE":
    print("alpha")
elif "alpha" in artifact:
    print("alpha beta" if "alpha beta" in artifact else "alpha")
else:
    print("nothing yet")
"""
CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says it, severity: fail, check: {type: content, search: "^alpha"}}
  - {id: b.x.beta, description: says that, severity: fail, check: {type: content, search: beta}}
"""
CONFIG = """\
agent = "script"
[loop]
evaluator = "core"
may_change = ["calls.log", "hang*"]
[agents.script]
command = [{python!r}, "agent.py"]
timeout = 600
"""


LONG = 120.0
"""Seconds in which what has to happen does, however busy the machine is."""


class Project:
    """A folder with a loop whose agent is a real process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "agent.py").write_text(AGENT)
        (folder / "words.yaml").write_text(CRITERIA)
        (folder / "pytest-reflex.toml").write_text(CONFIG.format(python=slim_python()))

    def command(self, *words: str) -> list[str]:
        return [slim_python(), "-m", "pytest_reflex", "loop", *words]

    def new(self) -> list[str]:
        return self.command("new", "say it", "--alias", "run", "--criteria", "words.yaml", "--yes")

    def run(self, argv: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(argv, cwd=self.folder, capture_output=True, text=True, timeout=LONG)

    def start(self, argv: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def calls(self) -> list[str]:
        return (self.folder / "calls.log").read_text().split()

    def hanging(self) -> int:
        """Return the process id of the agent that hangs, 0 while it writes it down."""
        return int((self.folder / "hanging").read_text() or 0)

    def state(self) -> dict[str, Any]:
        path = self.folder / ".ai-factory/evolution/run/run.json"
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found

    def outcome(self) -> dict[str, Any]:
        """What must be the same however often a run was broken."""
        state = self.state()
        rows = [(r["id"], r["outcome"]) for r in state["evaluation"]["rule_results"]]
        keys = ("status", "iteration", "phase", "plan", "stop", "last_score_exact", "artifact")
        return {**{key: state[key] for key in keys}, "rows": rows}


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def runs(pid: int) -> bool:
    """Return whether a process runs; one that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("unbroken") / "p")
    done = project.run(project.new())
    assert done.returncode == 0, done.stderr
    return project


@pytest.mark.long
def test_an_unbroken_run_asks_each_step_once_per_iteration(unbroken: Project) -> None:
    assert sorted(unbroken.calls()) == sorted(
        ["PLAN", "PRODUCE", "CRITIQUE", "REFINE"] * 2 + ["PLAN", "PRODUCE"]
    )


@pytest.mark.long
@pytest.mark.parametrize("step", ["PLAN", "PRODUCE", "CRITIQUE", "REFINE"])
def test_b113_killed_in_a_call_it_resumes_and_ends_as_an_unbroken_one(
    step: str, unbroken: Project, tmp_path: Path
) -> None:
    project = Project(tmp_path / "p")
    (project.folder / f"hang-{step}").touch()
    process = project.start(project.new())
    wait_for((project.folder / "hanging").exists)
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.kill(int((project.folder / "hanging").read_text()), signal.SIGKILL)
    (project.folder / f"hang-{step}").unlink()
    done = project.run(project.command("resume", "run"))
    assert done.returncode == 0, done.stderr
    assert project.outcome() == unbroken.outcome()
    assert sorted(project.calls()) == sorted([*unbroken.calls(), step])


@pytest.mark.long
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_b103_a_signal_ends_the_agent_and_leaves_a_run_that_resumes(
    number: signal.Signals, status: int, unbroken: Project, tmp_path: Path
) -> None:
    project = Project(tmp_path / "p")
    (project.folder / "hang-PRODUCE").touch()
    process = project.start(project.new())
    wait_for((project.folder / "hanging").exists)
    process.send_signal(number)
    assert process.wait(LONG) == status
    wait_for(lambda: not runs(int((project.folder / "hanging").read_text())))
    (project.folder / "hang-PRODUCE").unlink()
    shown = project.run(project.command("status")).stdout
    assert "running (interrupted)" in shown
    assert project.run(project.command("resume")).returncode == 0
    assert project.outcome() == unbroken.outcome()


@pytest.mark.long
@pytest.mark.parametrize("step", ["PLAN", "PRODUCE"])
def test_b103_a_second_signal_ends_an_agent_that_will_not_go(step: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    path = project.folder / "pytest-reflex.toml"
    path.write_text(path.read_text() + "grace = 50\n")
    (project.folder / "stubborn").touch()
    (project.folder / f"hang-{step}").touch()
    process = project.start(project.new())
    wait_for(lambda: (project.folder / "hanging").exists() and project.hanging() > 0)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
    assert process.wait(LONG) == 130
    wait_for(lambda: not runs(project.hanging()))


@pytest.mark.long
def test_an_agent_that_hangs_is_ended_at_its_time_limit(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    path = project.folder / "pytest-reflex.toml"
    path.write_text(path.read_text().replace("timeout = 600", "timeout = 1"))
    (project.folder / "hang-PLAN").touch()
    done = project.run(project.new())
    assert done.returncode == 9
    assert project.calls() == ["PLAN", "PLAN"]
    wait_for(lambda: not runs(int((project.folder / "hanging").read_text())))


@pytest.mark.long
@pytest.mark.parametrize("evaluator", ["pytest", "core"])
def test_ctrl_c_in_evaluate_ends_the_command_of_a_check(evaluator: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    command = "echo $$ > hanging.tmp; mv hanging.tmp hanging; exec sleep 60"
    check = {"type": "executable", "command": command}
    rule = {"id": "a.x.slow", "description": "d", "severity": "fail", "check": check}
    (project.folder / "words.yaml").write_text(json.dumps({"name": "slow", "rules": [rule]}))
    process = project.start([*project.new(), "--evaluator", evaluator])
    wait_for((project.folder / "hanging").exists)
    process.send_signal(signal.SIGINT)
    assert process.wait(LONG) == 130
    wait_for(lambda: not runs(int((project.folder / "hanging").read_text())))
