"""T19: tools that fail for ever, alternate, claim, repeat, flood or hang meet an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.project import Project, told

pytestmark = pytest.mark.variants

FAILING = "[iterate.gates.tests]\ncommand = 'exit 1'\n"


@pytest.mark.parametrize(
    ("words", "flags", "status", "rounds"),
    [
        pytest.param(["fail"], ["--unlimited"], 16, 3, id="fails always"),
        pytest.param(["killed"], ["--unlimited"], 16, 3, id="is killed"),
        pytest.param(["empty"], ["--unlimited"], 16, 3, id="says nothing"),
        pytest.param(["no"], ["--unlimited"], 14, 1, id="gives up"),
        pytest.param(["limit"], ["--unlimited"], 9, 1, id="exit 0 with a limit notice"),
        pytest.param(["slow"], ["--timeout", "1", "--failure-threshold", "1"], 16, 1, id="slow"),
        pytest.param(["ok", "fail"] * 6, ["--unlimited"], 7, 10, id="alternates"),
        pytest.param(["ok"], ["--unlimited"], 7, 10, id="does nothing"),
        pytest.param(["yes"], ["--unlimited"], 0, 1, id="claims success"),
        pytest.param(["echo"], ["-n", "2"], 0, 2, id="repeats its prompt"),
        pytest.param(["flood"], ["-n", "2"], 0, 2, id="floods"),
        pytest.param(["change"], ["-n", "12"], 0, 12, id="is at work"),
    ],
)
def test_a_tool_without_an_end_meets_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    flags: list[str],
    status: int,
    rounds: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, *words, more="[iterate.procedures.build]\nsuccess = true\n")
    # What the script leaves for the tests is not work.
    (tmp_path / ".gitignore").write_text("prompt\ncalls.log\n.rooda\n")
    main_git(tmp_path)
    assert main(["iterate", "run", "build", *flags]) == status
    assert len(project.calls()) == rounds


def main_git(folder: Path) -> None:
    from tests.process.zoo import shell

    assert shell("git init -q .", cwd=str(folder)).returncode == 0


def test_a_claimed_success_behind_a_failing_gate_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path, "yes", more=FAILING + "[iterate.procedures.build]\nsuccess = true\n")
    assert main(["iterate", "run", "build"]) == 16
    assert "ERROR: Aborting after 3 consecutive failures" in told(capsys.readouterr().err)[-1]


def test_a_tool_that_is_not_there_is_refused_before_the_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["iterate", "run", "build", "--ai-cmd", "no-such-tool --flag"]) == 4
    err = capsys.readouterr().err
    assert "--ai-cmd: there is no program 'no-such-tool' (install it, or name an AI tool" in err
    assert "offline" not in err
    assert not (tmp_path / ".rooda").exists()


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--agent", "script", "--ai-cmd", "cat"], "--agent and --ai-cmd cannot be combined"),
        (["--unlimited", "-n", "3"], "--unlimited and --max-iterations cannot be combined"),
        (["--timeout", "soon"], "--timeout 'soon'"),
        (["--agent", "offline"], "--ai-cmd COMMAND"),
        (["--ai-cmd", "sh -c 'x"], "--ai-cmd has unbalanced quotes"),
        (["--ai-cmd", ""], "--ai-cmd is empty"),
        (["--observe", "no-such-file"], "no-such-file"),
        (["--context", "no/such/file"], "there is no such file"),
        (["--log-format", "xml"], "--log-format 'xml'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_refused_before_the_first_round(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: list[str],
    word: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "ok")
    assert main(["iterate", "run", "build", *flags]) == 4
    assert word in capsys.readouterr().err
    assert not project.calls()
    assert not (tmp_path / ".rooda").exists()


def test_a_gate_that_cannot_be_used_is_refused_before_the_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    more = '[iterate.gates.readme]\ncriteria = "no-such.yaml"\nartifacts = ["README.md"]\n'
    project = Project(tmp_path, "ok", more=more)
    assert main(["iterate", "run", "build"]) == 4
    assert "no-such.yaml" in capsys.readouterr().err
    assert not project.calls()


def test_a_command_with_an_unset_variable_is_refused_before_the_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path, "ok")
    assert main(["iterate", "run", "build", "--ai-cmd", "sh -c 'kill -INT $NOT_SET_AT_ALL'"]) == 4
    err = capsys.readouterr().err
    assert "--ai-cmd: its command names $NOT_SET_AT_ALL, which is not set" in err
    assert "$$NOT_SET_AT_ALL stands for the text $NOT_SET_AT_ALL" in err
    assert not (tmp_path / ".rooda").exists()


@pytest.mark.parametrize(
    ("flags", "more", "whose"),
    [
        (["--timeout", "1"], "", "--timeout"),
        (["--ai-cmd", "sh agent.sh"], "timeout = 1\n", "iterate.timeout"),
    ],
    ids=["flag", "table"],
)
def test_a_time_out_says_who_set_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: list[str],
    more: str,
    whose: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path, "slow")
    config = tmp_path / "pytest-reflex.toml"
    config.write_text(config.read_text().replace("[iterate]\n", f"[iterate]\n{more}"))
    assert main(["iterate", "run", "build", "--failure-threshold", "1", *flags]) == 16
    assert f"no answer within 1 s ({whose})" in capsys.readouterr().err


@pytest.mark.parametrize("volume", [[], ["--log-format", "json"]], ids=["text", "json"])
def test_b099_a_tool_that_leaves_children_works_and_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    volume: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path, "leave", more="[iterate.gates.it]\ncommand = 'setsid sleep 69 & exit 0'\n")
    assert main(["iterate", "run", "build", "-n", "1", *volume]) == 0
    err = capsys.readouterr().err
    assert "AI CLI left children: processes that it started were still running" in err
    assert "exit status 0; left children: processes" in err
