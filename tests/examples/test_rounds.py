"""The example of the iteration loop: criteria are its gate, and the agent's word ends nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.sessions import EXAMPLES

FAILED = "WARNING: Quality gates failed: guide"
BELOW = (
    "    | guide: guide.md: failed rules: a.completeness.undo; score 0.400 is below 0.9",
    "    | consecutive failures: 1/3",
    "    | guide: guide.md: score 0.800 is below 0.9",
    "    | consecutive failures: 2/3",
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a copy of the example after `iterate run`, and what that told."""
    folder = tmp_path_factory.mktemp("examples") / "rounds"
    shutil.copytree(EXAMPLES / "rounds", folder)
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest_reflex", "iterate", "run", "fix-guide"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    return folder, done.stderr


@pytest.mark.long
def test_the_gate_holds_until_the_guide_is_whole(ran: tuple[Path, str]) -> None:
    folder, told = ran
    lines = [line.partition("] ")[2] for line in told.splitlines()]
    assert [line for line in lines if line.startswith(("WARNING", "Success"))] == [
        FAILED,
        FAILED,
        lines[-1],
    ]
    assert tuple(line for line in told.splitlines() if line.startswith("    | ")) == BELOW
    assert lines[-1].startswith("Success signal in iteration 3 ")
    assert "$ tidy ~/Downloads" in (folder / "guide.md").read_text()


def test_the_log_has_what_each_gate_came_to(ran: tuple[Path, str]) -> None:
    (log,) = (ran[0] / ".rooda/log/fix-guide").glob("*.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    gates = [(row["iteration"], row["outcome"]) for row in rows if row["event"] == "gate"]
    assert gates == [(1, "fail"), (2, "fail"), (3, "pass")]


def test_a_run_that_is_complete_leaves_no_state(ran: tuple[Path, str]) -> None:
    assert not list((ran[0] / ".rooda/state").glob("*.json"))
