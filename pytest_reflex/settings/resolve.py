"""The values in force and where each came from.

Tiers, strongest first: flag, environment (PYTEST_REFLEX_<KEY>), workspace (`pytest-reflex.toml`, or
`[tool.pytest-reflex]` in pyproject.toml), global (`pytest-reflex.toml` in the user's configuration
folder), built-in default. Tables are joined key by key.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pytest_reflex.errors import UsageError
from pytest_reflex.settings.files import global_values, workspace_values
from pytest_reflex.settings.table import BY_KEY, SETTINGS, Setting

# A table of an agent that names one of these says what the agent is: nothing else is joined to it.
WHOLE_AGENT = ("command", "preset", "kind")


class Tier(StrEnum):
    """Where a value may come from, strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    WORKSPACE = "workspace"
    GLOBAL = "global"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """The tier of a value, and its file where the tier is one."""

    tier: Tier
    file: Path | None = None

    def __str__(self) -> str:
        return str(self.file) if self.file else self.tier.value


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, by key ("loop.max_iterations"), and where each came from.

    `origins` has every key and, for tables, every key in them ("loop.budget.usd",
    "agents.writer.model"); the origin of a table is the strongest one that gave a part of it.
    `file` is the project's configuration file.
    """

    values: Mapping[str, Any]
    origins: Mapping[str, Origin]
    file: Path | None = None

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


def load(project: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force for a project folder.

    `flags` maps keys to values given on the command line; None means "not given".
    Raises UsageError naming the source and the key.
    """
    values = {setting.key: setting.default for setting in SETTINGS}
    origins = {key: Origin(Tier.DEFAULT) for key in values}
    own, personal = global_values()
    file, workspace = workspace_values(project)
    tiers: list[tuple[Origin, Mapping[str, Any]]] = [
        (Origin(Tier.GLOBAL, own), personal),
        (Origin(Tier.WORKSPACE, file), workspace),
        (Origin(Tier.ENVIRONMENT), _environment()),
        (Origin(Tier.FLAG), {k: v for k, v in (flags or {}).items() if v is not None}),
    ]
    for origin, given in tiers:
        for key, value in given.items():
            _take(BY_KEY[key], value, origin, values, origins)
    return Settings(values, origins, file)


def _take(
    setting: Setting,
    value: Any,
    origin: Origin,
    values: dict[str, Any],
    origins: dict[str, Origin],
) -> None:
    """Lay a value over what weaker tiers gave."""
    key, read = setting.key, _checked(setting, value, origin)
    if not setting.is_table:
        values[key], origins[key] = read, origin
        return
    before = values[key]
    values[key] = {**before, **{name: _joined(before.get(name), read[name]) for name in read}}
    for name in read:
        if _replaces(before.get(name), read[name]):
            for gone in [k for k in origins if k.startswith(f"{key}.{name}.")]:
                del origins[gone]
    for part in _parts(key, read):
        origins[part] = origin


def _joined(weaker: Any, stronger: Any) -> Any:
    return stronger if _replaces(weaker, stronger) else {**weaker, **stronger}


def _replaces(weaker: Any, stronger: Any) -> bool:
    both = isinstance(weaker, dict) and isinstance(stronger, dict)
    return not both or any(word in stronger for word in WHOLE_AGENT)


def _parts(key: str, value: Any) -> Iterator[str]:
    """Yield a key and the keys of the tables below it."""
    yield key
    if isinstance(value, dict) and key.count(".") < 2:
        for name, inner in value.items():
            yield from _parts(f"{key}.{name}", inner)


def _checked(setting: Setting, value: Any, origin: Origin) -> Any:
    name = setting.variable if origin.tier is Tier.ENVIRONMENT else setting.key
    try:
        return setting.read(value)
    except ValueError as error:
        raise UsageError(f"{origin}: {name} = {value!r}: expected {error}") from None


def _environment() -> dict[str, Any]:
    scalars = (s for s in SETTINGS if not s.is_table)
    return {s.key: os.environ[s.variable] for s in scalars if s.variable in os.environ}
