"""A configuration file as values: its format, what kind of file it is, and its settings."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pytest_reflex.checks.finding import Finding
from pytest_reflex.checks.structure.data.source import finding_at
from pytest_reflex.text.data import Data
from pytest_reflex.text.paths import Path

LINES_PER_COMMENT = 25


class Format(Enum):
    """How a file is written."""

    YAML = "YAML"
    JSON = "JSON"
    JSONC = "JSON with comments"
    TOML = "TOML"
    INI = "INI"
    ENV = "env file"


class Meaning(Enum):
    """What a file is for, as far as we know more of it than its format."""

    PLAIN = ""
    COMPOSE = "Compose file"
    WORKFLOW = "GitHub workflow"


@dataclass(frozen=True, slots=True)
class ConfigExpectations:
    """What the rule says beside the aspect: paths that have to be there, and how many comments."""

    paths: tuple[tuple[str, Path], ...] = ()
    lines_per_comment: int = LINES_PER_COMMENT


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One value that is not a container: its path, the name it goes by, and its line.

    Of an entry `NAME=value` of a list the name is NAME; of `NAME` alone the value is None.
    """

    path: tuple[Any, ...]
    name: str
    value: Any
    line: int
    document: Data = field(repr=False, compare=False)

    def finding(self, message: str) -> Finding:
        """Return a finding about this setting."""
        return finding_at(self.document, message, self.path)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a text holds; `name` is the file's own, without folders.

    `folder` is where it belongs: what it refers to may lie beside it.
    """

    name: str
    text: str
    format: Format
    meaning: Meaning
    documents: tuple[Data, ...]
    folder: pathlib.Path | None = None

    @property
    def label(self) -> str:
        """The meaning where there is one, else the format."""
        return self.meaning.value or self.format.value

    @property
    def is_example(self) -> bool:
        """Whether the name marks an example that has still to be filled in."""
        return bool(_EXAMPLE.search(self.name))

    @property
    def is_json(self) -> bool:
        return self.format in (Format.JSON, Format.JSONC)

    @property
    def is_locale(self) -> bool:
        """Whether it holds the texts of a user interface in one language."""
        names = self.folder.parts if self.folder else ()
        if any(part.lower() in _LOCALE_FOLDERS for part in names[-3:]):
            return True
        tops = self.documents[0].value if len(self.documents) == 1 else None
        alone = next(iter(tops.items())) if isinstance(tops, dict) and len(tops) == 1 else ("", "")
        of_one = isinstance(alone[1], dict) and _LANGUAGE.fullmatch(str(alone[0]))
        return bool(_LOCALE_NAME.fullmatch(self.name) or of_one)

    @property
    def top(self) -> dict[str, Any]:
        """The settings of the first document; none where it is a list."""
        top = self.documents[0].value
        return top if isinstance(top, dict) else {}

    def settings(self) -> Iterator[ConfigValue]:
        """Yield every setting in the order of the file."""
        for document in self.documents:
            yield from _settings(document, self.meaning)

    def tables(self, *keys: str) -> Iterator[tuple[Data, str, dict[str, Any]]]:
        """Yield name and content of each table under `keys` (services, jobs, volumes)."""
        for document in self.documents:
            value = document.value
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            for name, inner in value.items() if isinstance(value, dict) else ():
                if isinstance(inner, dict):
                    yield document, name, inner


_EXAMPLE = re.compile(
    r"(?<=[._-])(?:examples?|sample|template|tmpl|dist)\b|^example[._-]|^(?:sample|template)[._-]env$"
    r"|^\.?env[._-]defaults?$",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    r"(?:ar|bg|bn|ca|cs|da|de|el|en|es|et|eu|fa|fi|fr|gl|he|hi|hr|hu|id|it|ja|ka|ko|lt|lv|mk|ms|nb|nl"
    r"|nn|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|ta|th|tr|uk|ur|vi|zh)(?:[-_][A-Za-z]{2,4})?"
)
_OF_TEXTS = r"(?:intl|i18n|lang|locales?|messages?|strings|texts|translations?)"
# In release-it.json and client_id.json the last word is not a language.
_LOCALE_NAME = re.compile(
    rf"(?:[\w-]+\.|{_OF_TEXTS}[_-])?{_LANGUAGE.pattern}\.\w+|{_OF_TEXTS}\.\w+", re.IGNORECASE
)
_LOCALE_FOLDERS = frozenset(
    {"locale", "locales", "_locales", "i18n", "l10n", "lang", "langs", "translations", "messages"}
)
_ENTRIES = frozenset({"environment", "env", "args", "labels", "build_args", "command"})
_ENTRY = re.compile(r"-{0,2}([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)
_NAME_ALONE = re.compile(r"[A-Za-z_]\w*")
_PAIRS = (
    *(("name", "value"), ("key", "value"), ("variable", "value"), ("Name", "Value")),
    *(("Key", "Value"), ("ParameterKey", "ParameterValue")),
)
"""What name and value are called where a setting is written as a map of the two."""


def _settings(document: Data, meaning: Meaning) -> Iterator[ConfigValue]:
    stack: list[tuple[tuple[Any, ...], Any]] = [((), document.value)]
    names: dict[tuple[Any, ...], str] = {}
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack.extend(((*path, key), inner) for key, inner in reversed(value.items()))
            names |= {(*path, key): name for key, name in _name_value_pairs(value)}
        elif isinstance(value, list):
            stack.extend(((*path, i), value[i]) for i in range(len(value) - 1, -1, -1))
        elif path and path in names:
            yield ConfigValue(path, names.pop(path), value, document.line(path), document)
        elif path:
            yield _setting(document, path, value, meaning)


def _name_value_pairs(table: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, value in _PAIRS:
        given = table.get(name)
        if isinstance(given, str) and given and not isinstance(table.get(value, {}), dict | list):
            yield value, given
            return


def _setting(document: Data, path: tuple[Any, ...], value: Any, meaning: Meaning) -> ConfigValue:
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if isinstance(value, str) and isinstance(path[-1], int) and name in _ENTRIES:
        if entry := _ENTRY.fullmatch(value):
            return ConfigValue(path, entry[1], entry[2], document.line(path), document)
        from_outside = meaning is Meaning.COMPOSE and name == "environment"
        if from_outside and _NAME_ALONE.fullmatch(value):
            return ConfigValue(path, value, None, document.line(path), document)
    return ConfigValue(path, name, value, document.line(path), document)


def texts(config: ConfigFile) -> Iterator[tuple[ConfigValue, str]]:
    """Yield the settings whose value is a text that is not empty."""
    for setting in config.settings():
        if isinstance(setting.value, str) and setting.value:
            yield setting, setting.value
