"""Every preset drives a program that talks as the real tool does."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.configure import agent_from_table, preset_names
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.cli.main import main
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Files, Reply, StepRequest
from tests.agents.making import request, rule
from tests.agents.played import PLAN, TOOLS, Played, Tool, install

RUNS = [(name, run) for name, tool in TOOLS.items() for run in tool.runs]
ASKED = request(Step.PLAN, rule("a.x.y"), task="Say $HOME `x` {model} é")


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on the path."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def ask(name: str, tool: Tool, asked: StepRequest = ASKED) -> Reply:
    return agent_from_table(name, {**tool.table, "tries": 1}).respond(asked)


def test_every_preset_is_played() -> None:
    assert set(TOOLS) == set(preset_names())


@pytest.mark.parametrize(("name", "run"), RUNS, ids=[f"{n}: {r}" for n, r in RUNS])
def test_preset_reads_what_its_tool_writes(bin_folder: Path, name: str, run: str) -> None:
    played: Played = TOOLS[name].runs[run]
    install(bin_folder, name, played)
    reply = ask(name, TOOLS[name])
    assert reply.error[: len(played.error)] == played.error
    assert bool(reply.error) == bool(played.error)
    assert reply.text == played.text or played.error
    assert (reply.usd, reply.tokens) == (played.usd, played.tokens)
    assert reply.details.get("limited", False) is played.limited
    assert reply.details.get("retry_after") == played.retry_after


FILES = Files(patterns=("*.py",), texts={"a.py": "x = 1"})
MODES = {
    "answers": {name: (ASKED, tool.argv) for name, tool in TOOLS.items()},
    "may change files": {
        name: (
            replace(ASKED, step=Step.REFINE, files=FILES),
            tool.argv if tool.edits is None else tool.edits,
        )
        for name, tool in TOOLS.items()
    },
}


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("mode", MODES)
def test_preset_calls_its_tool_as_documented(bin_folder: Path, mode: str, name: str) -> None:
    (asked, wanted), tool = MODES[mode][name], TOOLS[name]
    install(bin_folder, name, next(iter(tool.runs.values())))
    ask(name, tool, asked)
    seen: dict[str, Any] = json.loads((bin_folder / "seen.json").read_text())
    prompt = prompt_for(asked)
    places = {"/prompt.md": "FILE", "/answer": "ANSWER", "/schema.json": "SCHEMA"}
    argv = [places.get(re.sub(r".*(/.*)", r"\1", word), word) for word in seen["argv"]]
    assert ["PROMPT" if word == prompt else word for word in argv] == list(wanted)
    assert seen["stdin"] == (prompt if tool.prompt == "stdin" else "")
    if tool.prompt == "file":
        assert seen["file"].startswith(prompt)


def test_a_preset_says_whether_its_tool_can_change_files() -> None:
    agents = (agent_from_table(name, tool.table) for name, tool in TOOLS.items())
    cannot = {name for name, tool in TOOLS.items() if tool.edits is None}
    assert {agent.name for agent in agents if not agent.can_edit} == cannot


def test_note_of_a_preset_stands_behind_the_prompt(bin_folder: Path) -> None:
    install(bin_folder, "aider", next(iter(TOOLS["aider"].runs.values())))
    ask("aider", TOOLS["aider"])
    seen = json.loads((bin_folder / "seen.json").read_text())
    file = seen["argv"][-1]
    assert seen["file"].endswith(
        f"\nWrite what is asked for, and nothing else, into the file {file}.\n"
    )


def test_b097_a_prompt_is_an_argument_only_where_a_tool_takes_nothing_else() -> None:
    agents = [agent_from_table(name, tool.table) for name, tool in TOOLS.items()]
    assert [agent.name for agent in agents if agent.prompt == "argument"] == ["cursor-agent"]


CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
ISSUE = {"rule_id": "a.x.alpha", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
STEPS = {
    "PLAN": PLAN,
    "PRODUCE": "beta",
    "CRITIQUE": json.dumps({"issues": [ISSUE]}),
    "REFINE": "alpha",
}
TALKS = {
    "claude": "print(json.dumps({'result': a, 'total_cost_usd': 0.5, 'is_error': False,"
    " 'usage': {'input_tokens': 3, 'cache_creation_input_tokens': 3,"
    " 'cache_read_input_tokens': 4, 'output_tokens': 5}}))",
    "codex": "open(sys.argv[sys.argv.index('-o') + 1], 'w').write(a)\n"
    "print(json.dumps({'usage': {'input_tokens': 9, 'output_tokens': 6}}))",
    "opencode": "print(json.dumps({'type': 'text', 'part': {'text': a}}))\n"
    "print(json.dumps({'part': {'cost': 0.5, 'tokens': {'input': 2, 'output': 6,"
    " 'reasoning': 0, 'cache': {'read': 5, 'write': 2}}}}))",
}
PRICE = {"claude": 0.5, "codex": None, "opencode": 0.5}


@pytest.mark.long
@pytest.mark.parametrize("name", TALKS)
def test_a_loop_runs_with_a_preset_from_plan_to_pass(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(bin_folder)
    (bin_folder / "words.yaml").write_text(CRITERIA)
    say = f"import json, os, sys; sys.stdin.read(); a = {STEPS!r}[os.environ['PYTEST_REFLEX_STEP']]"
    (bin_folder / name).write_text(f"#!{sys.executable}\n{say}\n{TALKS[name]}\n")
    (bin_folder / name).chmod(0o755)
    (bin_folder / "pytest-reflex.toml").write_text("[loop]\nproduce = 'first'\n")
    new = ["loop", "new", "say", "--criteria", "words.yaml", "--evaluator", "core", "--yes"]
    assert main([*new, "--agent", name, "--alias", "say-it"]) == 0
    run = json.loads((bin_folder / ".ai-factory/evolution/say-it/run.json").read_text())
    spent = run["spend"]
    price = PRICE[name]
    assert spent["usd"] == (None if price is None else spent["calls"] * price)
    assert spent["tokens"] == spent["calls"] * 15
