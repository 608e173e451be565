"""A dry run needs no tool: what is not installed is marked, and everything else is shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_reflex.checks.command import missing_program
from pytest_reflex.cli.main import main
from tests.cli.test_runs import left_loop

Captured = pytest.CaptureFixture[str]
CRITERIA = """\
name: words
rules:
  - {id: a.x.lint, description: d, severity: fail,
     check: {type: executable, command: no-such-linter --strict}}
  - {id: a.x.list, description: d, severity: fail,
     check: {type: executable, command: [no-such-lister, -q]}}
  - {id: a.x.runs, description: d, severity: fail, check: {type: executable, command: exit 1}}
"""
CONFIGURATION = """\
judge = "jury"
[agents.tool]
command = ["no-such-tool", "--print", "{prompt}"]
prompt = "argument"
[agents.jury]
command = ["no-such-jury"]
[iterate]
agent = "tool"
[iterate.gates.argv]
command = ["no-such-gate", "--all"]
[iterate.gates.text]
command = "no-such-linter ."
[iterate.gates.there]
command = "test -e README.md"
[iterate.gates.words]
criteria = "words.yaml"
artifacts = ["*.md"]
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "README.md").write_text("# Words\n")
    (tmp_path / "pytest-reflex.toml").write_text(CONFIGURATION)
    return tmp_path


def told(capsys: Captured, *argv: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main([*argv]) == status, capsys.readouterr().err
    done = capsys.readouterr()
    return done.err if status else done.out


LOOP = ("loop", "new", "say words", "--criteria", "words.yaml", "--agent", "tool")
ITERATE = ("iterate", "run", "build", "-n", "2")


def test_a_loop_is_shown_without_its_agent_its_judge_and_its_linters(capsys: Captured) -> None:
    shown = told(capsys, *LOOP, "--dry-run")
    assert "Command: no-such-tool --print <the prompt> (not installed: no-such-tool)\n" in shown
    assert "a.x.lint: no-such-linter --strict (not installed: no-such-linter)\n" in shown
    assert "a.x.list: no-such-lister -q (not installed: no-such-lister)\n" in shown
    assert "a.x.runs: exit 1\n" in shown
    assert "Next: PLAN" in shown


def test_json_says_what_is_installed(capsys: Captured) -> None:
    found = json.loads(told(capsys, *LOOP, "--dry-run", "--json"))
    assert {step["command"]["installed"] for step in found["steps"]} == {False}
    installed = {one["rule_id"]: one["installed"] for one in found["evaluate"]["commands"]}
    assert installed == {"a.x.lint": False, "a.x.list": False, "a.x.runs": True}


def test_an_iteration_is_shown_without_its_agent_and_the_programs_of_its_gates(
    capsys: Captured,
) -> None:
    lines = told(capsys, *ITERATE, "--dry-run").splitlines()
    marked = [line.removeprefix("[DRY RUN] ") for line in lines if line.startswith("[DRY RUN] ")]
    assert marked[:2] == [
        "Procedure: build",
        "Would execute with: no-such-tool --print <the prompt> (not installed: no-such-tool)",
    ]
    assert marked[3].startswith("Tokens by part: Preamble ")
    assert marked[4:8] == [
        "Gate argv: no-such-gate --all (not installed: no-such-gate)",
        "Gate text: no-such-linter . (not installed: no-such-linter)",
        "Gate there: test -e README.md",
        "Gate words: criteria words.yaml over *.md",
    ]
    assert any("OBSERVE" in line.upper() for line in lines)


@pytest.mark.parametrize("agent", [("--agent", "claude"), ("--ai-cmd", "no-such-cli -p")])
def test_a_preset_and_a_command_of_the_line_need_not_be_there(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, agent: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    shown = told(capsys, *ITERATE, *agent, "--dry-run")
    assert "(not installed: " in shown.splitlines()[1]


@pytest.mark.parametrize("verb", [LOOP, ITERATE])
def test_a_run_in_earnest_still_needs_its_tool(
    project: Path, capsys: Captured, verb: tuple[str, ...]
) -> None:
    error = told(capsys, *verb, *(["--yes"] if verb == LOOP else []), status=4)
    assert "there is no program 'no-such-" in error
    assert not (project / ".ai-factory").exists()
    assert not (project / ".rooda" / "log").exists()


def test_a_resume_is_shown_without_its_tool(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pytest-reflex.toml").write_text("")
    assert main([*ITERATE, "--ai-cmd", "sh -c 'exit 3'", "--failure-threshold", "1"]) == 16
    monkeypatch.setenv("PATH", "/nonexistent")
    shown = told(capsys, "iterate", "resume", "build", "--ai-cmd", "gone -p", "--dry-run")
    assert "Would execute with: gone -p (not installed: gone)" in shown


def test_a_resume_of_a_loop_is_shown_without_its_tool(project: Path, capsys: Captured) -> None:
    left_loop(project, "one")
    shown = told(capsys, "loop", "resume", "one", "--agent", "tool", "--dry-run")
    assert "(not installed: no-such-tool)" in shown


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("no-such-tool -x", "no-such-tool"),
        ("  no-such-tool", "no-such-tool"),
        (["no-such-tool", "-x"], "no-such-tool"),
        ("true", ""),
        ("cd docs && no-such-tool", ""),
        ("X=1 no-such-tool", ""),
        ("./made-later.sh", ""),
        (["./made-later"], ""),
        ("$TOOL -x", ""),
        ("(no-such-tool)", ""),
        ("for f in *; do echo $f; done", ""),
        ("", ""),
        ([], ""),
        ("[ -e a ]", ""),
        ("sh -c 'exit 1'", ""),
    ],
)
def test_only_a_plain_program_counts_as_missing(command: str | list[str], missing: str) -> None:
    assert missing_program(command) == missing
