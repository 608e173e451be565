"""The configuration files, a person's own and the project's, and where each value was declared."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.errors import Place, Problem, UsageError, did_you_mean, for_cause, read_twice
from pytest_reflex.settings.table import BY_KEY, DRIVERS, Setting

if TYPE_CHECKING:
    from pytest_reflex.settings.resolve import Origin, Settings


_AT_END = " (at end of document)"


def read_toml(path: Path, *, foreign: bool = False) -> dict[str, Any] | None:
    """Return what a TOML file says; None where there is no such name in its folder.

    In a `foreign` folder, which may be closed to us, what cannot be looked for is not there. Raises
    UsageError for a link to nothing, a folder, a pipe, and whatever is not TOML in UTF-8.
    """
    try:
        read_twice(path.lstat)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if foreign:
            return None
        raise for_cause(_unreadable(path, error.strerror or str(error)), error) from None
    return _parse(_text(path), path)


def _text(path: Path) -> str:
    try:
        if not stat.S_ISREG(read_twice(path.stat).st_mode):
            raise _unreadable(path, "it is not a regular file")
        data = read_twice(path.read_bytes)
    except FileNotFoundError:
        raise _unreadable(path, "it is a link to a file that is not there") from None
    except OSError as error:
        raise for_cause(_unreadable(path, error.strerror or str(error)), error) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts behind the mark of a file that begins with one.
        before = error.object[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise UsageError(
            f"byte 0x{error.object[error.start]:02x} is not UTF-8",
            place=Place(str(path), line, column),
            hint="save the file as UTF-8",
        ) from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        from pytest_reflex.text.places import toml_fault

        fault = toml_fault(error)
        said = fault.reason.removesuffix(_AT_END)
        line = fault.line if said == fault.reason else text.count("\n") + 1
        place = Place(str(path), line, fault.column)
        raise UsageError(f"this is not TOML: {said}", place=place, hint="fix the file") from None
    except RecursionError:
        raise UsageError(
            "this is not TOML that can be read: it is nested too deep",
            place=Place(str(path)),
            hint="fix the file",
        ) from None


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(
        f"the configuration cannot be read: {why}",
        place=Place(str(path)),
        hint="fix or remove it",
    )


OWN_FILE = "pytest-reflex.toml"

_IN_PYPROJECT = ("tool", "pytest-reflex")
_MOST = 80
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def format_key(path: tuple[Any, ...]) -> str:
    """Return a path as it is written in TOML: what is not a plain word stands in quotes."""
    return ".".join(
        str(part) if _BARE.fullmatch(str(part)) else json.dumps(part, ensure_ascii=False)
        for part in path
    )


def format_value(value: Any) -> str:
    """Return a value behind its name, for a message; of a table or list the place says enough."""
    if isinstance(value, (dict, list)) and value:
        return ""
    text = repr(value)
    return f" = {text}" if len(text) <= _MOST else f" = {text[:_MOST]}..."


def place_of(settings: Settings, path: tuple[Any, ...]) -> Place | None:
    """Return the place of a value, or of the nearest table around it; None outside of any file.

    `path` is that of the value below the top of our configuration, for example ("iterate",
    "procedures", "build", "act", 0). Its file is that of the strongest tier that gave it.
    """
    file = _file(settings.origins, path)
    return place_in(file, path) if file else None


def place_in(file: Path, path: tuple[Any, ...]) -> Place:
    """Return the place of a value in a file, or of the nearest table around it that is there."""
    found = _read(file)
    if found is None:
        return Place(str(file))
    text, places = found
    whole = path if file.name == OWN_FILE else (*_IN_PYPROJECT, *path)
    while whole:
        if whole in places:
            before = text[: places[whole]]
            column = len(before) - (before.rfind("\n") + 1) + 1
            return Place(str(file), before.count("\n") + 1, column)
        whole = whole[:-1]
    return Place(str(file))


def _file(origins: Mapping[str, Origin], path: tuple[Any, ...]) -> Path | None:
    for length in range(len(path), 0, -1):
        key = ".".join(str(part) for part in path[:length])
        if key in origins:
            return origins[key].file
    return None


def _read(file: Path) -> tuple[str, Mapping[tuple[Any, ...], int]] | None:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):  # gone since the settings were read
        return None
    return text, _places(text)


@lru_cache(maxsize=4)
def _places(text: str) -> Mapping[tuple[Any, ...], int]:
    # Only problems need a place: it is not looked up for anything else.
    from pytest_reflex.text.places import toml_places

    return toml_places(text)


def global_path() -> Path:
    """Return where a person's own configuration is looked for; it need not be there."""
    from platformdirs import user_config_path

    return user_config_path("pytest-reflex", appauthor=False) / OWN_FILE


@dataclass(frozen=True, slots=True)
class FileSettings:
    """What a configuration file says: its values by dotted key, and unknown keys."""

    file: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[Problem, ...] = ()


def global_values() -> FileSettings:
    """Return what a person's own file says; relative paths in it start in its folder.

    Its folder may belong to another user; then there is no file.
    """
    path = global_path()
    table = read_toml(path, foreign=True)
    if table is None:
        return FileSettings()
    found = _read_values(table, path)
    moved = dict(found.values)
    for key, value in found.values.items():
        if relocate := BY_KEY[key].relocate:
            moved[key] = relocate(value, path.parent)
    return replace(found, values=moved)


def workspace_values(project: Path) -> FileSettings:
    """Return what the file of a project says; its own file counts before pyproject."""
    own, shared = project / OWN_FILE, project / "pyproject.toml"
    table = read_toml(own)
    if table is not None:
        found = _read_values(table, own)
        return replace(found, unknown=(*found.unknown, *_warn_ignored(shared)))
    tools = (read_toml(shared) or {}).get("tool", {})
    if not isinstance(tools, dict) or "pytest-reflex" not in tools:
        return FileSettings()
    if not isinstance(tools["pytest-reflex"], dict):
        raise UsageError(
            "tool.pytest-reflex: expected a table",
            place=place_in(shared, ()),
            hint="fix the file",
        )
    return _read_values(tools["pytest-reflex"], shared)


def _warn_ignored(shared: Path) -> Iterator[Problem]:
    """Yield a warning where pyproject has settings of pytest-reflex that are not read."""
    try:
        tools = (read_toml(shared) or {}).get("tool", {})
    except UsageError:  # nothing in it would count
        return
    if isinstance(tools, dict) and "pytest-reflex" in tools:
        said = f"the table tool.pytest-reflex is not read: {OWN_FILE} is there, and counts alone"
        yield Problem(message=said, place=place_in(shared, ()), hint="keep one of them")


def _read_values(table: Mapping[str, Any], path: Path) -> FileSettings:
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
    return FileSettings(path, values, tuple(unknown))


def _flat(table: Mapping[str, Any], path: Path) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield values by their paths: those of a driver's table stand one level deeper."""
    for name, value in table.items():
        if name not in DRIVERS:
            yield (name,), value
            continue
        if not isinstance(value, dict):
            raise UsageError(
                f"{name}{format_value(value)}: expected a table",
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
    message = f"unknown key {format_key(where)!r} is ignored"
    return Problem(message=message, place=place_in(path, where), hint=hint)


def _nearest(where: tuple[str, ...]) -> str:
    """Return a hint: the nearest key of all, else all of the same table."""
    from difflib import get_close_matches

    key = ".".join(where)
    every = [*BY_KEY, *DRIVERS]
    table = ".".join(where[:-1])
    siblings = [one for one in every if one.rpartition(".")[0] == table]
    return did_you_mean(key, get_close_matches(key, every, n=1) or siblings or every)
