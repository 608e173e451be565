"""Iterations that change nothing end a run, whatever the tool does to look busy."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.project import Project

GIT = "git -c user.name=n -c user.email=e@x"
BUSY = {
    "touches a file": "touch notes.md",
    "writes the same bytes": "cp notes.md copy && cat copy > notes.md && rm copy",
    "commits nothing": f"{GIT} commit --quiet --allow-empty --message busy",
    "writes what is ignored": 'echo "round $PYTEST_REFLEX_ITERATION" >> debug.log',
    "writes into our folder": 'mkdir -p .rooda/x && date +%N > ".rooda/x/y"',
    "goes back and forth": "if [ -e flag ]; then rm flag; else touch flag; fi",
}
AT_WORK = {
    "writes": 'echo "round $PYTEST_REFLEX_ITERATION" >> notes.md',
    "commits its work": f"date +%N >> notes.md && {GIT} commit --quiet --all --message work",
    "makes new files": 'touch "file$PYTEST_REFLEX_ITERATION"',
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Project(tmp_path, "ok")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("notes\n")
    (tmp_path / ".gitignore").write_text("*.log\n")
    for words in ("init --quiet", "add --all", "commit --quiet --message start"):
        run(f"{GIT} {words}", shell=True, check=True)
    return tmp_path


def iterate(project: Path, deed: str, *argv: str) -> int:
    (project / "agent.sh").write_text(f"cat > /dev/null\n{deed}\necho done\n")
    run(f"{GIT} commit --quiet --all --message agent", shell=True, check=True, cwd=project)
    return main(["iterate", "run", "build", "--unchanged", "2", *argv])


@pytest.mark.parametrize("deed", BUSY.values(), ids=BUSY)
def test_a_tool_that_only_looks_busy_is_stopped(
    project: Path, deed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert iterate(project, deed, "--stop-unchanged", "-n", "6") == 7
    told = capsys.readouterr().err
    assert "WARNING: The working tree is as it was before: unchanged iterations: 2/2" in told
    assert "Stopping: the working tree does not change any more (" in told


@pytest.mark.parametrize("deed", AT_WORK.values(), ids=AT_WORK)
def test_a_tool_that_is_at_work_is_not(
    project: Path, deed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert iterate(project, deed, "--stop-unchanged", "-n", "3") == 0
    assert "The working tree" not in capsys.readouterr().err


def test_where_nothing_says_to_stop_it_is_only_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert iterate(project, "true", "-n", "3") == 0
    assert capsys.readouterr().err.count("unchanged iterations: 2/2") == 1


@pytest.mark.long
def test_b074_a_run_without_a_limit_ends_after_ten_rounds_that_change_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "agent.sh").write_text("cat > /dev/null\necho ok\n")
    assert main(["iterate", "run", "build", "--unlimited"]) == 7
    assert "(10 iterations completed, total: " in capsys.readouterr().err


def test_a_resume_keeps_what_ends_a_run_that_is_stuck(project: Path) -> None:
    def state() -> dict[str, Any]:
        found: dict[str, Any] = json.loads((project / ".rooda/state/build.json").read_text())
        return found

    assert iterate(project, "true", "--stop-unchanged", "-n", "9") == 7
    assert state()["options"] == {"stop_unchanged": True, "unchanged": 2}
    assert main(["iterate", "resume", "build"]) == 7
    assert state()["iteration"] == 4
    assert main(["iterate", "resume", "build", "--unchanged", "1"]) == 7
    assert state()["iteration"] == 5
