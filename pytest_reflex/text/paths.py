"""The path grammar into JSON, YAML and TOML data, shared by structure checks and by fixes.

Two spellings::

    info.title                       keys joined by dots
    paths."/courses/{id}".get        a key with a dot, bracket, quote or blank is quoted
    servers[0].url   tags[-1]        an index into a list
    paths.*.get      tags[*].name    every value of a map or list
    components.**.example            any depth, zero levels included
    /paths/~1courses~1{id}/get       a JSON Pointer (RFC 6901) starts with a slash

The empty path is the whole document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Wildcard(StrEnum):
    """A step that stands for many: every child, or every node at any depth."""

    EACH = "*"
    DEEP = "**"


# A wildcard is a str too, so tell it apart with isinstance(step, Wildcard) before str.
PathStep = str | int | Wildcard
Path = tuple[PathStep, ...]

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\']|\'\')*)\'', re.DOTALL)
_INDEX = re.compile(r"\[\s*(-?\d+|\*)\s*\]", re.ASCII)
_BARE = re.compile(r"[^.\[\]\"'\s]+")
_PLAIN_KEY = re.compile(r"[^.\[\]\"'\s/*][^.\[\]\"'\s]*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class PathSyntaxError(ValueError):
    """A path cannot be read; the message says at which column (1-based) and why."""


@dataclass(frozen=True, slots=True)
class PathMatch:
    """A value that a path led to, with its concrete keys and indexes from the root."""

    path: tuple[Any, ...]
    value: Any


def parse(path: str) -> Path:
    """Return the steps of a path; raises PathSyntaxError."""
    if path.startswith("/"):
        return _pointer(path)
    steps: list[PathStep] = []
    at = 0
    while at < len(path):
        step, at = _step(path, at, first=not steps)
        steps.append(step)
    return tuple(steps)


def _step(path: str, at: int, *, first: bool) -> tuple[PathStep, int]:
    if path[at] == "[":
        index = _INDEX.match(path, at)
        if not index:
            raise PathSyntaxError(f"column {at + 1} of {path!r}: expected [NUMBER] or [*]")
        inner = index[1]
        return (Wildcard.EACH if inner == "*" else int(inner)), index.end()
    if not first:
        if path[at] != ".":
            raise PathSyntaxError(f"column {at + 1} of {path!r}: expected . or [")
        at += 1
    if quoted := _QUOTED.match(path, at):
        double, single = quoted.groups()
        key = single.replace("''", "'") if double is None else _ESCAPE.sub(r"\1", double)
        return key, quoted.end()
    bare = _BARE.match(path, at)
    if not bare:
        raise PathSyntaxError(
            f"column {at + 1} of {path!r}: expected a key; quote one with blanks, dots or brackets"
        )
    word = bare[0]
    return (Wildcard(word) if word in ("*", "**") else word), bare.end()


def _pointer(path: str) -> Path:
    if bad := re.search(r"~(?![01])", path):
        raise PathSyntaxError(
            f"column {bad.start() + 1} of {path!r}: in a JSON Pointer ~ is written ~0 and / is ~1"
        )
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/"))


def render(steps: Sequence[Any]) -> str:
    """Return the dotted spelling; `parse(render(steps)) == steps` for steps that parse gave."""
    text = ""
    for step in steps:
        if isinstance(step, int) and not isinstance(step, bool):
            text += f"[{step}]"
            continue
        word = str(step)
        plain = isinstance(step, Wildcard) or _PLAIN_KEY.fullmatch(word)
        text += ("." if text else "") + (word if plain else _quote(word))
    return text


def _quote(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def find(data: Any, steps: Sequence[PathStep]) -> Iterator[PathMatch]:
    """Yield every value that the steps lead to, in document order; nothing where there is none."""
    yield from _walk(data, tuple(steps), ())


def _walk(data: Any, steps: Path, done: tuple[Any, ...]) -> Iterator[PathMatch]:
    if not steps:
        yield PathMatch(done, data)
        return
    step, rest = steps[0], steps[1:]
    if step is Wildcard.DEEP:
        while rest and rest[0] is Wildcard.DEEP:
            rest = rest[1:]
        seen: set[tuple[Any, ...]] = set()
        for node in _descend(data, done):
            for found in _walk(node.value, rest, node.path):
                if found.path not in seen:
                    seen.add(found.path)
                    yield found
        return
    for key, value in children(data, step):
        yield from _walk(value, rest, (*done, key))


def gaps(data: Any, steps: Sequence[PathStep]) -> Iterator[tuple[Any, ...]]:
    """Yield a path for each value that a `*` stands for, and from which the rest leads nowhere.

    Its end is the first step that is missing; what comes behind `**` is optional at each depth.
    """
    yield from _gaps(data, tuple(steps), ())


def _gaps(data: Any, steps: Path, done: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if len(steps) < 2:
        return
    step, rest = steps[0], steps[1:]
    if step is Wildcard.DEEP:
        if not isinstance(rest[0], Wildcard):
            for node in _descend(data, done):
                yield from _gaps(node.value, rest, node.path)
        return
    for key, value in children(data, step):
        missing = _missing_steps(value, rest) if step is Wildcard.EACH else ()
        if missing and Wildcard.EACH not in missing[:-1]:
            yield (*done, key, *missing)
        else:
            yield from _gaps(value, rest, (*done, key))


def _missing_steps(data: Any, steps: Path) -> Path:
    """Return the steps up to the first one that leads nowhere; none where they lead to a value."""
    found = next(find(data, steps), None)
    ends = range(1, len(steps) + 1) if found is None else ()
    return next((steps[:n] for n in ends if next(find(data, steps[:n]), None) is None), ())


def _descend(data: Any, done: tuple[Any, ...]) -> Iterator[PathMatch]:
    stack = [PathMatch(done, data)]
    while stack:
        node = stack.pop()
        yield node
        below = [
            PathMatch((*node.path, key), value)
            for key, value in children(node.value, Wildcard.EACH)
        ]
        stack.extend(reversed(below))


def children(data: Any, step: PathStep) -> Iterator[tuple[Any, Any]]:
    """Yield (key, value) of the children that one step other than `**` selects.

    A word that is a number selects in a list by index, and in a map also the key of that number
    (YAML reads `200:` as a number); an index selects in lists only.
    """
    if isinstance(data, Mapping):
        if isinstance(step, Wildcard):
            yield from data.items()
        elif isinstance(step, str) and (key := key_in(data, step)) is not None:
            yield key, data[key]
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        if isinstance(step, Wildcard):
            yield from enumerate(data)
        elif (index := index_of(step)) is not None and -len(data) <= index < len(data):
            index %= len(data)
            yield index, data[index]


def key_in(data: Mapping[Any, Any], word: str) -> Any | None:
    """Return the key of the map that a word names (itself, or a non-string spelt so), or None."""
    if word in data:
        return word
    return next((key for key in data if not isinstance(key, str) and spelt(key) == word), None)


def index_of(step: PathStep) -> int | None:
    """Return the list index that a step means, or None where it means none."""
    if isinstance(step, int):
        return step
    return int(step) if re.fullmatch(r"0|[1-9][0-9]*", step) else None


def spelt(key: Any) -> str:
    """Return a key of data as a path names it: a number, true and null as in JSON."""
    return json.dumps(key) if isinstance(key, bool | int | float) or key is None else str(key)
