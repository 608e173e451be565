"""What is said before a run begins and when it ends: what is missing, what waits, what is next."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.flow.run_file import last_run
from pytest_reflex.errors import ExitCode
from tests.cli.terminal import Terminal
from tests.drivers.flow.stage import TWO, Stage, node
from tests.faults.flow_runs import Flowing

pytestmark = pytest.mark.long


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flowing:
    """A repository whose tool is a program, with a run that stands in the child."""
    project = Flowing(tmp_path / "project")
    monkeypatch.chdir(project.folder)
    argv = ["flow", "run", "--budget", "calls=1", "close all points"]
    assert main(argv) == ExitCode.BUDGET_EXCEEDED
    return project


def test_a_project_without_a_flow_is_told_of_setup(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage.run() == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "there is no .ai-loop/flow.yaml" in told
    assert "flow setup" in told
    assert stage.git("status", "--porcelain") == ""


def test_a_flow_with_mistakes_changes_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("Outer", controller="gone.md", sensors=["lost.md"]))
    assert stage.run() == ExitCode.USAGE
    told = capsys.readouterr().err
    for what in ("'Outer'", "gone.md", "lost.md"):
        assert what in told
    assert stage.git("branch", "--format=%(refname:short)") == "main\n"
    assert not (stage.folder / ".ai-loop/runs").exists()


def test_an_actuator_that_cannot_change_files_is_refused(
    waiting: Flowing, capsys: pytest.CaptureFixture[str]
) -> None:
    config = waiting.folder / "pytest-reflex.toml"
    config.write_text(f"{config.read_text()}edit_options = false\n")
    assert main(["flow", "resume"]) == ExitCode.USAGE
    assert "cannot change files: it only answers" in capsys.readouterr().err


def test_a_missing_task_is_asked_for_on_a_terminal_alone(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(TWO)
    assert main(["flow", "run"]) == ExitCode.USAGE
    assert "there is no task" in capsys.readouterr().err


def test_a_terminal_is_asked_whether_to_resume_and_shown_where_the_run_stands(
    waiting: Flowing,
) -> None:
    run = last_run(waiting.folder)
    with Terminal(["flow", "run", "another"], waiting.folder) as terminal:
        for shown in (
            f"Run: {run}",
            "Active node: outer",
            "Stack: outer",
            "Branch: ai-loop/close-all-points (from main)",
            "Resume it?",
        ):
            terminal.wait_for(shown)
        terminal.send(b"n\n")
        assert terminal.end() == ExitCode.USAGE
    assert last_run(waiting.folder) == run


def test_a_terminal_that_says_yes_has_the_run_resumed(waiting: Flowing) -> None:
    argv = ["flow", "run", "--budget", "calls=+20", "another"]
    with Terminal(argv, waiting.folder) as terminal:
        terminal.wait_for("Resume it?")
        terminal.send(b"y\n")
        terminal.wait_for("Stopped: target-met")
        assert terminal.end() == 0
    assert waiting.boundaries()[-1] == ("outer", "3")


def test_the_end_of_a_run_is_told_with_its_branch_its_commits_and_what_is_next(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(TWO).run()
    branch = "ai-loop/close-all-points"
    assert capsys.readouterr().out.splitlines()[-4:] == [
        f"Branch: {branch} (from main, 7 commits)",
        f"Look at it: git diff main...{branch}",
        f"Take it over: git switch main && git merge {branch} (or git rebase {branch})",
        f"Discard it: git switch main && git branch -D {branch}",
    ]
    assert stage.git("rev-list", "--count", f"main..{branch}") == "7\n"


def test_what_is_said_to_be_next_can_be_done(stage: Stage) -> None:
    stage.flow(TWO).run()
    branch = stage.git("branch", "--show-current").strip()
    assert "DONE" in stage.git("diff", f"main...{branch}")
    stage.git("switch", "--quiet", "main")
    stage.git("rebase", "--quiet", branch)
    assert "DONE" in stage.git("show", "HEAD:note.txt")


def test_a_run_is_not_resumed_on_another_branch(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(TWO).run("close them", "--budget", "calls=1")
    stage.git("stash", "--quiet")  # the files of the run, which is in the middle of something
    stage.git("switch", "--quiet", "main")
    assert stage.resume(stage.run_id) == ExitCode.USAGE
    assert "git switch ai-loop/close-them" in capsys.readouterr().err
    stage.git("switch", "--quiet", "ai-loop/close-them")
    stage.git("stash", "pop", "--quiet")
    assert stage.resume("--budget", "calls=+9") == 0
