"""Where a project switches the plugin off: ``-p no:`` in pytest's configuration or environment.

A plugin that is switched off cannot say so from inside the session; `pytest-reflex doctor` can.
"""

from __future__ import annotations

import configparser
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

VARIABLE = "PYTEST_ADDOPTS"

# `-p no:NAME` blocks `pytest_NAME` as well.
_NAMES = ("reflex", "pytest_reflex")

# In the order in which pytest looks for them: the tables that hold its options.
_FILES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "pytest.toml": [("pytest",)],
    ".pytest.toml": [("pytest",)],
    "pytest.ini": [("pytest",)],
    ".pytest.ini": [("pytest",)],
    "pyproject.toml": [("tool", "pytest"), ("tool", "pytest", "ini_options")],
    "tox.ini": [("pytest",)],
    "setup.cfg": [("tool:pytest",)],
}


def find_reasons(project: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each place that keeps the plugin out of the project's sessions."""
    for where, value in _options(project, environment):
        for name in _blocked_names(value):
            if name in _NAMES:
                yield (
                    f"{where}: -p no:{name} keeps the plugin out of pytest: no rule is checked "
                    "(remove it)"
                )


def _options(project: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    yield VARIABLE, environment.get(VARIABLE, "")
    for folder in (project, *project.parents):
        for name, tables in _FILES.items():
            path = folder / name
            found = _tables(path, tables) if path.is_file() else []
            if found or (path.is_file() and path.stem in ("pytest", ".pytest")):
                yield from ((str(path), table.get("addopts", "")) for table in found)
                return


def _tables(path: Path, names: Sequence[tuple[str, ...]]) -> list[Mapping[str, Any]]:
    """Return the tables of a file that are there; a file that cannot be read has none."""
    try:
        document = _read(path)
    except (OSError, ValueError, configparser.Error):
        return []
    found = []
    for keys in names:
        table: Any = document
        for key in keys:
            table = table.get(key) if isinstance(table, Mapping) else None
        if isinstance(table, Mapping):
            found.append(table)
    return found


def _read(path: Path) -> Mapping[str, Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    return {section: dict(parser[section]) for section in parser.sections()}


def _blocked_names(value: Any) -> Iterator[str]:
    """Yield the names that ``-p no:NAME`` or ``-pno:NAME`` stands for."""
    words = [str(one) for one in value] if isinstance(value, list) else _split(str(value))
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        plugin = following if word == "-p" else word.removeprefix("-p")
        if word.startswith("-p") and plugin.strip().startswith("no:"):
            yield plugin.strip().removeprefix("no:")


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
