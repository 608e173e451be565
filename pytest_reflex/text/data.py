"""JSON, YAML and TOML texts as plain data that can say in which line a value is written."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.json_fault import json_fault
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.yaml_data import MAX_DEPTH, Marks, read_yaml

if TYPE_CHECKING:
    from pytest_reflex.text.data_tree import Node
    from pytest_reflex.text.places import JsonPlaces

MAX_CHARACTERS = 50_000_000
_LARGEST_TREE = 200_000  # characters of YAML that are read once more for the sake of columns
LANGUAGES = {
    "json": "json",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "openapi": "yaml",
}
"""What file endings and the first word of a fence call a data language."""


@dataclass(frozen=True, slots=True)
class Data:
    """One document: its value, and where in `text` it is written.

    `first_line` is the line of the artifact in which `text` begins.
    """

    value: Any
    language: str
    text: str = field(repr=False)
    first_line: int = 1
    marks: Marks = field(default_factory=dict, repr=False)

    def line(self, path: Sequence[Any]) -> int:
        """Return the line of the deepest part of `path` that exists, 1-based in the artifact."""
        if self.language == "toml":
            return self.position(path)[0]
        offset = _json_line(self.text, path) if self.language == "json" else self._yaml_line(path)
        return self.first_line + max(offset, 1) - 1

    def position(self, path: Sequence[Any]) -> tuple[int, int]:
        """Return line and column of the value at `path`, or of what holds it.

        The line counts in the artifact, the column in `text`; it is 0 where only the line is known.
        """
        start = self._start(tuple(path))
        if start is None:
            return self.line(path), 0
        starts = _line_starts(self.text)
        line = bisect_right(starts, start) - 1
        return self.first_line + line, start - starts[line] + 1

    def place(self, path: Sequence[Any]) -> tuple[int, int]:
        """Return the line that `line` returns, and the column in `text` of what stands there.

        That is the value where it is a single one in the line of its key, else the key or item.
        """
        line = self.line(path)
        starts = _line_starts(self.text)
        offset = line - self.first_line
        first = starts[offset] if 0 <= offset < len(starts) else 0
        end = self.text.find("\n", first)
        end = len(self.text) if end < 0 else end
        for start in self._starts(tuple(path)):
            if first <= start <= end:
                return line, start - first + 1
        text = self.text[first:end]
        return line, len(text) - len(text.lstrip(" \t")) + 1 if text.strip() else 0

    def _starts(self, path: tuple[Any, ...]) -> list[int]:
        """Return the offsets at which the last part of a path may be said to be, best first."""
        if self.is_json:
            along = [*_json_places(self.text).along(path)]
            entry, value = along[-1] if along else (0, _json_places(self.text).root)
            return [entry] if self.text[value : value + 1] in ("{", "[") else [value, entry]
        if self.language == "toml":
            return [] if (start := self._start(path)) is None else [start]
        if self.language != "yaml" or len(self.text) > _LARGEST_TREE:
            return []
        from pytest_reflex.text.data_tree import NodeKind, descend

        try:
            root = _yaml_tree(self.text)
        except DataSyntaxError:  # several documents
            return []
        entries = [entry for _, entry in descend(root, path)] if root else []
        if not entries:
            return [root.start] if root else []
        last = entries[-1]
        key = [last.key.start] if last.key else []
        is_single = last.value.kind in (NodeKind.SCALAR, NodeKind.ALIAS) or not key
        return [last.value.start, *key] if is_single else key

    def _start(self, path: tuple[Any, ...]) -> int | None:
        from pytest_reflex.text.data_tree import descend
        from pytest_reflex.text.places import toml_places

        if self.language == "toml":
            known_places = toml_places(self.text)
            known = (path[:length] for length in range(len(path), 0, -1))
            return next((known_places[part] for part in known if part in known_places), 0)
        if self.is_json:
            places = _json_places(self.text)
            return max((value for _, value in places.along(path)), default=places.root)
        try:
            node = _yaml_tree(self.text)
        except DataSyntaxError:  # several documents
            return None
        if node is None:
            return None
        return max([node.start, *(entry.value.start for _, entry in descend(node, path))])

    @property
    def is_json(self) -> bool:
        return self.language == "json"

    def _yaml_line(self, path: Sequence[Any]) -> int:
        value, line = self.value, 1
        for step in path:
            marks = self.marks.get(id(value), {})
            if step not in marks:
                break
            line = marks[step]
            value = value[step]
        return line


@lru_cache(maxsize=4)
def _yaml_tree(text: str) -> Node | None:
    from pytest_reflex.text.data_tree import read_yaml as read_tree

    return read_tree(text)


@lru_cache(maxsize=4)
def _json_places(text: str) -> JsonPlaces:
    from pytest_reflex.text.places import JsonPlaces

    return JsonPlaces(text)


@lru_cache(maxsize=4)
def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def refuse_large(text: str, reading: str, limit: int = MAX_CHARACTERS) -> None:
    """Raise ArtifactError where a text is too large; `reading` is what it would be read as."""
    if len(text) > limit:
        raise ArtifactError(
            f"too large to read as {reading}: {len(text):,} characters, the limit is {limit:,}",
            hint="split it, or use an executable check",
            reading=reading,
        )


@lru_cache(maxsize=4)
def read_data(text: str, language: str) -> tuple[Data, ...]:
    """Return the documents in a text of `language` (json, yaml or toml); YAML may hold several.

    The values are shared between callers: do not change them.
    Raises DataSyntaxError; ArtifactError where the text is too large, too deep or too many nodes.
    """
    try:
        return _read(text, language)
    except ArtifactError as error:
        error.reading = language.upper()
        raise


def _read(text: str, language: str) -> tuple[Data, ...]:
    refuse_large(text, language.upper())
    if language == "json":
        return (Data(_read_json(text), "json", text),)
    if language == "toml":
        return (Data(_read_toml(text), "toml", text),)
    values, marks = read_yaml(text)
    return tuple(Data(value, "yaml", text, 1, marks) for value in values)


def _read_json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        message, at = json_fault(error)
        raise DataSyntaxError.at(text, at, message) from None
    except RecursionError:
        raise _too_deep("JSON") from None
    except DataSyntaxError as fault:
        from pytest_reflex.text.places import find_fault

        raise find_fault(text) or fault from None
    except ValueError as error:  # a whole number with more digits than Python converts
        raise DataSyntaxError(str(error)) from None
    return _check_bounds(value, "JSON")


def _read_toml(text: str) -> Any:
    import tomllib

    try:
        return _check_bounds(tomllib.loads(text), "TOML")
    except RecursionError:
        raise _too_deep("TOML") from None
    except ValueError as error:
        from pytest_reflex.text.places import toml_fault

        raise toml_fault(error) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DataSyntaxError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _refuse_constant(word: str) -> NoReturn:
    raise DataSyntaxError(f"{word} is not JSON")


def _check_bounds(value: Any, language: str) -> Any:
    level, depth = [value], 0
    while level := [v for v in level if isinstance(v, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise _too_deep(language)
        level = [v for c in level for v in (c.values() if isinstance(c, dict) else c)]
    return value


def _too_deep(language: str) -> ArtifactError:
    return ArtifactError(f"{language} nested deeper than {MAX_DEPTH} levels")


def _json_line(text: str, path: Sequence[Any]) -> int:
    start = max((entry for entry, _ in _json_places(text).along(path)), default=0)
    return bisect_right(_line_starts(text), start)
