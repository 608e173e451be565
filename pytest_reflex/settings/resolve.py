"""The values in force and where each came from.

Tiers, strongest first: flag, environment (PYTEST_REFLEX_<KEY>), workspace (`pytest-reflex.toml`, or
`[tool.pytest-reflex]` in pyproject.toml), global (`pytest-reflex.toml` in the user's configuration
folder), built-in default. Tables are joined key by key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pytest_reflex.errors import Problem, UsageError
from pytest_reflex.settings.declared import dotted, place_in, shown
from pytest_reflex.settings.files import global_values, workspace_values
from pytest_reflex.settings.readers import MisreadError, from_text
from pytest_reflex.settings.table import BY_KEY, SETTINGS, Setting
from pytest_reflex.settings.variables import environment_values, unknown_variables


class Tier(StrEnum):
    """Where a value may come from, strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    WORKSPACE = "workspace"
    GLOBAL = "global"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """The tier of a value, and its file where the tier is one.

    `option` is what the names of options begin with, where the tier is that of flags.
    """

    tier: Tier
    file: Path | None = None
    option: str = "--"

    def __str__(self) -> str:
        return str(self.file) if self.file else self.tier.value


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, by key ("loop.max_iterations"), and where each came from.

    `origins` has every key and, for tables, every key in them ("loop.budget.usd",
    "agents.writer.model"); the origin of a table is the strongest one that gave a part of it.
    `file` is the project's configuration file. `unknown` are the warnings for keys and variables
    that nobody reads; whoever loads the settings for a person has to tell them.
    """

    values: Mapping[str, Any]
    origins: Mapping[str, Origin]
    file: Path | None = None
    unknown: tuple[Problem, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


def load(project: Path, flags: Mapping[str, Any] | None = None, *, option: str = "--") -> Settings:
    """Return the settings in force for a project folder.

    `flags` maps keys to values given on the command line; None means "not given"; their
    names begin with `option`.
    Raises UsageError naming the source and the key.
    """
    values = {setting.key: setting.default for setting in SETTINGS}
    origins = {key: Origin(Tier.DEFAULT) for key in values}
    own, workspace = global_values(), workspace_values(project)
    flagged = {key: value for key, value in (flags or {}).items() if value is not None}
    tiers: list[tuple[Origin, Mapping[str, Any]]] = [
        (Origin(Tier.GLOBAL, own.file), own.values),
        (Origin(Tier.WORKSPACE, workspace.file), workspace.values),
        (Origin(Tier.ENVIRONMENT), environment_values()),
        (Origin(Tier.FLAG, option=option), flagged),
    ]
    for origin, given in tiers:
        for key, value in given.items():
            _take(BY_KEY[key], value, origin, values, origins)
    unknown = (*own.unknown, *workspace.unknown, *unknown_variables())
    return Settings(values, origins, workspace.file, unknown)


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
    joined = {name: _joined(setting, before.get(name), read[name]) for name in read}
    for name in read:
        kept = joined[name] if isinstance(joined[name], dict) else {}
        for gone in _below(before.get(name)).keys() - kept.keys():
            origins.pop(f"{key}.{name}.{gone}", None)
    values[key] = {**before, **joined}
    for part in _parts(key, read):
        origins[part] = origin


def _joined(setting: Setting, weaker: Any, stronger: Any) -> Any:
    """Return an inner table with what a stronger tier says laid over a weaker one, by field."""
    if not isinstance(weaker, dict) or not isinstance(stronger, dict):
        return stronger
    says_what_it_is = any(kind in stronger for kind in setting.kinds)
    if says_what_it_is and setting.whole:
        return stronger
    dropped = setting.kinds if says_what_it_is else ()
    return {**{key: value for key, value in weaker.items() if key not in dropped}, **stronger}


def _parts(key: str, value: Any, depth: int = 2) -> Iterator[str]:
    """Yield a key and the keys of the tables below it."""
    yield key
    if depth:
        for name, inner in _below(value).items():
            yield from _parts(f"{key}.{name}", inner, depth - 1)


def _below(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _checked(setting: Setting, value: Any, origin: Origin) -> Any:
    try:
        if isinstance(value, str) and origin.file is None:
            return from_text(setting.read, value)
        return setting.read(value)
    except MisreadError as error:
        raise _misread(setting, error.path, error.value, origin, str(error)) from None
    except ValueError as error:
        raise _misread(setting, (), value, origin, str(error)) from None


def _misread(
    setting: Setting, below: tuple[Any, ...], value: Any, origin: Origin, expected: str
) -> UsageError:
    """Return what to say of a value, or of a part of it: where it is, and what it should be."""
    path = (*setting.path, *below)
    message = f"{dotted(path)}{shown(value)}: expected {expected}"
    if origin.file:
        return UsageError(message, place=place_in(origin.file, path))
    hint = setting.help if "0:" in setting.help else ""
    if origin.tier is Tier.FLAG:
        name = origin.option + setting.name.replace("_", "-")
        return UsageError(f"{name} {value!r}: expected {expected}", hint=hint)
    message = f"{origin}: {setting.variable}{shown(value)}: expected {expected}"
    return UsageError(message, hint=hint)
