"""A flow that was killed while an agent worked has that call in its spend, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.drivers.flow.run_file import last_run
from tests.faults.driven import wait_until
from tests.faults.flow_runs import BOUNDARIES, Flowing
from tests.slim import slim_python

pytestmark = [pytest.mark.long, pytest.mark.variants]

# A tool that kills who asked it, in the calls that `kills` names by their numbers.
_KILLS = """\
echo x >> .git/calls
if grep -qx "$(grep -c x .git/calls)" .git/kills; then
    kill -9 $PPID
    sleep 60
fi
"""
LOST = "1 agent call was not counted when the run was killed; it counts as paid"


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flowing:
    found = Flowing(tmp_path / "project")
    tool = found.folder / "tool.sh"
    tool.write_text(_KILLS + tool.read_text())
    found.git("commit", "--quiet", "--all", "--message", "a tool that kills")
    monkeypatch.chdir(found.folder)
    return found


def killed(flow: Flowing, *argv: str) -> None:
    done = subprocess.run(
        [slim_python(), "-m", "pytest_reflex", "flow", *argv], capture_output=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    wait_until(lambda: not is_driven(flow.folder))


def is_driven(project: Path) -> bool:
    name = last_run(project)
    assert name
    return RunFile(project, "flow", name).row().driven


def spend(capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    capsys.readouterr()
    assert main(["flow", "status", last_run(Path.cwd()) or "", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["spend"]
    return found["calls"], found["unknown_cost_calls"]


@pytest.mark.parametrize("call", [1, 2, 4], ids=["controller", "controller below", "second act"])
def test_the_call_counts_once_whoever_was_asked(
    flow: Flowing, call: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (flow.folder / ".git/kills").write_text(f"{call}\n")
    killed(flow, "run", "close all points")
    assert spend(capsys) == (call, call)  # the tool names no price
    assert main(["flow", "resume"]) == 0
    assert LOST in capsys.readouterr().err
    assert flow.boundaries() == BOUNDARIES
    calls = len((flow.folder / ".git/calls").read_text().split())
    assert spend(capsys) == (calls, calls)


def test_two_kills_are_two_calls_and_a_budget_counts_them(
    flow: Flowing, capsys: pytest.CaptureFixture[str]
) -> None:
    (flow.folder / ".git/kills").write_text("1\n2\n")
    killed(flow, "run", "close all points", "--budget", "calls=3")
    killed(flow, "resume")
    assert spend(capsys) == (2, 2)
    assert main(["flow", "status"]) == 0
    assert "Spent: 2 calls, " in capsys.readouterr().out
    assert main(["flow", "resume"]) == 8
    assert "calls: 3 of 3 used" in capsys.readouterr().out
    assert spend(capsys) == (3, 3)
    assert main(["flow", "resume", "--budget", "calls=+20"]) == 0
    assert LOST not in capsys.readouterr().err
    assert os.path.exists(".git/calls")
