"""What a program gives a driver, as settings and the command line have it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.settings import Settings

Budget = Mapping[str, float] | float | str
"""Limits by key (seconds, usd, tokens, calls), an amount in usd, or a value of ``--budget``."""


def settings_of(
    project: Path, flags: Mapping[str, Any] | None = None, plugins: Iterable[str] = ()
) -> Settings:
    """Return the settings in force; an unknown key is a UserWarning.

    `plugins` are added to those that are configured.
    """
    from pytest_reflex.settings import load

    settings = load(project, flags)
    if plugins:
        named = [name for name in plugins if name not in settings["plugins"]]
        settings = load(project, {**(flags or {}), "plugins": [*settings["plugins"], *named]})
    for problem in settings.unknown:
        warnings.warn(str(problem), stacklevel=_outside())
    return settings


def _outside() -> int:
    """Return how many calls lie between a warning and whoever called this package."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("pytest_reflex."):
        frame, depth = frame.f_back, depth + 1
    return depth


def split_plugins(plugins: Iterable[object]) -> tuple[list[str], list[object]]:
    """Return the names among plugins, those of imported modules too, and the other objects."""
    named, objects = list[str](), list[object]()
    for plugin in plugins:
        name = plugin if isinstance(plugin, str) else getattr(plugin, "__name__", "")
        if isinstance(plugin, str) or sys.modules.get(name) is plugin:
            named.append(name)
        else:
            objects.append(plugin)
    return named, objects


def by_step_of(agent: str | None, agents: Mapping[str, str] | None) -> list[str]:
    """Return agents as `host.register_agents` takes them."""
    found = [] if agent is None else [agent]
    return [*found, *(f"{step}={name}" for step, name in (agents or {}).items())]


def pairs_of(budget: Budget | None) -> tuple[str, ...]:
    """Return a budget as the command line has it."""
    if isinstance(budget, Mapping):
        return tuple(f"{key}={amount}" for key, amount in budget.items())
    return () if budget is None else (str(budget),)


def budget_of(
    budget: Budget | None, now: Mapping[str, float] | None = None
) -> dict[str, float] | None:
    from pytest_reflex.settings import budget_changes

    return budget_changes(pairs_of(budget), now) or None
