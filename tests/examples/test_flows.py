"""The examples of flows: loops within loops, run by the program in a repository of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.drivers.flow import messages
from pytest_reflex.drivers.flow.setup import AGENTS, FLOW_FILE, TemplateValues, files_of
from tests.examples.sessions import EXAMPLES

pytestmark = pytest.mark.long

FLOWS = EXAMPLES / "flow"
TASKS = {"red-to-green": "Correct the prices", "three-levels": "Convert units of a kitchen"}


def in_folder(folder: Path, *command: str) -> str:
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    names = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in WHO}
    environment = {**os.environ, **names, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WHO = ("NAME", "EMAIL")


@pytest.fixture(scope="module", params=TASKS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of an example in a repository, after `flow run`."""
    folder = tmp_path_factory.mktemp("flows") / str(request.param)
    shutil.copytree(FLOWS / request.param, folder, ignore=shutil.ignore_patterns("__pycache__"))
    in_folder(folder, "git", "init", "-q", "-b", "main")
    in_folder(folder, "git", "add", ".")
    in_folder(folder, "git", "commit", "-q", "-m", "first")
    told = in_folder(
        folder, sys.executable, "-m", "pytest_reflex", "flow", "run", TASKS[request.param]
    )
    assert "Stopped: target-met" in told
    return folder


EXPECTED = {
    "red-to-green": [
        ("deliver", "0", "running"),
        ("deliver/turn-green", "1.0", "running"),
        ("deliver/turn-green", "1.1", "running"),
        ("deliver/turn-green", "1.2", "running"),
        ("deliver/turn-green", "1.3", "complete"),
        ("deliver", "1", "running"),
        ("deliver", "2", "complete"),
    ],
    "three-levels": [
        ("release", "0", "running"),
        ("release/program", "1.0", "running"),
        ("release/program/one-function", "1.1.0", "running"),
        ("release/program/one-function", "1.1.1", "running"),
        ("release/program/one-function", "1.1.2", "max-iterations-reached"),
        ("release/program", "1.1", "running"),
        ("release/program/one-function", "1.2.0", "running"),
        ("release/program/one-function", "1.2.1", "running"),
        ("release/program/one-function", "1.2.2", "complete"),
        ("release/program", "1.2", "running"),
        ("release/program", "1.3", "complete"),
        ("release", "1", "running"),
        ("release", "2", "complete"),
    ],
}


def test_each_boundary_is_a_commit_in_the_order_of_the_loops(run: Path) -> None:
    log = in_folder(run, "git", "log", "--reverse", "-z", "--format=%B", "main..HEAD")
    found = [messages.read(message) for message in log.split("\0") if message]
    assert [(one.path, one.label, one.status) for one in found if one] == EXPECTED[run.name]


def test_a_child_is_entered_without_a_measurement_and_measured_again_behind_it(run: Path) -> None:
    log = in_folder(run, "git", "log", "--reverse", "-z", "--format=%B", "main..HEAD")
    found = [one for message in log.split("\0") if (one := messages.read(message))]
    for one in found:
        is_entry = one.level > 0 and one.label.endswith(".0")
        assert (set(one.sensors.values()) == {"pending"}) == is_entry
    assert set(found[-1].sensors.values()) == {"pass"}, "the root has measured again"


def test_the_work_is_on_the_branch_of_the_run_and_nothing_is_left_over(run: Path) -> None:
    assert in_folder(run, "git", "branch", "--show-current").startswith("ai-loop/")
    left = in_folder(run, "git", "status", "--porcelain").splitlines()
    assert [
        line for line in left if "__pycache__" not in line and ".pytest-reflex" not in line
    ] == []
    changed = in_folder(run, "git", "diff", "--name-only", "main", "HEAD").splitlines()
    program = [name for name in changed if not name.startswith(".ai-loop/runs/")]
    assert program in (["prices.py"], ["NOTES.md", "units.py"])


def test_the_first_example_is_what_setup_writes() -> None:
    files = files_of("red-to-green", TemplateValues(command="python -m unittest -q check_prices"))
    text = files[FLOW_FILE].partition("\n")[2]  # without the line for editors
    assert text == (FLOWS / "red-to-green" / FLOW_FILE).read_text()
    for name in (name for name in files if name.startswith(AGENTS)):
        assert files[name] == (FLOWS / "red-to-green" / name).read_text()
