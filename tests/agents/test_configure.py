"""Tables of the configuration, good and bad, and the presets."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from pytest_reflex.agents.answers import Output, number
from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.configure import agent_from_table, preset_names
from pytest_reflex.agents.presets import preset
from pytest_reflex.errors import UsageError

ALL = (
    "claude", "codex", "gemini", "cursor-agent", "copilot", "kiro-cli", "aider", "llm", "ollama",
    "opencode", "qwen", "droid",
)  # fmt: skip


def made(name: str = "w", **table: Any) -> CommandAgent:
    agent = agent_from_table(name, table)
    assert isinstance(agent, CommandAgent)
    return agent


def test_table_of_the_manual_is_read() -> None:
    agent = made(
        command=["my-tool", "--flag"],
        prompt="stdin",
        answer="stdout",
        cost="json:total_cost_usd",
        tokens=["json:usage.input_tokens", "json:usage.output_tokens"],
        timeout=600,
        env=["MY_API_KEY"],
    )
    assert agent.command == ("my-tool", "--flag")
    assert [place.spelt for place in agent.tokens] == [
        "json:usage.input_tokens",
        "json:usage.output_tokens",
    ]
    assert (agent.timeout, agent.env, agent.success) == (600.0, ("MY_API_KEY",), (0,))


def test_command_as_text_is_split_by_shell_quoting() -> None:
    assert made(command="my-tool --title 'a b' \"c\"").command == ("my-tool", "--title", "a b", "c")


def test_group_of_the_command_needs_a_model() -> None:
    command = ["t", ["--model", "{model}"], "-p"]
    assert made(command=command).command == ("t", "-p")
    assert made(command=command, model="big").command == ("t", "--model", "{model}", "-p")


def test_every_known_tool_has_a_preset() -> None:
    assert set(preset_names()) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_preset_is_an_agent(name: str) -> None:
    agent = made(name, model="m")
    assert agent.name == name
    assert agent.command[0] == name
    assert not any(word in agent.command for word in ("--yolo", "--dangerously-skip-permissions"))


def test_preset_is_a_start_that_keys_override() -> None:
    agent = made("judge", preset="claude", model="opus", timeout=5)
    assert agent.command[:2] == ("claude", "-p")
    assert (agent.name, agent.model, agent.timeout) == ("judge", "opus", 5.0)
    assert made("claude", timeout=7).command == made("claude").command


def test_preset_may_be_another_table_of_the_configuration() -> None:
    tables = {"house": {"preset": "claude", "model": "opus"}, "judge": {"preset": "house"}}
    agent = agent_from_table("judge", {"preset": "house", "timeout": 5}, tables)
    assert agent.command[:2] == ("claude", "-p")
    assert (agent.model, agent.timeout) == ("opus", 5.0)


def test_preset_of_its_own_name_is_the_one_that_is_shipped() -> None:
    tables = {"claude": {"preset": "claude", "model": "opus"}}
    assert agent_from_table("claude", tables["claude"], tables).command[0] == "claude"


def test_presets_that_lead_back_are_refused() -> None:
    tables = {"a": {"preset": "b"}, "b": {"preset": "a"}}
    with pytest.raises(UsageError, match=r"agents.b.preset leads back to 'a'"):
        agent_from_table("a", tables["a"], tables)


OVER: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "command": ({"command": ["mine", "-p"]}, "mine", "jsonl-last", "ANTHROPIC_API_KEY"),
    "env": ({"env": ["MY_KEY"]}, "claude", "jsonl-last", "ANTHROPIC_API_KEY"),
    "answer": ({"answer": "stdout"}, "claude", "stdout", "ANTHROPIC_API_KEY"),
}


@pytest.mark.parametrize(("table", "program", "kind", "variable"), OVER.values(), ids=OVER)
def test_a_table_under_the_name_of_a_preset_is_laid_over_it(
    table: dict[str, Any], program: str, kind: str, variable: str
) -> None:
    agent = made("claude", **table)
    assert (agent.command[0], agent.answer.kind) == (program, kind)
    assert variable in agent.env
    assert set(table.get("env", ())) <= set(agent.env)


@pytest.mark.parametrize("names", ["MY_KEY", ["MY_KEY"], ["MY_KEY", "OTHER"]])
def test_env_adds_to_that_of_what_a_table_starts_from(names: Any) -> None:
    tables = {"house": {"command": ["t"], "env": "HOUSE_KEY"}}
    agent = agent_from_table("w", {"preset": "house", "env": names}, tables)
    assert agent.env == ("HOUSE_KEY", *([names] if isinstance(names, str) else names))


def test_another_tool_under_the_name_of_a_preset_is_written_so() -> None:
    agent = made("claude", preset="none", command=["mine"])
    assert (agent.command, agent.answer.kind, agent.env) == (("mine",), "stdout", ())


def test_a_command_that_does_not_fit_its_preset_is_told_how_to_leave_it() -> None:
    with pytest.raises(UsageError, match=re.escape("needs {answer_file}")) as raised:
        made("codex", command=["mine"])
    assert 'preset = "none" starts without it' in raised.value.problems[0].hint


@pytest.mark.parametrize(
    "spelt", ["CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_MODEL", "CLAUDE_CODE_MAX_RETRIES", "AWS_REGION"]
)
def test_claude_gets_what_leads_it_to_a_model(spelt: str) -> None:
    assert spelt in made("claude").env


TOKENS = [["json:a", "json:b"], "json:c"]
FIRST: dict[str, tuple[str, int | None]] = {
    "the first": ('{"a": 1, "b": 20, "c": 300}', 301),
    "the second": ('{"b": 20, "c": 300}', 320),
    "a first that is not a number": ('{"a": null, "b": 20, "c": 300}', 320),
    "neither": ('{"c": 300}', None),
}


@pytest.mark.parametrize(("output", "tokens"), FIRST.values(), ids=FIRST)
def test_of_an_inner_list_the_first_place_that_is_there_counts(
    output: str, tokens: int | None
) -> None:
    agent = made(command=["t"], tokens=TOKENS)
    assert number(agent.tokens, Output(output)) == tokens


def test_preset_is_a_copy() -> None:
    preset("claude")["command"] = []
    assert preset("claude")["command"] != []


C = ["t"]
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no command": ({}, "agents.w needs a command (or preset = one of claude, codex"),
    "unknown key": (
        {"comand": C},
        "agents.w.comand is not a key of an agent (did you mean command?)",
    ),
    "kind": ({"kind": "pyhton"}, "agents.w.kind must be command, or one that a plugin registers"),
    "preset": ({"preset": "cluade"}, "there is no preset 'cluade' (did you mean claude?)"),
    "preset type": ({"preset": 1}, "agents.w.preset must be text, not 1"),
    "command type": ({"command": 1}, "agents.w.command must be text or a list of texts, not 1"),
    "command item": ({"command": ["a", 1]}, "agents.w.command must be text or a list of texts"),
    "command group": ({"command": [["a", []]], "model": "m"}, "agents.w.command must be text"),
    "empty command": ({"command": []}, "agents.w.command is empty"),
    "empty program": ({"command": ""}, "agents.w.command is empty"),
    "nul": ({"command": ["a\0"]}, "agents.w.command must be text or a list of texts"),
    "quotes": ({"command": "t 'a"}, "agents.w.command has unbalanced quotes: No closing"),
    "prompt": (
        {"command": C, "prompt": "pipe"},
        "agents.w.prompt must be stdin, argument or file, not 'pipe'",
    ),
    "answer": (
        {"command": C, "answer": "xml:a"},
        "agents.w.answer must be stdout or json:PATH or jsonl-last:PATH or file, not 'xml:a'",
    ),
    "answer without path": ({"command": C, "answer": "json:"}, "agents.w.answer has no path"),
    "answer without colon": ({"command": C, "answer": "json"}, "agents.w.answer must be stdout"),
    "answer path": (
        {"command": C, "answer": "json:a..b"},
        "agents.w.answer has a bad path: column 3 of 'a..b'",
    ),
    "cost": (
        {"command": C, "cost": "stdout"},
        "agents.w.cost must be json:PATH or jsonl-last:PATH or jsonl-all:PATH or stderr-json:PATH",
    ),
    "tokens": ({"command": C, "tokens": [7]}, "agents.w.tokens must be text, not 7"),
    "limit": ({"command": C, "limit": ["json:a"]}, "agents.w.limit must be a table of places with"),
    "limit place": ({"command": C, "limit": {"stdout": 1}}, "agents.w.limit must be json:PATH or"),
    "limit value": (
        {"command": C, "limit": {"json:a": [True]}},
        "agents.w.limit must have numbers or texts as values, not True",
    ),
    "limit pattern": (
        {"command": C, "limit": {"json:a": "/(/"}},
        "agents.w.limit has a pattern that is none: '/(/': missing )",
    ),
    "limit without value": (
        {"command": C, "limit": {"json:a": []}},
        "agents.w.limit needs at least one value for each place",
    ),
    "exits": ({"command": C, "exits": [3]}, "agents.w.exits must be a table of exit statuses"),
    "exits status": (
        {"command": C, "exits": {"three": "a"}},
        "agents.w.exits must be exit statuses with words, not three = 'a'",
    ),
    "tries": ({"command": C, "tries": 0}, "agents.w.tries must be a number of tries from 1"),
    "wait": ({"command": C, "wait": -1}, "agents.w.wait must be a number of seconds above 0"),
    "timeout": (
        {"command": C, "timeout": 0},
        "agents.w.timeout must be a number of seconds above 0, not 0",
    ),
    "timeout flag": ({"command": C, "timeout": True}, "agents.w.timeout must be a number"),
    "timeout nan": ({"command": C, "timeout": float("nan")}, "agents.w.timeout must be a number"),
    "env": (
        {"command": C, "env": ["KEY=value"]},
        "agents.w.env must be names of variables, never values, not 'KEY=value'",
    ),
    "a pipe": (
        {"command": "cat | wc"},
        "agents.w.command has | in it, and no shell runs it (command = [",
    ),
    "success": ({"command": C, "success": [True]}, "agents.w.success must be exit statuses"),
    "model": ({"command": ["t", "{model}"]}, "agents.w.model is needed: the command has {model}"),
    "model type": ({"command": C, "model": 4}, "agents.w.model must be text, not 4"),
    "place without mode": (
        {"command": ["t", "{prompt}"]},
        'agents.w.prompt must be "argument": the command has {prompt}',
    ),
    "mode without place": (
        {"command": C, "prompt": "file"},
        'agents.w.command needs {prompt_file} where prompt is "file"',
    ),
    "answer without place": (
        {"command": C, "answer": "file"},
        'agents.w.command needs {answer_file} where answer is "file"',
    ),
}


@pytest.mark.parametrize("command", ["grep '|' x", 'jq ".a | .b"', "a|b"])
def test_an_operator_in_quotes_is_a_word(command: str) -> None:
    assert agent_from_table("w", {"command": command}).command == tuple(shlex.split(command))


@pytest.mark.parametrize(("table", "message"), WRONG.values(), ids=WRONG.keys())
def test_bad_table_is_explained(table: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        agent_from_table("w", table)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (
            {"command": ["t", "{promt}"]},
            "agents.w.command has {promt}, which is not a place (did you mean {prompt}?)",
        ),
        ({"command": ["t", "-m={Model}"]}, "has {Model}, which is not a place"),
        ({"command": ["t", "{answer-file}"], "answer": "file"}, "needs {answer_file}"),
        (
            {"command": ["t", "{options}"], "edit_options": ["{shema}"]},
            "agents.w.edit_options has {shema}, which is not a place (did you mean {schema}?)",
        ),
        (
            {"command": ["t", "{nope}"]},
            "agents.w.command has {nope}, which is not a place ({prompt},",
        ),
        (
            {"command": "t --in={file}"},
            "has {file}, which is not a place ({prompt}, {prompt_file},",
        ),
        ({"command": ["t", "{prompt}", "{nope}"], "prompt": "argument"}, "has {nope}, which"),
        (
            {"command": ["t", "{options}"], "schema_options": ["--json"]},
            "schema_options need {schema} or {schema_file}",
        ),
    ],
)
def test_a_place_that_there_is_not_is_named(table: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        made(**table)


@pytest.mark.parametrize(
    "command",
    [
        ["awk", "{print}"], ["t", "${PROMPT}"], ["sh", "-c", "f() { cat; }; f"], ["jq", "{text}"],
        ["t", '{"a": 1}'], ["t", "--json={}"], ["t", "{}"], ["t", "{a,b}"], ["t", "{1}"],
        ["t", "%{http_code}"], ["t", "@{upstream}"], ["t", "a {name} in a text"], ["t", "{{name}}"],
        ["timeout", "9", "/usr/bin/mawk", "{print}"], ["xargs", "-I", "{file}", "t", "{file}"],
    ],
)  # fmt: skip
def test_braces_of_another_language_are_none_of_ours(command: list[str]) -> None:
    assert made(command=command).command == tuple(command)


@pytest.mark.parametrize("key", ["answer_options", "edit_options", "schema_options", "command"])
def test_a_word_for_the_command_holds_no_nul(key: str) -> None:
    table: dict[str, Any] = {"command": ["t", "{options}"], key: ["a\0b"]}
    with pytest.raises(UsageError, match=f"agents.w.{key} must be "):
        made(**table)


@pytest.mark.parametrize("digits", [1_000, 5_000, 50_000])
def test_a_number_of_thousands_of_digits_hides_nothing(digits: int) -> None:
    from pytest_reflex.agents.answers import source, values

    text = f'{{"n": {"7" * digits}, "usd": 0.5, "r": "said"}}'
    output = Output(text, stderr=f"log\n{text}")
    assert values(source("json:r", ("json",)), output) == ["said"]
    assert values(source("jsonl-last:r", ("jsonl-last",)), output) == ["said"]
    assert values(source("stderr-json:r", ("stderr-json",)), output) == ["said"]
    assert number((source("json:usd", ("json",)),), output) == 0.5
    assert number((source("json:n", ("json",)),), output) is None
