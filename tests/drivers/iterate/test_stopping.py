"""``iterate stop`` ends a run that another process drives, between its iterations or in one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.project import Project, left_behind, told
from tests.faults.driven import wait_until

pytestmark = [pytest.mark.long, pytest.mark.variants]

Captured = pytest.CaptureFixture[str]
Start = Callable[..., "subprocess.Popen[str]"]
HOLDING_GATE = """\
[iterate.gates.tests]
command = "touch judging; while :; do sleep 0.05; done"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, "ok", "hold", "ok")


@pytest.fixture
def start(project: Project) -> Iterator[Start]:
    """Return a function that starts a run and waits until its tool, or what is named, is there."""
    drivers: list[subprocess.Popen[str]] = []

    def begin(*argv: str, until: str = "held") -> subprocess.Popen[str]:
        drivers.append(project.start(*(argv or ("run", "build"))))
        project.wait_for(until)
        return drivers[-1]

    yield begin
    for driver in drivers:
        driver.kill()
        driver.wait()
        driver.stderr and driver.stderr.close()


def answer(capsys: Captured, *argv: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["iterate", "stop", *argv, "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def control(project: Project) -> Path:
    return project.folder / ".rooda/state/build.control.json"


@pytest.mark.parametrize(
    ("argv", "reason"),
    [((), ""), (("build", "--reason", "for today"), ": for today"), (("--reason", "ü"), ": ü")],
    ids=["the only one", "named with a reason", "not ASCII"],
)
def test_a_run_stops_before_its_next_iteration(
    project: Project, start: Start, argv: tuple[str, ...], reason: str, capsys: Captured
) -> None:
    driver = start()
    assert main(["iterate", "stop", *argv, "--wait", "0"]) == 0
    assert "does so before its next iteration" in capsys.readouterr().out
    project.go()
    _, lines = driver.communicate()
    assert driver.returncode == 2
    assert told(lines)[-1].startswith(f"Stopped by the user{reason} (2 iterations completed")
    assert (project.state()["status"], project.state()["iteration"]) == ("interrupted", 2)
    assert not control(project).exists()


@pytest.mark.parametrize("word", ["hold", "slow", "stubborn"])
def test_with_now_the_tool_ends_and_its_iteration_is_not_counted(
    project: Project, start: Start, word: str, capsys: Captured
) -> None:
    project.plan("ok", word)
    driver = project.start("run", "build")
    wait_until(lambda: len(project.calls()) == 2)
    found = answer(capsys, "build", "--now", "--wait", "60")
    assert driver.wait() == 2
    driver.communicate()
    assert found == {
        "procedure": "build", "ended": True, "outcome": "user_stop", "iterations": 1,
        "resumable": True,
    }  # fmt: skip
    assert (project.state()["iteration"], project.state()["spend"]["calls"]) == (1, 2)


def test_with_now_a_gate_that_is_cut_short_fails_nothing(
    project: Project, start: Start, capsys: Captured
) -> None:
    Project(project.folder, "ok", more=HOLDING_GATE)
    driver = start(until="judging")
    assert answer(capsys, "--now", "--wait", "60")["iterations"] == 0
    assert driver.wait() == 2
    state = project.state()
    assert (state["iteration"], state["consecutive_failures"]) == (0, 0)
    assert state["spend"]["calls"] == 1


def test_a_resume_runs_the_iteration_again_that_was_cut_short(
    project: Project, start: Start, capsys: Captured
) -> None:
    driver = start()
    answer(capsys, "--now", "--wait", "60")
    driver.communicate()
    project.plan("ok")
    assert main(["iterate", "resume", "build"]) == 0
    assert [number for _, number in project.calls()] == ["2", "3", "4", "5"]
    assert not project.state_file.exists()


def test_who_waits_is_told_that_the_run_goes_on(
    project: Project, start: Start, capsys: Captured
) -> None:
    driver = start()
    assert main(["iterate", "stop", "build", "--wait", "0.2"]) == 11
    assert "--now ends its tool" in capsys.readouterr().out
    assert answer(capsys, "build", "--wait", "0.2", status=11)["ended"] is False
    project.go()
    driver.communicate()
    assert driver.returncode == 2


def test_a_run_that_ends_by_itself_keeps_its_outcome(
    project: Project, start: Start, capsys: Captured
) -> None:
    driver = start("run", "build", "-n", "2")
    main(["iterate", "stop", "--wait", "0"])
    project.go()
    driver.communicate()
    assert driver.returncode == 0
    assert not control(project).exists()


def asked(project: Project) -> dict[str, Any]:
    """Return what stands in the control file, nothing where it cannot be read."""
    try:
        return dict(json.loads(control(project).read_text()))
    except (OSError, ValueError):
        return {}


@pytest.mark.parametrize("lost", ["removed", "emptied", "torn"])
def test_a_request_that_is_lost_is_made_again(project: Project, start: Start, lost: str) -> None:
    driver = start()
    asking = project.start("stop", "build", "--wait", "60")
    wait_until(lambda: bool(asked(project)))
    if lost == "removed":
        control(project).unlink()
    elif lost == "emptied":
        control(project).write_text("{}")
    else:
        control(project).write_text('{"stop_req')
    wait_until(lambda: bool(asked(project)))
    project.go()
    assert (asking.wait(), driver.wait()) == (0, 2)
    asking.communicate()


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("interrupted", "go on with: pytest-reflex iterate resume build"),
        ("running", "go on with: pytest-reflex iterate resume build"),
        ("completed", "begin with: pytest-reflex iterate run build"),
        (None, "begin with: pytest-reflex iterate run build"),
    ],
)
def test_what_nobody_drives_is_refused_and_stays(
    project: Project, status: str | None, hint: str, capsys: Captured
) -> None:
    if status:
        left_behind(project, status)
    before = {path: path.is_file() and path.read_bytes() for path in project.folder.rglob("*")}
    assert main(["iterate", "stop", "build"]) == 4
    said = capsys.readouterr().err
    assert "build is not running" in said
    assert hint in said
    after = {path: path.is_file() and path.read_bytes() for path in project.folder.rglob("*")}
    assert after == before


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "no procedure is running (begin with: pytest-reflex iterate run PROCEDURE)"),
        (("biuld",), "there is no procedure 'biuld' (did you mean build?)"),
        (("build", "--reason", "\udcff"), "the reason is not UTF-8 text at character 1"),
    ],
    ids=["none", "no such procedure", "no text"],
)
def test_what_cannot_be_stopped_is_said(
    project: Project, argv: tuple[str, ...], said: str, capsys: Captured
) -> None:
    assert main(["iterate", "stop", *argv]) == 4
    assert said in capsys.readouterr().err


def test_without_a_name_two_runs_are_too_many(
    project: Project, start: Start, capsys: Captured
) -> None:
    project.plan("hold")
    first = start()
    (project.folder / "held").unlink()
    start("run", "plan")
    assert main(["iterate", "stop"]) == 4
    said = capsys.readouterr().err
    assert "2 procedures are running: build, plan (name one: iterate stop build)" in said
    assert first.poll() is None


def test_a_killed_driver_leaves_no_request_to_the_next_one(
    project: Project, start: Start, capsys: Captured
) -> None:
    driver = start()
    main(["iterate", "stop", "--wait", "0"])
    driver.kill()
    driver.wait()
    project.plan("ok")
    assert main(["iterate", "resume", "build"]) == 0
    assert not control(project).exists()


def test_who_waits_for_a_driver_that_is_killed_is_told(project: Project, start: Start) -> None:
    driver = start()
    asking = project.start("stop", "build", "--wait", "60")
    wait_until(control(project).exists)
    driver.kill()
    driver.wait()
    assert asking.wait() == 0
    asking.communicate()
    assert not control(project).exists()
