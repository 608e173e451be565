"""Where in a tool's output something is written: the answer, the price, a flag for failure.

Spelt `stdout`, `json:PATH` (stdout is one JSON document), `jsonl-last:PATH` (of the last line that
has it) or `file` (the tool writes it to `{answer_file}`). Paths are those of structure checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_reflex.documents.paths import Path, PathSyntaxError, find, parse


@dataclass(frozen=True, slots=True)
class Source:
    """A place in the output; `kind` is stdout, json, jsonl-last or file."""

    kind: str
    path: Path = ()
    spelt: str = ""


STDOUT = Source("stdout", spelt="stdout")


def source(spelt: str, kinds: tuple[str, ...]) -> Source:
    """Return the place that a configuration value names; raises ValueError with what it must be."""
    kind, colon, path = spelt.partition(":")
    if kind not in kinds or bool(colon) != (kind in ("json", "jsonl-last")):
        known = [k if k in ("stdout", "file") else f"{k}:PATH" for k in kinds]
        raise ValueError(f"must be {' or '.join(known)}, not {spelt!r}")
    try:
        steps = parse(path)
    except PathSyntaxError as error:
        raise ValueError(f"has a bad path: {error}") from None
    if colon and not steps:
        raise ValueError(f"has no path: {spelt!r}")
    return Source(kind, steps, spelt)


def values(place: Source, stdout: str) -> list[Any]:
    """Return what the place holds in structured output, none where it is not there."""
    if place.kind == "json":
        document = _document(stdout)
        return [found.value for found in find(document, place.path)]
    for event in reversed(list(_events(stdout))):
        if found := [match.value for match in find(event, place.path)]:
            return found
    return []


def number(places: tuple[Source, ...], stdout: str) -> float | None:
    """Return the sum of the numbers at some places; None where one of them is not known."""
    total: float = 0
    for place in places:
        found = [v for v in values(place, stdout) if _is_number(v)]
        if not found:
            return None
        total += sum(found)
    return total if places else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15


def _document(stdout: str) -> Any:
    """Return the JSON document on stdout; what a tool prints before it on lines of its own goes."""
    try:
        return json.loads(stdout)
    except (ValueError, RecursionError):
        start = stdout.find("\n{")
    try:
        return json.loads(stdout[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _events(stdout: str) -> Iterator[Any]:
    for line in stdout.split("\n"):
        if line.lstrip().startswith("{"):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue
