"""Where something was declared in a configuration file: its line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.errors import Place

if TYPE_CHECKING:
    from pytest_reflex.settings.resolve import Origin, Settings

OWN_FILE = "pytest-reflex.toml"

_IN_PYPROJECT = ("tool", "pytest-reflex")
_MOST = 80
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dotted(path: tuple[Any, ...]) -> str:
    """Return a path as it is written in TOML: what is not a plain word stands in quotes."""
    return ".".join(
        str(part) if _BARE.fullmatch(str(part)) else json.dumps(part, ensure_ascii=False)
        for part in path
    )


def shown(value: Any) -> str:
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
    # Only what is wrong needs a place; nobody else pays for finding it.
    from pytest_reflex.text.toml_places import toml_places

    return toml_places(text)
