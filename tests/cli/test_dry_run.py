"""``loop new --dry-run`` and ``loop resume --dry-run``: everything is shown, nothing is done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.run_status import read_run
from tests.faults.__main__ import measure
from tests.faults.dryrun import interrupted, tree
from tests.faults.project import Project

pytestmark = pytest.mark.long

CRITERIA = """\
name: words
rules:
  - {id: a.x.runs, description: runs, severity: fail, check: {type: executable, command: exit 1}}
  - {id: a.x.prose, description: is good, severity: warn, check: It reads well}
"""
NEW = ["loop", "new", "say words", "--criteria", "words.yaml", "--dry-run"]
PLUGIN = """\
def pytest_reflex_critique(request):
    raise RuntimeError("called")
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "plays_here.py").write_text(PLUGIN)
    (tmp_path / "pytest-reflex.toml").write_text(
        'plugins = ["plays_here"]\n[agents.tool]\nenv = ["MY_KEY"]\n'
        'command = ["cat", "$MY_KEY", "{prompt_file}", "-o", "{answer_file}", "{model}"]\n'
        'prompt = "file"\nanswer = "file"\nmodel = "big"\ntimeout = 7\n'
    )
    return tmp_path


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def show(*argv: str) -> Any:
        capsys.readouterr()
        assert main([*argv, "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return show


def test_nothing_is_left_behind(project: Path) -> None:
    before = tree(project)
    argv = [sys.executable, "-m", "pytest_reflex", *NEW]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(argv, cwd=project, env=environment, capture_output=True, timeout=60)
    assert (done.returncode, tree(project)) == (0, before)


def test_it_shows_what_a_person_decides_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NEW, "--agent", "refine=tool"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Dry run: nothing is written, and no agent and no check is run\n")
    assert "Max iterations: 4" in told
    assert "Next: PLAN" in told
    assert "── PLAN | agent offline | exact ──\nCommand: none\nTokens: " in told
    assert "\nPrompt:\nYou are executing phase PLAN" in told
    assert "── PRODUCE | agent offline | not known yet: the plan ──" in told
    assert "of them commands: 1 ──\nFolder: " in told
    assert "a.x.runs: exit 1" in told


def test_it_shows_the_tokens_of_each_part(
    shown: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    steps = shown(*NEW, "--agent", "refine=tool")["steps"]
    for step in steps:
        total, parts = step["tokens"]["total"], step["tokens"]["parts"]
        assert total == -(-len(step["prompt"]) // 4)
        assert sum(part["tokens"] for part in parts) == pytest.approx(total, abs=len(parts))
        assert [parts[0]["part"], parts[1]["part"]] == ["Preamble", "Your step"]
    titles = {step["step"]: [part["part"] for part in step["tokens"]["parts"]] for step in steps}
    assert "Active rules (level A)" in titles["PLAN"]
    assert "Rules that need checks (level A)" in titles["PREPARE"]
    assert titles["REFINE"][-2:] == ["Issues to fix", "Required output"]
    assert main(NEW) == 0
    told = capsys.readouterr().out
    assert re.search(r"^Tokens: \d+ \(Preamble \d+, Your step \d+, ", told, re.MULTILINE)


def test_it_shows_the_tokens_of_what_a_judge_is_asked(
    project: Path, shown: Callable[..., Any]
) -> None:
    judged = "{type: judged, rubric: It is kind}"
    (project / "words.yaml").write_text(CRITERIA.replace("It reads well", judged))
    (asking,) = shown(*NEW, "--judge", "tool")["evaluate"]["judged"]
    parts = asking["tokens"]["parts"]
    assert [one["part"] for one in parts] == ["Preamble", "Rule", "<the artifact>", "Your answer"]
    assert asking["tokens"]["total"] == -(-len(asking["prompt"]) // 4)


def test_it_shows_the_tokens_of_an_iteration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-value")
    assert main(["iterate", "run", "fix-tests", "--agent", "tool", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "[DRY RUN] Tokens by part: Preamble " in told
    assert all(f", {phase} " in told for phase in ("OBSERVE", "ORIENT", "DECIDE", "ACT"))


def test_the_commands_of_every_kind_of_check_are_shown(
    project: Path, shown: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "words.yaml").write_text(
        "name: words\nvars: {lint: 'mdl -s'}\nrules:\n"
        "  - {id: a.x.lint, description: d, severity: fail, check: {type: findings,\n"
        "     command: {var: lint}, format: jsonl, fields: {message: m}}}\n"
        "  - {id: a.x.bugs, description: d, severity: fail, check: {type: code, aspect: bugs}}\n"
        "  - {id: a.x.text, description: d, severity: fail, check: {type: content, search: a}}\n"
    )
    lint, bugs = shown(*NEW)["evaluate"]["commands"]
    assert (lint["rule_id"], lint["command"], lint["argv"][1:]) == (
        "a.x.lint",
        "mdl -s",
        ["-c", "mdl -s"],
    )
    assert bugs["command"][1:4] == ["-P", "-m", "ruff"]
    assert main(NEW) == 0
    told = capsys.readouterr().out
    assert "rules: 3, checks: 3, of them commands: 2 ──" in told
    assert "a.x.lint: mdl -s (not installed: mdl)\n" in told


def test_a_command_is_shown_without_any_value(
    shown: Callable[..., Any], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-value")
    found = shown(*NEW, "--agent", "tool")
    command = found["steps"][0]["command"]
    assert command["argv"] == [
        *("cat", "$MY_KEY", "<a file with the prompt>", "-o", "<a file for the answer>", "big"),
    ]
    assert {"MY_KEY", "PATH", "PYTEST_REFLEX_STEP"} <= set(command["environment"])
    assert (command["cwd"], command["timeout"]) == (str(project), 7.0)
    assert "secret-value" not in json.dumps(found)


def test_who_answers_before_the_agent_is_named(shown: Callable[..., Any]) -> None:
    steps = {step["step"]: step for step in shown(*NEW)["steps"]}
    assert list(steps) == ["PLAN", "PRODUCE", "PREPARE", "CRITIQUE", "REFINE"]
    assert steps["CRITIQUE"]["asked_first"] == ["plays_here"]
    assert steps["REFINE"]["asked_first"] == []


def test_what_is_wrong_is_refused_as_in_earnest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NEW, "--agent", "toll"]) == 4
    assert "did you mean tool?" in capsys.readouterr().err


class Talk(Project):
    """A project whose agent keeps each prompt that it was given."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        script = (folder / "agent.sh").read_text()
        keep = 'prompt=$(cat); n=$(ls prompts | wc -l); printf "%s\\n" "$prompt" > prompts/$n'
        (folder / "agent.sh").write_text(script.replace("prompt=$(cat)", keep))
        (folder / "prompts").mkdir()
        settings = folder / "pytest-reflex.toml"
        settings.write_text(
            settings.read_text().replace('["calls.log"', '["prompts/*", "calls.log"')
        )

    def prompts(self) -> list[str]:
        paths = sorted((self.folder / "prompts").iterdir(), key=lambda path: int(path.name))
        return [path.read_text() for path in paths]


def test_the_prompt_that_is_due_is_the_one_that_is_sent(
    shown: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(tmp_path / "talk")
    monkeypatch.chdir(talk.folder)
    first = shown(*talk.new(), "--dry-run")
    assert main(talk.new()) == 0
    sent, run = talk.prompts(), read_run(talk.run).state
    assert first["steps"][0]["prompt"].replace("run-<yyyymmdd-hhmmss>", run.run_id) == sent[0]
    asked = 0
    for number in range(1, run.last_seq):
        folder = tmp_path / f"after-{number}"
        interrupted(talk, folder, number)
        monkeypatch.chdir(folder)
        later = shown("loop", "resume", "run", "--dry-run")
        if later["steps"] and later["next"] in ("PLAN", "CRITIQUE", "REFINE", "PRODUCE"):
            asked += 1
            due = later["steps"][0]
            here = due["prompt"].replace(str(folder), str(talk.folder))
            assert (due["exact"], here in sent) == (True, True), (number, later["next"])
    assert asked > 5


def test_a_resume_that_would_be_refused_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path / "ended")
    monkeypatch.chdir(project.folder)
    assert main(project.new()) == 0
    before = tree(project.folder)
    assert main(["loop", "resume", "run", "--dry-run"]) == 4
    assert "loop 'run' has ended (threshold_reached, not verified)" in capsys.readouterr().err
    assert tree(project.folder) == before


def test_an_artifact_changed_by_hand_is_evaluated_next(
    shown: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path / "whole")
    monkeypatch.chdir(project.folder)
    assert main(project.new()) == 0
    interrupted(project, tmp_path / "changed", 6)
    monkeypatch.chdir(tmp_path / "changed")
    (tmp_path / "changed/.ai-factory/evolution/run/artifact.md").write_text("by hand\n")
    found = shown("loop", "resume", "run", "--dry-run")
    assert found["next"] == "EVALUATE"
    critique = next(step for step in found["steps"] if step["step"] == "CRITIQUE")
    assert "by hand\n" in critique["prompt"]


def test_dry_runs_leave_nothing_behind_in_the_sample() -> None:
    figure = measure("dry-run", full=False)
    assert figure.failures == ()
    assert figure.holds
