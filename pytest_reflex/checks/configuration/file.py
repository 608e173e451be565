"""A configuration file as values: its format, what kind of file it is, and its settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pytest_reflex.documents.data import Data
from pytest_reflex.documents.paths import Path

LINES_PER_COMMENT = 25


class Format(Enum):
    """How a file is written."""

    YAML = "YAML"
    JSON = "JSON"
    TOML = "TOML"
    INI = "INI"
    ENV = "env file"


class Meaning(Enum):
    """What a file is for, as far as we know more of it than its format."""

    PLAIN = ""
    COMPOSE = "Compose file"
    WORKFLOW = "GitHub workflow"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the rule says beside the aspect: paths that have to be there, and how many comments."""

    paths: tuple[tuple[str, Path], ...] = ()
    lines_per_comment: int = LINES_PER_COMMENT


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that is no container: its path, the name it goes by, and its line.

    Of an entry `NAME=value` of a list the name is NAME; of `NAME` alone the value is None.
    """

    path: tuple[Any, ...]
    name: str
    value: Any
    line: int


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a text holds; `name` is the file's own, without folders."""

    name: str
    text: str
    format: Format
    meaning: Meaning
    documents: tuple[Data, ...]

    @property
    def label(self) -> str:
        """The meaning where there is one, else the format."""
        return self.meaning.value or self.format.value

    @property
    def is_example(self) -> bool:
        """Whether the name says that somebody has yet to fill the file in."""
        return bool(_EXAMPLE.search(self.name))

    def settings(self) -> Iterator[Setting]:
        """Yield every setting in the order of the file."""
        for document in self.documents:
            yield from _settings(document)

    def tables(self, *keys: str) -> Iterator[tuple[Data, str, dict[str, Any]]]:
        """Yield name and content of each table under `keys` (services, jobs, volumes)."""
        for document in self.documents:
            value = document.value
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            for name, inner in value.items() if isinstance(value, dict) else ():
                if isinstance(inner, dict):
                    yield document, name, inner


_EXAMPLE = re.compile(r"(?<=[._-])(?:example|sample|template|dist)\b|^example\.env$", re.IGNORECASE)
_ENTRIES = frozenset({"environment", "env", "args", "labels", "build_args"})
_ENTRY = re.compile(r"([A-Za-z_][\w.]*)(?:=(.*))?", re.DOTALL)


def _settings(document: Data) -> Iterator[Setting]:
    stack: list[tuple[tuple[Any, ...], Any]] = [((), document.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack.extend(((*path, key), inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list):
            stack.extend(((*path, i), value[i]) for i in range(len(value) - 1, -1, -1))
        elif path:
            yield _setting(document, path, value)


def _setting(document: Data, path: tuple[Any, ...], value: Any) -> Setting:
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if isinstance(value, str) and isinstance(path[-1], int) and name in _ENTRIES:
        entry = _ENTRY.fullmatch(value)
        if entry:
            return Setting(path, entry[1], entry[2], document.line(path))
    return Setting(path, name, value, document.line(path))


def texts(config: ConfigFile) -> Iterator[tuple[Setting, str]]:
    """Yield the settings whose value is a text that is not empty."""
    for setting in config.settings():
        if isinstance(setting.value, str) and setting.value:
            yield setting, setting.value
