"""The agent `python`: plugins answer all steps, and what none has answered is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

Captured = pytest.CaptureFixture[str]
PLUGIN = """\
import json
from pytest_reflex.model.steps import Reply


def pytest_reflex_plan(request):
    return Reply(text=json.dumps({"plan": ["read", "write", "look"]}), agent="mine")


def pytest_reflex_produce(request):
    return Reply(text="# Title\\n\\nall of it\\n", agent="mine")
"""
PLAN_ONLY = PLUGIN.partition("def pytest_reflex_produce")[0]
CRITERIA = """\
name: words
version: 1
rules:
  - {id: a.x.all, description: d, severity: fail, check: {type: content, search: all of it}}
"""
NEW = ("loop", "new", "write it", "--criteria", "words.yaml", "--yes", "--agent", "python")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    return tmp_path


def test_hooks_of_a_plugin_alone_make_a_loop(project: Path, capsys: Captured) -> None:
    (project / "hooks_of_mine.py").write_text(PLUGIN)
    (project / "pytest-reflex.toml").write_text('plugins = ["hooks_of_mine"]\n')
    assert main([*NEW]) == 0, capsys.readouterr().err
    assert "all of it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("plugin", "step"),
    [("", "PLAN"), (PLUGIN.partition("\n\ndef pytest_reflex_pro")[0], "PRODUCE")],
)
def test_a_step_that_no_hook_answers_is_named_with_its_hook(
    project: Path, capsys: Captured, plugin: str, step: str
) -> None:
    name = f"hooks_for_{step.lower()}"
    (project / f"{name}.py").write_text(plugin)
    (project / "pytest-reflex.toml").write_text(f'plugins = ["{name}"]\n')
    assert main([*NEW]) == 9
    error = " ".join(capsys.readouterr().err.split())
    assert f"no plugin has answered {step}: name a module with the hook" in error
    assert f"pytest_reflex_{step.lower()}" in error


def test_it_judges_nothing(project: Path, capsys: Captured) -> None:
    (project / "a.md").write_text("all of it\n")
    assert main(["evaluate", "a.md", "--criteria", "words.yaml", "--judge", "python"]) == 4
    assert (
        "agent 'python' cannot be an LLM judge: it answers only the steps of a loop"
        in capsys.readouterr().err
    )
