"""The configuration files: a person's own, and that of the working directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_reflex.errors import Problem, UsageError, did_you_mean
from pytest_reflex.settings.declared import OWN_FILE, dotted, place_in, shown
from pytest_reflex.settings.table import BY_KEY, DRIVERS, Setting
from pytest_reflex.settings.toml_file import read_toml


def global_path() -> Path:
    """Return where a person's own configuration is looked for; it need not be there."""
    from platformdirs import user_config_path

    return user_config_path("pytest-reflex", appauthor=False) / OWN_FILE


@dataclass(frozen=True, slots=True)
class Written:
    """What a configuration file says: its values by dotted key, and keys that nobody reads."""

    file: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[Problem, ...] = ()


def global_values() -> Written:
    """Return what a person's own file says; relative paths in it start in its folder.

    Its folder may be that of somebody else, in which there is no file of ours.
    """
    path = global_path()
    table = read_toml(path, foreign=True)
    if table is None:
        return Written()
    found = _taken(table, path)
    moved = dict(found.values)
    for key, value in found.values.items():
        if relocate := BY_KEY[key].relocate:
            moved[key] = relocate(value, path.parent)
    return replace(found, values=moved)


def workspace_values(project: Path) -> Written:
    """Return what the file of a project says; its own file counts before pyproject."""
    own, shared = project / OWN_FILE, project / "pyproject.toml"
    table = read_toml(own)
    if table is not None:
        found = _taken(table, own)
        return replace(found, unknown=(*found.unknown, *_passed_over(shared)))
    tools = (read_toml(shared) or {}).get("tool", {})
    if not isinstance(tools, dict) or "pytest-reflex" not in tools:
        return Written()
    if not isinstance(tools["pytest-reflex"], dict):
        raise UsageError(
            "tool.pytest-reflex: expected a table",
            place=place_in(shared, ()),
            hint="fix the file",
        )
    return _taken(tools["pytest-reflex"], shared)


def _passed_over(shared: Path) -> Iterator[Problem]:
    """Yield a warning where pyproject has settings of ours that are not read."""
    try:
        tools = (read_toml(shared) or {}).get("tool", {})
    except UsageError:  # nothing in it would count
        return
    if isinstance(tools, dict) and "pytest-reflex" in tools:
        said = f"the table tool.pytest-reflex is not read: {OWN_FILE} is there, and counts alone"
        yield Problem(message=said, place=place_in(shared, ()), hint="keep one of them")


def _taken(table: Mapping[str, Any], path: Path) -> Written:
    """Return what is said under the keys that there are, and a warning for each other one."""
    values: dict[str, Any] = {}
    unknown: list[Problem] = []
    for where, value in _flat(table, path):
        setting = BY_KEY.get(".".join(where))
        if setting is None or setting.path != where:
            unknown.append(_unknown(where, path, _nearest(where)))
            continue
        values[setting.key] = value
        unknown += _unknown_fields(setting, value, path)
    return Written(path, values, tuple(unknown))


def _flat(table: Mapping[str, Any], path: Path) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield values by their paths: those of a driver's table stand one level deeper."""
    for name, value in table.items():
        if name not in DRIVERS:
            yield (name,), value
            continue
        if not isinstance(value, dict):
            raise UsageError(
                f"{name}{shown(value)}: expected a table",
                place=place_in(path, (name,)),
                hint=f"as in [{name}]",
            )
        for key, inner in value.items():
            yield (name, key), inner


def _unknown_fields(setting: Setting, value: Any, path: Path) -> Iterator[Problem]:
    """Yield a warning for each key that inner tables of a setting do not have."""
    if not setting.fields or not isinstance(value, dict):
        return
    for name, inner in value.items():
        for key in inner if isinstance(inner, dict) else ():
            if key not in setting.fields:
                hint = did_you_mean(key, setting.fields)
                yield _unknown((*setting.path, name, key), path, hint)


def _unknown(where: tuple[str, ...], path: Path, hint: str) -> Problem:
    message = f"unknown key {dotted(where)!r} is ignored"
    return Problem(message=message, place=place_in(path, where), hint=hint)


def _nearest(where: tuple[str, ...]) -> str:
    """Return a hint: the nearest key of all, else all of the same table."""
    from difflib import get_close_matches

    key = ".".join(where)
    every = [*BY_KEY, *DRIVERS]
    table = ".".join(where[:-1])
    siblings = [one for one in every if one.rpartition(".")[0] == table]
    return did_you_mean(key, get_close_matches(key, every, n=1) or siblings or every)
