"""The settings in force for a command, from its flags and the working directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.streams import say
from pytest_reflex.settings import Settings


def configured(flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force; a flag that is None was not given.

    A key that nobody reads is told on stderr, once in each command.
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
