"""Where the values of JSON and TOML texts are written, also in JSON with comments.

What a path does not go through is skipped by the C decoder: to know one place in a text of many
values costs little more than reading them, and holds two numbers for each value passed by.

The text is valid when it comes here. Keys are found at the beginnings of lines, so that a value
within an inline table, or an item of an array, has the place of the key that holds it.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from json import JSONDecoder
from pathlib import PurePath
from typing import Any

from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.paths import index_of

_SPACE = re.compile(r"[ \t\n\r]*")
_BETWEEN = re.compile(r"[ \t\n\r]*[,:]?[ \t\n\r]*")
_DECODER = JSONDecoder()


class JsonPlaces:
    """The places in one text, `root` where its value begins; what was looked through is kept."""

    def __init__(self, text: str) -> None:
        self.root = _end_of(_SPACE, text, 0)
        self._text = text
        self._looked_into: dict[int, _Inside] = {}

    def along(self, path: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Yield the offsets of entry and value for each step, as far as the path exists.

        An entry begins with its key; the items of a list have none.
        """
        at = self.root
        for step in path:
            if not self._text.startswith(("{", "["), at):
                return
            if at not in self._looked_into:
                self._looked_into[at] = _Inside(self._text, at)
            inside = self._looked_into[at]
            number = inside.number_of(step)
            if number is None:
                return
            yield inside.entries[number], inside.values[number]
            at = inside.values[number]


class _Inside:
    """The entries of one map or list, as far as they were looked up."""

    def __init__(self, text: str, start: int) -> None:
        self.entries = array("q")
        self.values = array("q")
        self._text = text
        self._numbers: dict[str, int] | None = {} if text[start] == "{" else None
        self._next: int | None = _end_of(_SPACE, text, start + 1)

    def number_of(self, step: Any) -> int | None:
        """Return which entry a step leads to, None where there is none."""
        if self._numbers is not None:
            while step not in self._numbers and self._one_more():
                pass
            return self._numbers.get(step)
        index = index_of(step) if isinstance(step, str | int) else None
        if index is None:
            return None
        while not 0 <= index < len(self.values) and self._one_more():
            pass
        count = len(self.values)
        return index % count if -count <= index < count else None

    def _one_more(self) -> bool:
        # The last entry is passed by only now: what is asked for may be in it.
        at = self._next
        if at is None:
            at = _next_word(self._text, _DECODER.raw_decode(self._text, self.values[-1])[1])
        if self._text[at] in "}]":
            self._next = at
            return False
        self._next = None
        self.entries.append(at)
        if self._numbers is not None:
            key, end = _DECODER.raw_decode(self._text, at)
            self._numbers[key] = len(self.values)
            at = _next_word(self._text, end)
        self.values.append(at)
        return True


def _next_word(text: str, at: int) -> int:
    # Five million times in a text of zeros: mostly there is no blank to look for.
    if text[at] == "," and text[at + 1] not in " \t\n\r":
        return at + 1
    return _end_of(_BETWEEN, text, at)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None
    return found.end()


LONGEST = 5_000_000
"""A text with more characters is not looked through: its problem has no place."""
_TOKEN = re.compile(r'("(?:[^"\\]+|\\.)*")([ \t\n\r]*:)?|[{}\[\]]|NaN|-?Infinity', re.DOTALL)


def find_fault(text: str) -> DataSyntaxError | None:
    """Return the first such problem of a text that is else JSON; None where none is found."""
    inside: list[dict[str, int] | None] = []
    for found in _TOKEN.finditer(text) if len(text) <= LONGEST else ():
        word, start = found[0], found.start()
        if word in ("{", "["):
            inside.append({} if word == "{" else None)
        elif word in ("}", "]"):
            del inside[-1:]
        elif not found[1]:
            return DataSyntaxError.at(text, start, f"{word} is not JSON")
        elif found[2] and inside and (keys := inside[-1]) is not None:
            key = json.loads(found[1], strict=False)
            if key in keys:
                first = text.count("\n", 0, keys[key]) + 1
                place = DataSyntaxError.at(text, start, f"duplicate key {key!r}")
                return DataSyntaxError(
                    place.reason, place.line, place.column, other=", first", other_line=first
                )
            keys[key] = start
    return None


Places = dict[tuple[Any, ...], int]

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEAD = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEY})[ \t]*\]")
_PAIR = re.compile(rf"[ \t]*({_KEY})[ \t]*=[ \t]*")
_PARTS = re.compile(_PART)
_QUOTES = re.compile(r'"""|\'\'\'')


