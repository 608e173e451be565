"""``iterate clean`` removes state, requests, lock and logs of procedures that nobody drives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.state import state_file
from tests.cli.terminal import Terminal
from tests.drivers.iterate.project import Project

pytestmark = pytest.mark.long

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two runs that can be resumed, one of which something was said, and one that is complete."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path, "fail", "fail", "fail", "ok")
    main(["iterate", "run", "build"])
    main(["iterate", "run", "plan", "--budget", "calls=1"])
    main(["iterate", "run", "audit", "-n", "1"])
    main(["iterate", "feedback", "build", "do less"])
    (tmp_path / ".rooda/state/build.json.corrupt-1").write_text("{")
    (tmp_path / ".rooda/state/.build.json.0123456789ab.tmp").write_text("{")
    (tmp_path / ".rooda/log/build/x.iteration-1.partial-1").write_text("half")
    return made


def of(project: Project, name: str) -> list[str]:
    """Return what is kept of a procedure."""
    root = project.folder / ".rooda"
    return sorted(str(one.relative_to(root)) for one in root.rglob(f"*{name}*"))


def test_one_is_removed_and_nothing_else(project: Project, capsys: Captured) -> None:
    (project.folder / ".rooda/state/build.notes").write_text("mine")
    others = of(project, "plan") + of(project, "audit")
    capsys.readouterr()
    assert main(["iterate", "clean", "build", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed: build\n"
    assert of(project, "build") == ["state/build.notes"]
    assert of(project, "plan") + of(project, "audit") == others


@pytest.mark.parametrize("name", ["plan", "audit"])
def test_after_it_a_run_begins_anew(project: Project, name: str) -> None:
    project.plan("ok")
    assert main(["iterate", "clean", name, "--yes"]) == 0
    assert of(project, name) == []
    assert main(["iterate", "run", name, "-n", "2"]) == 0
    assert len(project.calls()) == 2


def test_all_are_removed(project: Project, capsys: Captured) -> None:
    capsys.readouterr()
    assert main(["iterate", "clean", "--all", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "removed": ["audit", "build", "plan"], "left": [],
    }  # fmt: skip
    assert list((project.folder / ".rooda").rglob("*.json*")) == []
    assert main(["iterate", "clean", "--all", "--yes"]) == 0
    assert capsys.readouterr().out == "Nothing was removed.\n"


def test_what_is_lost_is_said_and_needs_a_yes(project: Project, capsys: Captured) -> None:
    before = of(project, "")
    assert main(["iterate", "clean", "--all"]) == 4
    said = capsys.readouterr().err
    assert "build: aborted; it could still be resumed, 1 log" in said
    assert "plan: interrupted; it could still be resumed, 1 log" in said
    assert "audit: 1 log" in said
    assert "add --yes; nothing was removed" in said
    assert of(project, "") == before


@pytest.mark.parametrize(("key", "gone"), [(b"y", True), (b"n", False)])
def test_on_a_terminal_it_asks(project: Project, key: bytes, gone: bool) -> None:
    with Terminal(["iterate", "clean", "plan"], project.folder) as terminal:
        terminal.wait_for("Remove this run? [y/N]")
        terminal.send(key + b"\r")
        assert terminal.end() == (0 if gone else 2)
    assert (of(project, "plan") == []) is gone


def test_one_that_is_driven_is_refused(project: Project, capsys: Captured) -> None:
    root = project.folder / ".rooda"
    with state_file(root, "plan", pytest.fail):
        before = of(project, "plan")
        assert main(["iterate", "clean", "plan", "--yes"]) == 11
        assert "(stop it first: iterate stop plan)" in capsys.readouterr().err
        assert of(project, "plan") == before
        assert main(["iterate", "clean", "--all", "--yes", "--json"]) == 0
        out, err = capsys.readouterr()
    assert json.loads(out) == {"removed": ["audit", "build"], "left": ["plan"]}
    assert "Left alone, because a process is running it: plan" in err
    assert of(project, "plan") == before


def test_one_whose_tool_removed_the_lock_is_refused(project: Project, capsys: Captured) -> None:
    project.plan("vanish")
    driver = project.start("run", "build", "--fresh")
    project.wait_for("hanging")
    (project.folder / ".rooda/log/build").mkdir(parents=True)
    status = main(["iterate", "clean", "build", "--yes"])
    driver.kill()
    driver.communicate()
    assert status == 11


@pytest.mark.parametrize("where", ["log/build", "state/build.json", "log/build/run.jsonl"])
def test_a_link_is_removed_and_not_followed(project: Project, where: str) -> None:
    elsewhere = project.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    path = project.folder / ".rooda" / where
    if path.exists():
        path.rename(project.folder / "moved")
    path.symlink_to(elsewhere)
    assert main(["iterate", "clean", "build", "--yes"]) == 0
    assert (elsewhere / "mine.txt").read_text() == "mine"
    assert of(project, "build") == []


def test_a_damaged_state_is_removed_too(project: Project, capsys: Captured) -> None:
    project.state_file.write_text("{torn")
    assert main(["iterate", "clean", "build"]) == 4
    assert "build: damaged: " in capsys.readouterr().err
    assert main(["iterate", "clean", "build", "--yes"]) == 0
    assert of(project, "build") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name one procedure, or --all"),
        (["build", "--all"], "name one procedure, or --all"),
        (["biuld"], "there is no procedure 'biuld' (did you mean build?)"),
        (["../x"], "there is no procedure '../x'"),
        (["fix-tests"], "nothing is kept of fix-tests in "),
    ],
)
def test_what_cannot_be_removed_is_said(
    project: Project, words: list[str], said: str, capsys: Captured
) -> None:
    before = of(project, "")
    assert main(["iterate", "clean", *words, "--yes"]) == 4
    assert said in capsys.readouterr().err
    assert of(project, "") == before


def test_with_all_a_lock_that_is_a_link_is_named_and_the_rest_goes(
    project: Project, capsys: Captured
) -> None:
    lock = project.folder / ".rooda/state/plan.lock"
    lock.unlink()
    lock.symlink_to(project.folder / "elsewhere")
    assert main(["iterate", "clean", "--all", "--yes"]) == 12
    out, err = capsys.readouterr()
    assert out.splitlines()[-2:] == ["Removed: audit", "Removed: build"]
    assert "plan.lock is a symbolic link" in err
    assert not (project.folder / "elsewhere").exists()
