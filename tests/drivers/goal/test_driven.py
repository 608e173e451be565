"""A goal that a process drives: others are kept out, and cancelling stops it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.goal import statefile
from pytest_reflex.errors import ExitCode
from pytest_reflex.storage.lock import is_locked
from tests.drivers.goal.stage import SPEC
from tests.faults.driven import wait_until

pytestmark = pytest.mark.long


@pytest.fixture
def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A process that drives a goal whose tool is at work."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "notes.txt").write_text("some\n")
    (folder / "tool.sh").write_text("touch held; while :; do sleep 0.05; done\n")
    config = 'agent = "tool"\n[agents.tool]\ncommand = ["sh", "tool.sh"]\ngrace = 0.5\n'
    (folder / "pytest-reflex.toml").write_text(config)
    argv = [sys.executable, "-m", "pytest_reflex", "goal", "start", "--reversibility", "2A", SPEC]
    process = subprocess.Popen(
        argv,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            wait_until((folder / "held").exists)
            yield process
        finally:
            process.terminate()  # where the test has not come to its end


@pytest.mark.parametrize("said", [{}, {"spec": "Fix another thing"}, {"spec": 7}], ids=str)
def test_a_goal_that_is_driven_keeps_others_out_and_is_stopped_by_cancel(
    driven: subprocess.Popen[str], capsys: pytest.CaptureFixture[str], said: dict[str, Any]
) -> None:
    """Whatever its agent has written into the state file meanwhile."""
    project = Path.cwd()
    path = statefile.state_path(project)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **said}), "utf-8")
    assert is_locked(statefile.lock_path(project))
    assert main(["goal", "continue"]) == ExitCode.LOCKED
    assert "another process is running goal-1" in capsys.readouterr().err
    assert main(["goal", "start", "--reversibility", "2A", SPEC]) == ExitCode.LOCKED
    assert main(["goal", "status", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["driven"] is True
    assert main(["goal", "cancel"]) == ExitCode.OK
    assert "Cancelled: goal-1" in capsys.readouterr().out
    _, err = driven.communicate(timeout=60)
    assert driven.returncode == ExitCode.USER_STOP
    assert "Traceback" not in err
    assert not is_locked(statefile.lock_path(project))
    assert not statefile.state_path(project).exists()
    assert main(["goal", "continue"]) == ExitCode.USAGE