@lru_cache(maxsize=4)
def toml_places(text: str) -> Places:
    """Return the offset of the value at each path of keys and indices; of a table, of its head.

    It is shared between callers: do not change it.
    """
    found: Places = {}
    counts: dict[tuple[Any, ...], int] = {}
    table: tuple[Any, ...] = ()
    for start, line in _lines(text):
        if head := _HEAD.match(line):
            table = _table(_keys(head[2]), head[1] == "[[", counts)
            found.setdefault(table, start + head.start(1))
        elif pair := _PAIR.match(line):
            path = table
            for key in _keys(pair[1]):
                path = (*path, key)
                found.setdefault(path, start + pair.end())
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, each with its offset, that do not begin within a text of several lines."""
    start, quotes = 0, ""
    for line in text.split("\n"):
        if not quotes:
            yield start, line
        for mark in _QUOTES.findall(line):
            if not quotes:
                quotes = mark
            elif quotes == mark:
                quotes = ""
        start += len(line) + 1


def _table(keys: list[str], is_item: bool, counts: dict[tuple[Any, ...], int]) -> tuple[Any, ...]:
    """Return the path of a table; in an array of tables its last item is meant, or a new one.

    `counts` has how many items each array of tables has so far.
    """
    path: tuple[Any, ...] = ()
    for number, key in enumerate(keys, start=1):
        path = (*path, key)
        count = counts.get(path, 0)
        if is_item and number == len(keys):
            counts[path] = count + 1
            return (*path, count)
        if count:
            path = (*path, count - 1)
    return path


def _keys(text: str) -> list[str]:
    return [_unquote(part) for part in _PARTS.findall(text)]


def _unquote(part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    try:
        return str(json.loads(part)) if part.startswith('"') else part
    except ValueError:  # an escape that TOML has and JSON has not
        return part[1:-1]


_TOML_FAULT = re.compile(r"(.+) \(at line (\d+), column (\d+)\)", re.DOTALL)


def toml_fault(error: ValueError) -> DataSyntaxError:
    """Return what `tomllib` found wrong with a text, and where; an end too early has no place."""
    if placed := _TOML_FAULT.fullmatch(str(error)):
        return DataSyntaxError(placed[1], int(placed[2]), int(placed[3]))
    return DataSyntaxError(str(error))


ENDINGS = frozenset({".jsonc", ".json5", ".code-workspace"})
_NAMES = re.compile(
    r"(?:ts|js)config(?:[.-][\w.-]+)?\.json|\.?(?:eslint|babel|swc|jshint|oxlint|hint|mocha|lua)rc"
    r"(?:\.json)?|babel\.config\.json|\.?devcontainer\.json|\.markdownlint(?:-cli2)?\.json"
    r"|(?:appsettings(?:\.[\w-]+)?|launchSettings|global|angular|project|keybindings|jsr|api-extractor|biome|deno|nx|rush|tslint"
    r"|turbo|tsdoc|typedoc|wrangler|pyrightconfig|language-configuration|cspell)\.json",
    re.IGNORECASE,
)
_FOLDERS = frozenset({".vscode", ".devcontainer", ".zed"})
# What has no end is taken to where it breaks off, so that nothing is read twice.
_JSONC_TOKEN = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|,(?=\s*[\]}])')
_SIGN = re.compile(r"[^\s]")


def has_comments(path: PurePath) -> bool:
    """Return whether the tool of a file reads comments and last commas in its JSON."""
    named = path.suffix.lower() in ENDINGS or bool(_NAMES.fullmatch(path.name))
    return named or (path.suffix.lower() == ".json" and path.parent.name in _FOLDERS)


def without_comments(text: str) -> str:
    """Return the text with blanks for its comments, so that all the rest stays in its place."""
    return _JSONC_TOKEN.sub(lambda found: _blank(found[0]), text)


def plain_json(text: str) -> str:
    """Return the JSON in the text: blanks stand for comments and for last commas."""
    clean = without_comments(text)
    return _LAST_COMMA.sub(lambda found: " " if found[0] == "," else found[0], clean)


def _blank(token: str) -> str:
    is_open = token.startswith("/*") and not (len(token) > 3 and token.endswith("*/"))
    return token if token.startswith('"') or is_open else _SIGN.sub(" ", token)
