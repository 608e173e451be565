"""What a person sees while procedures run, on a terminal of their own, and what a pipe gets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems
from tests.cli.terminal import Terminal
from tests.drivers.iterate.project import Project

# Waits as long as a file is there; what it says would act on a terminal.
HOLDING = """\
while [ -e hold ]; do sleep 0.02; done
printf 'work %s\\n' "$PYTEST_REFLEX_ITERATION" >> work.txt
printf '\\033[2J\\033]0;owned\\007done\\n'
printf '\\033[2Jerr\\n' >&2
[ "$PYTEST_REFLEX_ITERATION" = 1 ] || exit 3
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run a verb of `iterate` in this process."""
    monkeypatch.chdir(project.folder)

    def call(*argv: str) -> Ended:
        status = main(["iterate", *argv])
        return Ended(status, *capsys.readouterr())

    return call


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path, "ok")
    (tmp_path / "agent.sh").write_text(HOLDING)
    return made


@pytest.mark.long
def test_a_terminal_shows_what_runs_and_keeps_the_lines(project: Project) -> None:
    (project.folder / "hold").touch()
    with Terminal(["iterate", "run", "build", "-n", "2"], project.folder) as terminal:
        terminal.wait_for("Iteration 1/2 0:0", "build · run 0:0", "Ctrl-C interrupts")
        (project.folder / "hold").unlink()
        assert terminal.end() == 6
        shown = terminal.shown.splitlines()
    assert b"to go" in terminal.raw  # the view of the second iteration, with the trend of the first
    told = [line.partition("] ")[2] for line in shown]
    assert [re.sub(r"[\d.]+s", "1s", line) for line in told if line] == [
        "Starting procedure: build (max 2 iterations)",
        "Iteration 1/2 starting...",
        "Iteration 1/2 completed in 1s",
        "Iteration 2/2 starting...",
        "WARNING: AI CLI failed (exit 3), consecutive failures: 1/3",
        "Iteration 2/2 completed in 1s",
        "Reached max iterations: 2 (total: 1s)",
    ]


@pytest.mark.long
def test_ctrl_c_takes_the_view_away_and_says_how_to_go_on(project: Project) -> None:
    (project.folder / "hold").touch()
    with Terminal(["iterate", "run", "build"], project.folder) as terminal:
        terminal.wait_for("Iteration 1/5 0:0")
        terminal.interrupt()
        assert terminal.end() == 130
        told = "Interrupted. State saved. Resume with: pytest-reflex iterate resume build"
        assert told in terminal.shown.replace("\n", "")
        assert "Ctrl-C interrupts" not in terminal.shown


@pytest.mark.long
def test_a_terminal_has_a_table_of_all_procedures(
    project: Project, run: Callable[..., Ended]
) -> None:
    run("run", "build", "-n", "4", "--failure-threshold", "2")
    with Terminal(["iterate", "status"], project.folder, columns=140) as terminal:
        assert terminal.end() == 0
        lines = [line.split() for line in terminal.everything.splitlines()]
    assert lines[0][:5] == ["driver", "name", "status", "started", "duration"]
    assert lines[2][:3] == ["iterate", "build", "aborted"]
    assert "3/4" in lines[2]


def test_json_lines_are_all_that_stderr_gets(run: Callable[..., Ended]) -> None:
    ended = run("run", "build", "-n", "2", "--log-format", "json", "--verbose")
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert [found for line in lines for found in problems("iteration-log", line)] == []
    assert (lines[0]["event"], lines[-1]["event"]) == ("started", "ended")
    failure = next(line for line in lines if line["event"] == "failure")
    assert failure["output"] == "\x1b[2Jerr"
    assert "\x1b" not in ended.stderr


def test_verbose_has_what_a_failed_tool_wrote(run: Callable[..., Ended]) -> None:
    ended = run("run", "build", "-n", "2", "-v")
    assert "consecutive failures: 1/3\n    | \\x1b[2Jerr\n" in ended.stderr
    assert "Statistics: 2 iterations, min " in ended.stderr


def test_a_pipe_gets_no_view(run: Callable[..., Ended]) -> None:
    ended = run("run", "build", "-n", "1")
    assert len(ended.stderr.splitlines()) == 4
    assert "\x1b" not in ended.stderr


def test_status_of_a_name_that_there_is_not_is_refused(run: Callable[..., Ended]) -> None:
    ended = run("status", "biuld")
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "there is no procedure 'biuld' (did you mean build?)" in ended.stderr


def test_status_says_where_nothing_runs(run: Callable[..., Ended]) -> None:
    ended = run("status")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "No procedure has a run under way in" in ended.stderr
    assert json.loads(run("status", "--json").stdout)["procedures"] == []
