"""What a round would be given and run, told without running it (seed 004, example 4)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.preview import command_of
from pytest_reflex.drivers.iterate.model import Procedure
from pytest_reflex.drivers.iterate.wording import counted
from pytest_reflex.model.plain import one_line

_MARK = "[DRY RUN]"
_SHOWN = 20


def dry_run_text(
    procedure: Procedure,
    *,
    agent: Any,
    prompt: str,
    tokens: int,
    budget: int,
    protected: Mapping[str, Sequence[str]],
) -> str:
    """Return the lines of a dry run, a blank line, and the prompt as it would be sent.

    `protected` are the files that may not change, for each gate.
    """
    lines = [
        f"{_MARK} Procedure: {procedure.name}",
        f"{_MARK} Would execute with: {command_text(agent)}",
        f"{_MARK} Token count: {tokens:,} / {budget:,} budget",
    ]
    lines += [
        f"{_MARK} Gate {name} protects: {_listed(files)}"
        for name, files in protected.items()
        if files
    ]
    return "\n".join([*lines, "", prompt])


def _listed(files: Sequence[str]) -> str:
    """Return what a gate protects: files of the project by name, of all others that there are."""
    own = [one_line(name) for name in files if not name.startswith("/")]
    shown = own[:_SHOWN]
    if more := len(own) - len(shown):
        shown.append(f"{counted(more, 'more file')}")
    if len(own) < len(files):
        shown.append("programs and what they read at their start")
    return ", ".join(shown)


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
