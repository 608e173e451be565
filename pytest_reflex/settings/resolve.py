"""The values in force and where each came from: defaults, files, environment, flags.

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

from pytest_reflex.errors import Problem, UsageError, did_you_mean, nearest_word, suggest
from pytest_reflex.settings.files import (
    format_key,
    format_value,
    global_values,
    place_in,
    workspace_values,
)
from pytest_reflex.settings.readers import MisreadError, from_text
from pytest_reflex.settings.table import BY_KEY, PREFIX, SETTINGS, Setting

# What children are given; none of them is ever read as a setting. Those that end in an underscore
# are the beginnings of names.
GIVEN = tuple(
    PREFIX + name
    for name in (
        "ARTIFACT",
        "BLOCKS",
        "VAR_",
        "RUN_DIR",
        "ITERATION",
        "STEP",
        "CHILD",
        "SESSION_FOLDER",
        "TEST_DATA",
    )
)
_ALL = "`pytest-reflex config` lists the settings"


def environment_values() -> dict[str, Any]:
    """Return what variables say, by dotted key."""
    scalars = (one for one in SETTINGS if not one.is_table)
    return {one.key: os.environ[one.variable] for one in scalars if one.variable in os.environ}


def unknown_variables() -> Iterator[Problem]:
    """Yield a warning for each variable that looks like a setting and is not read."""
    scalars = {one.variable: one for one in SETTINGS if not one.is_table}
    tables = {one.variable: one for one in SETTINGS if one.is_table}
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in scalars or _is_given(name):
            continue
        if name in tables:
            said = f"environment: {name} is ignored: a table cannot be given by a variable"
            yield Problem(message=said, hint=f"write {tables[name].key} in pytest-reflex.toml")
        else:
            hint = _near(name, [*scalars, *tables])
            yield Problem(message=f"environment: unknown variable {name} is ignored", hint=hint)


def _is_given(name: str) -> bool:
    return any(name.startswith(one) if one.endswith("_") else name == one for one in GIVEN)


def _near(name: str, known: list[str]) -> str:
    """Return a hint; what all names begin with makes none of them near."""
    near = nearest_word(name.removeprefix(PREFIX), [one.removeprefix(PREFIX) for one in known])
    return suggest(PREFIX + near) if near else _ALL


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
    that are unknown; a command that loads settings has to report them.
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
    key, read = setting.key, _check(setting, value, origin)
    if not setting.is_table:
        values[key], origins[key] = read, origin
        return
    before = values[key]
    joined = {name: _merge(setting, before.get(name), read[name]) for name in read}
    for name in read:
        kept = joined[name] if isinstance(joined[name], dict) else {}
        for gone in _below(before.get(name)).keys() - kept.keys():
            origins.pop(f"{key}.{name}.{gone}", None)
    values[key] = {**before, **joined}
    for part in _parts(key, read):
        origins[part] = origin


def _merge(setting: Setting, weaker: Any, stronger: Any) -> Any:
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


def _check(setting: Setting, value: Any, origin: Origin) -> Any:
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
    message = f"{format_key(path)}{format_value(value)}: expected {expected}"
    if origin.file:
        return UsageError(message, place=place_in(origin.file, path))
    hint = setting.help if "0:" in setting.help else ""
    if origin.tier is Tier.FLAG:
        name = origin.option + setting.name.replace("_", "-")
        return UsageError(f"{name} {value!r}: expected {expected}", hint=hint)
    message = f"{origin}: {setting.variable}{format_value(value)}: expected {expected}"
    return UsageError(message, hint=hint)


@dataclass(frozen=True, slots=True)
class Row:
    """A value, by its dotted key; of a table every key that is in it is a row."""

    key: str
    value: Any
    origin: Origin

    def to_json(self) -> dict[str, Any]:
        """Return the row on the wire; `file` is null where the tier is not a file."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        file = str(self.origin.file) if self.origin.file else None
        return {"key": self.key, "value": value, "tier": self.origin.tier.value, "file": file}


def rows(settings: Settings) -> list[Row]:
    """Return all values in force, in the order of the declaration."""
    return [row for one in SETTINGS for row in _rows(settings, one.key, settings[one.key])]


def rows_of(settings: Settings, key: str) -> list[Row]:
    """Return the rows of a key: one value, or all below a table; raises UsageError for another."""
    every = rows(settings)
    found = [row for row in every if row.key == key or row.key.startswith(f"{key}.")]
    if not found:
        known = [*(one.key for one in SETTINGS), *(row.key for row in every)]
        raise UsageError(
            f"there is no setting {key!r}", hint=did_you_mean(key, dict.fromkeys(known))
        )
    return found


def _rows(settings: Settings, key: str, value: Any) -> Iterator[Row]:
    deeper = isinstance(value, dict) and value and f"{key}.{next(iter(value))}" in settings.origins
    if deeper:
        for name, inner in value.items():
            yield from _rows(settings, f"{key}.{name}", inner)
    else:
        yield Row(key, value, settings.origins[key])
