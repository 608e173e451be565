"""The settings in force for a command, from its flags and the working directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.streams import say
from pytest_reflex.settings import Settings


def configured(flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force; a flag that is None was not given.

    A key that nobody reads is reported on stderr, once in each command.
    """
    from pytest_reflex.model.plain import visible
    from pytest_reflex.settings import load

    settings = load(Path.cwd(), flags)
    context = click.get_current_context(silent=True)
    told = context.meta.setdefault(__name__, set()) if context else set()
    for problem in map(str, settings.unknown):
        if problem not in told:
            told.add(problem)
            say(f"pytest-reflex: warning: {visible(problem)}")
    return settings


def hidden_in(settings: Settings) -> dict[str, str]:
    """Return the secrets that commands of agents and gates name or hold, with what hides them."""
    from pytest_reflex.agents.environment import secrets_of_tables

    found: dict[str, str] = {}
    for key in ("agents", "iterate.gates"):
        found |= secrets_of_tables(os.environ, settings[key])
    return found
