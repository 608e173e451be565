"""A dry run tells procedure, command, tokens and prompt, in the lines of seed 004, example 4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.offline import OfflineAgent
from pytest_reflex.agents.probe import command_of, command_text
from pytest_reflex.reports.dry_run import command_line, iteration_text


def tool(*command: str) -> CommandAgent:
    return CommandAgent(name="tool", command=command)


def test_the_lines_are_those_of_the_seed() -> None:
    agent = tool("claude-cli", "--no-interactive")
    line = command_line(replace(command_of(agent, {}), missing=""))
    text = iteration_text("mine", line, "# P\n", tokens=4230, budget=100_000)
    assert text == (
        "[DRY RUN] Procedure: mine\n"
        "[DRY RUN] Would execute with: claude-cli --no-interactive\n"
        "[DRY RUN] Token count: 4,230 / 100,000 budget\n\n# P\n"
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("a", "two words", "$KEY"), "a 'two words' '$KEY'"),
        (("a", "{prompt}"), "a <the prompt>"),
        (("a", "--key=sk-ant-api03-0123456789abcdefghij"), "a "),
    ],
    ids=["quoted", "a place", "a secret"],
)
def test_a_command_is_shown_as_it_would_be_typed(command: tuple[str, ...], expected: str) -> None:
    told = command_text(tool(*command))
    assert told.startswith(expected)
    assert "0123456789abcdefghij" not in told


def test_an_agent_that_is_no_command_is_named() -> None:
    assert command_text(cast(Any, OfflineAgent())) == "agent offline"
