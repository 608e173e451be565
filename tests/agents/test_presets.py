"""Every preset drives a program that talks as the real tool does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.configure import agent_from_table, preset_names
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.words import Step
from tests.agents.making import request, rule
from tests.agents.played import TOOLS, Played, Tool, install

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


@pytest.mark.parametrize("name", TOOLS)
def test_preset_calls_its_tool_as_documented(bin_folder: Path, name: str) -> None:
    tool = TOOLS[name]
    install(bin_folder, name, next(iter(tool.runs.values())))
    ask(name, tool)
    seen: dict[str, Any] = json.loads((bin_folder / "seen.json").read_text())
    prompt = prompt_for(ASKED)
    places = {"/prompt.md": "FILE", "/answer": "ANSWER"}
    argv = [places.get(re.sub(r".*(/.*)", r"\1", word), word) for word in seen["argv"]]
    assert ["PROMPT" if word == prompt else word for word in argv] == list(tool.argv)
    assert seen["stdin"] == (prompt if tool.prompt == "stdin" else "")
    if tool.prompt == "file":
        assert seen["file"].startswith(prompt)


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
