"""Real runs that are interrupted, killed and driven twice: no orphan, and nothing counted twice."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.state import state_file
from tests.cli.terminal import Terminal
from tests.drivers.iterate.project import Project, left_behind, told
from tests.faults.driven import wait_until
from tests.process.zoo import gone_within, marked

pytestmark = pytest.mark.variants

LONG = 60.0
_WAITS_IN_3 = """\
[ "$PYTEST_REFLEX_ITERATION" != 3 ] || [ -e go ] || { touch hanging; sleep 600; }
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def running(project: Project, *argv: str, env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = project.start(*argv, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def ended(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Wait for the end of a run; return its status and what it told."""
    _, err = process.communicate(timeout=LONG)
    return process.returncode, told(err)


@pytest.mark.long
def test_ctrl_c_during_the_tool_ends_its_tree_and_is_resumed_counted_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(here, "ok", "tree")
    with marked() as (env, living):
        with running(project, "run", "build", "-n", "3", env=env) as process:
            project.wait_for("hanging")
            process.send_signal(signal.SIGINT)
            code, lines = ended(process)
        assert gone_within(LONG, living)
    assert code == 130
    assert lines[-2:] == [
        "Iteration 2/3 starting...",
        "Interrupted. State saved. Resume with: pytest-reflex iterate resume build",
    ]
    state = project.state()
    assert (state["status"], state["iteration"]) == ("interrupted", 1)
    project.plan("ok")
    assert main(["iterate", "resume", "build"]) == 0
    lines = told(capsys.readouterr().err)
    assert lines[0] == "Resuming procedure: build from iteration 2 (max 3)"
    assert lines[1].startswith("Previous session: 1 iteration completed in ")
    assert [number for _, number in project.calls()] == ["2", "3"]
    assert not project.state_file.exists()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ten_iterations_of_a_process_tree_leave_no_orphan(tmp_path: Path, number: int) -> None:
    project = Project(tmp_path, *["leave"] * 9, "tree")
    with marked() as (env, living):
        with running(project, "run", "build", "-n", "99", env=env) as process:
            project.wait_for("hanging")
            process.send_signal(number)
            assert ended(process)[0] == 128 + number
        assert gone_within(LONG, living)
    assert len(project.calls()) == 10
    assert project.state()["iteration"] == 9


@pytest.mark.long
def test_b103_a_second_signal_leaves_at_once_with_a_valid_state(tmp_path: Path) -> None:
    project = Project(tmp_path, "ok", "tree", more="")
    config = tmp_path / "pytest-reflex.toml"
    config.write_text(config.read_text().replace("grace = 0.5", "grace = 500"))
    with marked() as (env, living):
        with running(project, "run", "build", env=env) as process:
            project.wait_for("hanging")
            process.send_signal(signal.SIGINT)
            wait_until(lambda: len(living()) < 5)  # TERM has reached those that heed it
            process.send_signal(signal.SIGINT)
            code, _ = ended(process)
        assert gone_within(LONG, living)
    assert code == 130
    assert project.state()["iteration"] == 1


@pytest.mark.long
@pytest.mark.parametrize("where", ["tool", "gate"])
def test_b113_a_run_killed_hard_is_resumed_with_nothing_counted_twice(
    here: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    third = "tree" if where == "tool" else "ok"
    gate = '[iterate.gates.waits]\ncommand = "sh gate.sh"\n'
    project = Project(here, "ok", "ok", third, more=gate if where == "gate" else "")
    (here / "gate.sh").write_text(_WAITS_IN_3)
    with marked() as (env, living):
        with running(project, "run", "build", "-n", "4", env=env) as process:
            project.wait_for("hanging")
            process.kill()
            process.wait()
        assert gone_within(LONG, living)
        assert (project.state()["status"], project.state()["iteration"]) == ("running", 2)
    project.plan("ok")
    (here / "go").touch()
    assert main(["iterate", "resume", "build"]) == 0
    lines = told(capsys.readouterr().err)
    assert lines[0] == "Resuming procedure: build from iteration 3 (max 4)"
    assert [number for _, number in project.calls()] == ["3", "4"]


@pytest.mark.parametrize(
    "verb", [["run", "build"], ["run", "build", "--fresh"], ["resume", "build"]]
)
def test_a_state_file_with_running_and_a_live_owner_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "ok")
    left_behind(project, "running")
    with state_file(tmp_path / ".rooda", "build", print):
        # Another process: the lock is that of an open file, wherever it was opened.
        assert main(["iterate", *verb]) == 11
    assert f"another process is running build (pid {os.getpid()})" in capsys.readouterr().err
    assert not project.calls()
    assert project.state()["status"] == "running"


def test_what_an_earlier_run_left_running_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path, "ok")
    env = {**os.environ, "PYTEST_REFLEX_RUN_DIR": str(tmp_path / ".rooda/log/build")}
    with subprocess.Popen(["sleep", "600"], env=env, start_new_session=True) as orphan:
        assert main(["iterate", "run", "build", "-n", "1"]) == 0
        assert orphan.wait(LONG) == -signal.SIGKILL
    assert "ended 1 process that an earlier run had left" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("verb", [["run", "build", "--fresh"], ["run", "build"]])
def test_who_has_its_lock_removed_by_its_own_tool_is_still_the_owner(
    here: Path, verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(here, "vanish", "ok")
    with running(project, "run", "build", "-n", "2", env=dict(os.environ)) as process:
        project.wait_for("hanging")
        assert main(["iterate", *verb]) == 11
        told_here = capsys.readouterr().err
        (here / "go").touch()
        code, lines = ended(process)
    assert f"another process is running build (pid {process.pid})" in told_here
    assert "left behind" not in told_here
    assert (code, len(project.calls())) == (0, 2)
    assert lines[-1].startswith("Reached max iterations: 2")


@pytest.mark.long
def test_the_interrupted_state_is_offered_on_a_terminal(tmp_path: Path) -> None:
    project = Project(tmp_path, "ok")
    left_behind(project, "interrupted", done=1, limit=2)
    with Terminal(["iterate", "run", "build"], tmp_path, columns=120) as terminal:
        terminal.wait_for("Go on with it?")
        terminal.send(b"y\n")
        terminal.wait_for("Reached max iterations: 2")
    assert [number for _, number in project.calls()] == ["2"]
