"""An agent that may change files and one that only answers: its options, and what it was denied."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.cli.main import main
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Question, Reply
from tests.agents.making import evaluation, request, rule


def made(name: str = "w", **table: Any) -> CommandAgent:
    agent = agent_from_table(name, table)
    assert isinstance(agent, CommandAgent)
    return agent


COMMAND = ["t", "{options}", "-"]
OPTIONS: dict[str, tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "none": ({}, ("t", "-"), ("t", "-")),
    "for edits": ({"edit_options": ["-w"]}, ("t", "-"), ("t", "-w", "-")),
    "for answers": ({"answer_options": ["-r", ""]}, ("t", "-r", "", "-"), ("t", "-")),
    "it cannot edit": (
        {"answer_options": ["-r"], "edit_options": False},
        ("t", "-r", "-"),
        ("t", "-r", "-"),
    ),
}


@pytest.mark.parametrize(("table", "answers", "edits"), OPTIONS.values(), ids=OPTIONS)
def test_the_options_of_a_mode_stand_in_their_place(
    table: dict[str, Any], answers: tuple[str, ...], edits: tuple[str, ...]
) -> None:
    agent = made(command=COMMAND, **table)
    assert agent.command_for(may_edit=False) == answers
    assert agent.command_for(may_edit=True) == edits


def test_a_key_of_a_preset_is_overridden_alone() -> None:
    agent = made("claude", edit_options=["--permission-mode", "plan"])
    assert agent.command_for(may_edit=True)[-2:] == ("--permission-mode", "plan")
    assert agent.command_for(may_edit=False) == made("claude").command_for(may_edit=False)


def test_a_command_of_ones_own_without_the_place_is_run_as_it_is() -> None:
    agent = made("claude", command=["mine", "-p"])
    assert agent.command_for(may_edit=True) == agent.command_for(may_edit=False) == ("mine", "-p")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a text": ({"edit_options": "-w"}, "agents.w.edit_options must be a list of texts, not '-w'"),
    "a number": ({"answer_options": [1]}, "agents.w.answer_options must be a list of texts"),
    "true": ({"edit_options": True}, "agents.w.edit_options must be a list of texts, not True"),
    "no place": (
        {"command": ["t"], "edit_options": ["-w"]},
        "agents.w.command needs the item {options}, where edit_options go",
    ),
    "no place for answers": (
        {"command": ["t"], "answer_options": ["-w"]},
        "agents.w.command needs the item {options}, where answer_options go",
    ),
    "a place among others": (
        {"command": ["t", "--x={options}"]},
        "agents.w.command must have {options} as an item of its own",
    ),
    "a place of the prompt": (
        {"edit_options": ["{prompt_file}"]},
        'agents.w.prompt must be "file": the command has {prompt_file}',
    ),
}


@pytest.mark.parametrize(("table", "told"), BAD.values(), ids=BAD)
def test_wrong_options_are_one_clear_line(table: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        made(**{"command": COMMAND, **table})


@pytest.mark.parametrize("name", ["ollama", "llm", "aider"])
def test_a_client_that_cannot_change_files_is_refused_for_iterations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest-reflex.toml").write_text(f"[agents.{name}]\nmodel = 'small'\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    argv = ["iterate", "run", "fix-tests", "--agent", name]
    why = (
        f"agent {name!r} cannot change files: it only answers "
        "(name one that can, such as claude or codex, or set its edit_options)"
    )
    assert main(argv) == 4
    assert why in " ".join(capsys.readouterr().err.split())
    assert main([*argv, "--dry-run"]) == 0
    assert f"Would execute with: nothing: {why}\n" in capsys.readouterr().out


def test_options_make_a_client_of_one_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = "[agents.llm]\ncommand = ['llm', '{options}']\nedit_options = ['-T', 'files']\n"
    (tmp_path / "pytest-reflex.toml").write_text(table)
    assert main(["iterate", "run", "fix-tests", "--agent", "llm", "--dry-run"]) == 0


def talking(folder: Path, stdout: str, stderr: str = "", **table: Any) -> CommandAgent:
    """An agent that prints what it is given, and answers with `result`."""
    script = folder / "tool.py"
    script.write_text(
        f"import sys; sys.stdin.read(); sys.stdout.write({stdout!r}); sys.stderr.write({stderr!r})"
    )
    table = {"answer": "jsonl-last:result", "tries": 1, **table}
    return made("tool", command=[sys.executable, str(script)], **table)


def line(**event: Any) -> str:
    return json.dumps({"result": "I did it", **event}) + "\n"


def ask(agent: CommandAgent, *, may_edit: bool = True) -> tuple[Reply, list[str]]:
    told: list[str] = []
    return agent.ask(Question(prompt="?", may_edit=may_edit, tell=told.append)), told


NAMES = {"jsonl-last:refused.*.name": "/./", "jsonl-last:refused.*.path": "/./"}
LOG = {"stderr": "/ ERROR router: error=(patch rejected: .*)/"}
REFUSED = "2026-01-31T12:00:00Z ERROR router: error=patch rejected: read-only sandbox\n"
DENIED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "one": (NAMES, line(refused=[{"name": "Write", "path": "a.md"}]), "", "Write, a.md"),
    "the same twice": (NAMES, line(refused=[{"name": "Write"}] * 2), "", "Write"),
    "two": (NAMES, line(refused=[{"name": "Write"}, {"name": "Bash"}]), "", "Write, Bash"),
    "a line of the log": (LOG, line(), REFUSED, "patch rejected: read-only sandbox"),
}


@pytest.mark.parametrize(("marks", "out", "err", "what"), DENIED.values(), ids=DENIED)
def test_what_a_tool_was_not_allowed_is_told_with_the_setting_that_decides(
    tmp_path: Path, marks: dict[str, Any], out: str, err: str, what: str
) -> None:
    for may_edit, key in ((True, "edit_options"), (False, "answer_options")):
        reply, told = ask(talking(tmp_path, out, err, denied=marks), may_edit=may_edit)
        assert told == [f"tool was not allowed: {what} (what it may do: {key} in agents.tool)"]
        assert reply.details["denied"] == told[0]
        assert (reply.text, reply.error) == ("I did it", "")


NONE: dict[str, tuple[dict[str, Any], str, str]] = {
    "an empty list": (NAMES, line(refused=[]), ""),
    "words of the answer": (NAMES, line(result="I was not allowed to Write"), ""),
    "words of another log": (LOG, line(), "the prompt says: patch rejected: no\n"),
    "no mark": ({}, line(refused=[{"name": "Write"}]), REFUSED),
}


@pytest.mark.parametrize(("marks", "out", "err"), NONE.values(), ids=NONE)
def test_what_is_no_denial_is_not_told_as_one(
    tmp_path: Path, marks: dict[str, Any], out: str, err: str
) -> None:
    reply, told = ask(talking(tmp_path, out, err, denied=marks))
    assert (told, "denied" in reply.details) == ([], False)


def test_a_secret_in_what_was_denied_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "planted-0123456789")
    out = line(refused=[{"name": "Bash", "path": "curl -H planted-0123456789"}])
    reply, told = ask(talking(tmp_path, out, denied=NAMES, env=["API_KEY"]))
    assert "Bash, curl -H $API_KEY" in told[0]
    assert "planted" not in str(reply)


SCHEMA_PLACES = {"in the command": "{schema}", "in a file": "{schema_file}"}
SHOW = """\
import json, pathlib, sys
sys.stdin.read()
words = sys.argv[1:]
given = words[-1] if words else ""
print(pathlib.Path(given).read_text() if given.startswith("/") else given or "none")
"""


@pytest.mark.parametrize("place", SCHEMA_PLACES.values(), ids=SCHEMA_PLACES)
@pytest.mark.parametrize("contract", ["plan", "critique", "judgement"])
def test_a_client_is_given_the_schema_of_an_answer(
    tmp_path: Path, place: str, contract: str
) -> None:
    (tmp_path / "tool.py").write_text(SHOW)
    command = [sys.executable, str(tmp_path / "tool.py"), "{options}"]
    agent = made("tool", command=command, schema_options=["--schema", place], tries=1)
    found = json.loads(agent.ask(Question(prompt="?", contract=contract)).text)
    assert found["required"] == list(found["properties"])
    assert "$ref" not in str(found)
    assert agent.ask(Question(prompt="?")).text.strip() == "none"


CONTRACTS = {Step.PLAN: "plan", Step.CRITIQUE: "critique", Step.PRODUCE: "", Step.REFINE: ""}


@pytest.mark.parametrize("step", CONTRACTS)
def test_a_step_whose_answer_is_json_has_a_schema(tmp_path: Path, step: Step) -> None:
    (tmp_path / "tool.py").write_text(SHOW)
    command = [sys.executable, str(tmp_path / "tool.py"), "{options}"]
    agent = made("tool", command=command, schema_options=["{schema}"], tries=1)
    evaluated = evaluation({}, rule("a.x.y"))
    text = agent.respond(request(step, rule("a.x.y"), evaluation=evaluated)).text
    assert (CONTRACTS[step] == "") is (text.strip() == "none")
