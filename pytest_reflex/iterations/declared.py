"""Where something was declared in a configuration file: its line and column."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_reflex.documents.toml_places import Places, toml_places
from pytest_reflex.errors import Place
from pytest_reflex.settings import OWN_FILE, Settings

_IN_PYPROJECT = ("tool", "pytest-reflex")


def place_of(settings: Settings, path: tuple[Any, ...]) -> Place | None:
    """Return the place of a value, or of the nearest table around it; None outside of any file.

    `path` is that of the value below the top of our configuration, for example ("iterate",
    "procedures", "build", "act", 0). Its file is that of the strongest tier that gave it.
    """
    file = _file(settings, path)
    if file is None:
        return None
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


def _file(settings: Settings, path: tuple[Any, ...]) -> Path | None:
    for length in range(len(path), 0, -1):
        key = ".".join(str(part) for part in path[:length])
        if key in settings.origins:
            return settings.origins[key].file
    return None


def _read(file: Path) -> tuple[str, Places] | None:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):  # gone since the settings were read
        return None
    return text, _places(text)


@lru_cache(maxsize=4)
def _places(text: str) -> Places:
    return toml_places(text)
