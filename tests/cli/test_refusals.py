"""A refused answer is shown with its first line: by the loop, its history, `critique`, doctor."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.reports.run_lines import refusal

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: alpha, severity: fail, check: {type: content, search: alpha}}
"""
AGENT = r"print('\n  Sure! Here is \x1b[31mthe plan:\n1. say alpha')"
SAID = r"it said: Sure! Here is \x1b[31mthe plan:"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "draft.md").write_text("# Words\n")
    (tmp_path / "agent.py").write_text(f"import sys; sys.stdin.read(); {AGENT}\n")
    robot = f'[agents.robot]\ncommand = ["{sys.executable}", "agent.py"]\n'
    (tmp_path / "pytest-reflex.toml").write_text(f'[loop]\ntemplate = "words.yaml"\n{robot}')
    return tmp_path


def test_a_loop_and_its_history_show_what_the_agent_said(capsys: Captured) -> None:
    words = ["--evaluator", "core", "--agent", "robot", "--yes"]
    assert main(["loop", "new", "x", *words]) == 9
    told = " ".join(capsys.readouterr().err.split())
    assert (
        f"PLAN gave nothing usable: the answer holds no JSON object that keeps the contract; {SAID}"
        in told
    )
    assert main(["loop", "history"]) == 0
    assert SAID in capsys.readouterr().out


def test_a_single_step_shows_what_the_agent_said(capsys: Captured) -> None:
    assert main(["critique", "draft.md", "--agent", "robot"]) == 9
    assert SAID in capsys.readouterr().err


def test_a_probe_shows_what_the_agent_said(capsys: Captured) -> None:
    assert main(["doctor", "--probe", "robot"]) == 4
    assert SAID in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("", "why"),
        (" \n\n", "why"),
        ("why\nnot", "why"),
        ("x" * 500, f"why; it said: {'x' * 119}…"),
    ],
    ids=["empty", "blank", "told already", "long"],
)
def test_what_was_said_is_bounded(answer: str, shown: str) -> None:
    assert refusal("why", answer) == shown
