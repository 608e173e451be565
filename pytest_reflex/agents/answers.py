"""Where in a tool's output something is written: the answer, the price, a flag for failure.

Spelt `stdout`, `json:PATH` (stdout is one JSON document), `jsonl-last:PATH` (of the last line of
stdout that has it), `jsonl-all:PATH` (of all lines), `stderr-json:PATH` (a JSON document among what
stands on stderr), `stderr` (each line of it) or `file` (the tool writes it to `{answer_file}`).
Paths are those of structure checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_reflex.text.paths import Path, PathSyntaxError, find, parse

ANSWER = ("stdout", "json", "jsonl-last", "file")
STRUCTURED = ("json", "jsonl-last", "jsonl-all", "stderr-json")
LOGGED = (*STRUCTURED, "stderr")
_WITHOUT_PATH = ("stdout", "file", "stderr")


@dataclass(frozen=True, slots=True)
class OutputSource:
    """A place in the output; `kind` is one of those above.

    Of a number, `otherwise` is where it stands if it is not there.
    """

    kind: str
    path: Path = ()
    spelt: str = ""
    otherwise: OutputSource | None = None


@dataclass(frozen=True)
class Output:
    """What a tool wrote, as text, and the JSON in it, read once."""

    stdout: str
    stderr: str = ""

    @cached_property
    def document(self) -> Any:
        return _document(self.stdout)

    @cached_property
    def events(self) -> tuple[Any, ...]:
        return tuple(_events(self.stdout))


STDOUT = OutputSource("stdout", spelt="stdout")


def source(spelt: str, kinds: tuple[str, ...]) -> OutputSource:
    """Return the place that a configuration value names; raises ValueError with what it must be."""
    kind, colon, path = spelt.partition(":")
    if kind not in kinds or bool(colon) == (kind in _WITHOUT_PATH):
        known = [k if k in _WITHOUT_PATH else f"{k}:PATH" for k in kinds]
        raise ValueError(f"must be {' or '.join(known)}, not {spelt!r}")
    try:
        steps = parse(path)
    except PathSyntaxError as error:
        raise ValueError(f"has a bad path: {error}") from None
    if colon and not steps:
        raise ValueError(f"has no path: {spelt!r}")
    return OutputSource(kind, steps, spelt)


def values(place: OutputSource, output: Output) -> list[Any]:
    """Return what the place holds in structured output, none where it is not there."""
    if place.kind == "json":
        return _find_values(output.document, place)
    if place.kind == "stderr":
        return list(output.stderr.splitlines())
    if place.kind == "stderr-json":
        return _find_values(_embedded_json(output.stderr), place)
    if place.kind == "jsonl-all":
        return [value for event in output.events for value in _find_values(event, place)]
    for event in reversed(output.events):
        if found := _find_values(event, place):
            return found
    return []


def number(places: tuple[OutputSource, ...], output: Output) -> float | None:
    """Return the sum of the numbers at some places; None where one of them is not known."""
    total: float = 0
    for place in places:
        found = _numbers(place, output)
        if not found:
            return None
        total += sum(found)
    return total if places else None


def _numbers(place: OutputSource, output: Output) -> list[Any]:
    found = [value for value in values(place, output) if _is_number(value)]
    if found or place.otherwise is None:
        return found
    return _numbers(place.otherwise, output)


def breaks_off(place: OutputSource, output: Output) -> bool:
    """Return whether structured output ends in the middle of its JSON, which a tool cut short."""
    text = output.stdout.rstrip()
    if place.kind == "json":
        start = 0 if text.startswith(("{", "[")) else text.find("\n{") + 1
        return (start > 0 or text.startswith(("{", "["))) and _is_open(text[start:])
    if place.kind == "jsonl-last":
        last = text.rpartition("\n")[2].lstrip()
        return last.startswith("{") and _is_open(last)
    return False


def _is_open(text: str) -> bool:
    """Return whether a bracket or a string of a JSON text is not closed at its end."""
    depth, quoted = 0, False
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == '"':
            quoted = not quoted
        elif not quoted and len(mark) == 1:
            depth += 1 if mark in "{[" else -1
    return quoted or depth > 0


_MARK = re.compile(r'["{}\[\]]|\\.', re.DOTALL)


def _find_values(document: Any, place: OutputSource) -> list[Any]:
    return [match.value for match in find(document, place.path)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15


# A number of thousands of digits is none that counts, and hides nothing that stands beside it.
_DECODER = json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 1000 else float(text))


def _document(stdout: str) -> Any:
    """Return the JSON document on stdout; what a tool prints before it on lines of its own goes."""
    try:
        return _DECODER.decode(stdout)
    except (ValueError, RecursionError):
        start = stdout.find("\n{")
    try:
        return _DECODER.decode(stdout[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _embedded_json(stderr: str) -> Any:
    """Return the last JSON object that begins a line of stderr, which holds other lines too."""
    text, start = "\n" + stderr, len(stderr) + 1
    while (start := text.rfind("\n{", 0, start)) >= 0:
        try:
            return _DECODER.raw_decode(text, start + 1)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _events(stdout: str) -> Iterator[Any]:
    for line in stdout.split("\n"):
        if line.lstrip().startswith("{"):
            try:
                yield _DECODER.decode(line)
            except (ValueError, RecursionError):
                continue
