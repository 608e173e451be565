"""A client that was not allowed what it tried in a step of a loop, and in single commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

pytestmark = pytest.mark.variants

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
CONFIG = """\
agent = "tool"
[agents.tool]
command = [{python!r}, "../tool.py"]
answer = "json:result"
denied = {{"json:permission_denials.*.tool_name" = "/./"}}
[loop]
produce = "first"
"""
TOOL = """\
import json, os, sys
sys.stdin.read()
step = os.environ["PYTEST_REFLEX_STEP"]
with open({log!r}, "a") as log:
    log.write(step + "\\n")
answers = {answers!r}
text, denied = answers[step]
print(json.dumps({{"result": text, "permission_denials": [{{"tool_name": n}} for n in denied]}}))
"""
PLAN = json.dumps({"plan": ["a", "b", "c"]})
REFUSAL = "I need permission to use Write."
ISSUE = {"rule_id": "a.x.alpha", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
GOOD: dict[str, tuple[str, list[str]]] = {
    "PLAN": (PLAN, []),
    "PRODUCE": ("beta\n", []),
    "CRITIQUE": (json.dumps({"issues": [ISSUE]}), []),
    "REFINE": ("alpha\n", []),
}
WHAT = "tool was not allowed: Write (what it may do: answer_options in agents.tool)"
NEW = ("loop", "new", "say", "--criteria", "words.yaml", "--evaluator", "core", "--yes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    (project / "words.yaml").write_text(CRITERIA)
    (project / "pytest-reflex.toml").write_text(CONFIG.format(python=sys.executable))
    return project


def answer(folder: Path, **answers: tuple[str, list[str]]) -> None:
    log = str(folder.parent / "steps")
    (folder.parent / "tool.py").write_text(TOOL.format(log=log, answers={**GOOD, **answers}))


def asked(folder: Path) -> list[str]:
    return (folder.parent / "steps").read_text().split()


@pytest.mark.long
@pytest.mark.parametrize("step", ["PLAN", "PRODUCE", "CRITIQUE", "REFINE"])
def test_a_denied_answer_that_cannot_be_used_is_not_asked_for_again(
    folder: Path, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    answer(folder, **{step: (REFUSAL, ["Write", "Write"])})
    assert main([*NEW, "--alias", "say-it"]) == 9
    told = " ".join(capsys.readouterr().err.split())
    assert asked(folder).count(step) == 1
    assert WHAT in told
    assert "(allow it, then go on: pytest-reflex loop resume say-it)" in told
    answer(folder)
    assert main(["loop", "resume", "say-it"]) == 0


@pytest.mark.parametrize("step", ["PLAN", "PRODUCE", "CRITIQUE", "REFINE"])
def test_a_good_answer_is_used_whatever_was_denied_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    answer(folder, **{step: (GOOD[step][0], ["Write"])})
    assert main([*NEW, "--alias", "say-it"]) == 0
    assert WHAT in " ".join(capsys.readouterr().err.split())


def test_a_single_command_asks_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "draft.md").write_text("beta\n")
    answer(folder, CRITIQUE=(REFUSAL, ["Write"]))
    assert main(["critique", "draft.md", "--criteria", "words.yaml"]) == 9
    assert asked(folder) == ["CRITIQUE"]
    assert "nothing was written" in capsys.readouterr().err
