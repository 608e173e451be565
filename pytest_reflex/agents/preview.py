"""A tool's command as it would run for a step, without running it and without any secret."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pytest_reflex.agents.command import PLACES, CommandAgent
from pytest_reflex.agents.environment import child_environment, literal_secrets
from pytest_reflex.model.preview import CommandPreview
from pytest_reflex.model.steps import Askable
from pytest_reflex.process.secrecy import hide

ANSWER_FILE = "<a file for the answer>"
_STANDS_FOR = {
    "prompt": "<the prompt>",
    "prompt_file": "<a file with the prompt>",
    "answer_file": ANSWER_FILE,
    "schema": "<the JSON Schema of the answer>",
    "schema_file": "<a file with the JSON Schema of the answer>",
}


def typed_command(agent: Askable, *, may_edit: bool = False) -> str:
    """Return the command of an agent as it would be typed; one that is not a command by its
    name.
    """
    if not isinstance(agent, CommandAgent):
        return f"agent {agent.name}"
    return command_of(agent, {}, may_edit=may_edit).typed


def command_of(
    agent: CommandAgent, told: Mapping[str, str], *, may_edit: bool = False, contract: str = ""
) -> CommandPreview:
    """Return the command of an agent that is reported something in its environment.

    A `$NAME` in the command stays a name.
    """
    places = {**_STANDS_FOR, "model": agent.model or ""}
    hidden = literal_secrets(agent.words)
    environment = {**child_environment(os.environ, agent.env), **told}
    return CommandPreview(
        argv=tuple(
            hide(PLACES.sub(lambda match: places[match[1]], item), hidden)
            for item in agent.command_for(may_edit=may_edit, contract=contract)
        ),
        cwd=os.getcwd(),
        environment=tuple(sorted(environment)),
        prompt_by=agent.prompt,
        timeout=agent.timeout,
        missing=agent.missing_program(),
    )
