"""What a round would be given and run, told without running it (seed 004, example 4)."""

from __future__ import annotations

import shlex
from typing import Any

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.preview import command_of
from pytest_reflex.iterations.model import Procedure

_MARK = "[DRY RUN]"


def dry_run_text(procedure: Procedure, *, agent: Any, prompt: str, tokens: int, budget: int) -> str:
    """Return the lines of a dry run, a blank line, and the prompt as it would be sent."""
    lines = [
        f"{_MARK} Procedure: {procedure.name}",
        f"{_MARK} Would execute with: {command_text(agent)}",
        f"{_MARK} Token count: {tokens:,} / {budget:,} budget",
    ]
    return "\n".join([*lines, "", prompt])


def command_text(agent: Any) -> str:
    """Return the command of an agent as it would be typed, without secrets.

    A place that is filled for a round stands in angle brackets; an agent that is no command is
    told by its name.
    """
    if not isinstance(agent, CommandAgent):
        return f"agent {agent.name}"
    return " ".join(_typed(item) for item in command_of(agent, {}).argv)


def _typed(item: str) -> str:
    is_place = item.startswith("<") and item.endswith(">")
    return item if is_place else shlex.quote(item)
