"""A text with one region removed or garbled, in many ways: what a check has to notice; pure.

Promises: the same text gives the same mutants in the same order; each differs from the text, and
each has something to read in it, so that no mutant is the empty artifact.
"""

from __future__ import annotations

import codecs
import copy
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytest_reflex.criteria.author.fault_injection import Mutant, insert_flaws
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError, split
from pytest_reflex.text.outline import front_matter, outline
from pytest_reflex.text.paths import PathSyntaxError, find, parse

SIZES = (100_000, 1_100_000)
"""Characters to which a text is grown in search of an upper bound, the last above a mebibyte."""
MOST_PARTS = 8
"""Sections, keys and lines that are taken out one by one."""

_LINK = re.compile(r"\]\(|\]\[|<(?=\w+:)|<a\s", re.IGNORECASE)
_TARGET = re.compile(r"\]\([^)\s]*")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+|^(?:=+|-+)[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"^(\s*(?:`{3,}|~{3,}))[^\s`]+.*$", re.MULTILINE)
_GARBAGE = ({"garbled": [None]}, "garbled", None, -1)

Spans = Sequence[tuple[int, int]]


def mutants(
    text: str, *, spans: Spans = (), lines: Iterable[int] = (), paths: Iterable[str] = ()
) -> Iterator[Mutant]:
    """Yield mutants, those of the regions that a check named first.

    `spans` are regions that it matched (offsets), `lines` are lines that it reported (from 1),
    `paths` the values that it looks at in data.
    """
    seen = {text}
    for mutant in _all(text, spans, tuple(lines), tuple(paths)):
        if mutant.text not in seen and mutant.text.strip():
            seen.add(mutant.text)
            yield mutant


def _all(
    text: str, spans: Spans, lines: tuple[int, ...], paths: tuple[str, ...]
) -> Iterator[Mutant]:
    if spans:
        yield Mutant("without what matched", _replace_spans(text, spans, is_garbled=False))
        yield Mutant("what matched garbled", _replace_spans(text, spans, is_garbled=True))
    for line in lines:
        yield Mutant(f"without line {line}", _cut(text, line - 1, line))
        yield Mutant(f"line {line} garbled", _garble_line(text, line))
    yield from _of_data(text, paths)
    yield from _of_sections(text, lines)
    yield from _of_markdown(text)
    yield from _of_lines(text)
    yield Mutant("all letters garbled", garble(text))
    yield from insert_flaws(text)


def grown(text: str) -> Iterator[Mutant]:
    """Yield the text much longer than it is: more of all its parts, and one long line."""
    most = (10, *(size // max(len(text), 1) for size in SIZES))
    for times in dict.fromkeys(times for times in most if times >= 10):
        yield Mutant(f"{times} times the text", (text.rstrip("\n") + "\n\n") * times)
    yield Mutant("with a line of 100,000 characters", f"{text.rstrip()}\n\n{'long ' * 20_000}\n")


def garble(text: str) -> str:
    """Return a text of the same shape with other letters and digits."""
    turned = codecs.encode(text, "rot13")
    return re.sub(r"\d", lambda digit: str((int(digit.group()) + 5) % 10), turned)


def _replace_spans(text: str, spans: Spans, *, is_garbled: bool) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], garble(text[start:end]) if is_garbled else ""]
        at = end
    return "".join([*parts, text[at:]])


def _cut(text: str, first: int, end: int) -> str:
    lines = split(text)
    return "".join(lines[:first] + lines[end:])


def _garble_line(text: str, line: int) -> str:
    lines = split(text)
    return "".join([*lines[: line - 1], *map(garble, lines[line - 1 : line]), *lines[line:]])


def _of_sections(text: str, lines: tuple[int, ...]) -> Iterator[Mutant]:
    """Yield the text without its sections, those around the lines first."""
    headings = outline(text).headings
    named = [h for h in headings if any(h.line < line <= h.end for line in lines)]
    others = [heading for heading in headings if heading not in named]
    for heading in (*reversed(named), *others[:MOST_PARTS]):
        what = f"section '{heading.title}'"
        yield Mutant(f"without {what}", _cut(text, heading.line, heading.end))
        yield Mutant(f"{what} without its text", _cut(text, heading.body, heading.end))


def _of_markdown(text: str) -> Iterator[Mutant]:
    fences = outline(text).fences
    lines = split(text)
    broken, gone = list(lines), list(lines)
    for fence in reversed(fences):
        broken.insert(fence.first, "{[(\n")
        del gone[fence.first - 1 : fence.last + fence.closed]
    yield Mutant("without fenced blocks", "".join(gone))
    yield Mutant("fenced blocks garbled", "".join(broken))
    yield Mutant("fenced blocks without a language", _TAG.sub(r"\1", text))
    yield Mutant("without headings", _HEADING.sub("", text))
    yield Mutant("without links", _LINK.sub(" ", text))
    yield Mutant("links that lead nowhere", _TARGET.sub("](./garbled-nowhere.md", text))


def _of_lines(text: str) -> Iterator[Mutant]:
    lines = split(text)
    half = len(lines) // 2
    yield Mutant("without its first half", "".join(lines[half:]))
    yield Mutant("without its second half", "".join(lines[:half]))
    step = max(len(lines) // MOST_PARTS, 1)
    for number in range(0, len(lines), step)[:MOST_PARTS]:
        yield Mutant(f"without line {number + 1}", _cut(text, number, number + 1))
    yield Mutant("its first line alone", _cut(text, 1, len(lines)))


def _of_data(text: str, paths: tuple[str, ...]) -> Iterator[Mutant]:
    """Yield the text with values of its data removed or garbled: its own, or of its blocks."""
    for first, end, inner in _pieces(text):
        for what, value in _change_values(inner, paths):
            lines = split(text)
            try:
                piece = json.dumps(value, default=str, indent=1, ensure_ascii=False) + "\n"
            except TypeError:  # a key that JSON does not have, such as a date
                return
            yield Mutant(what, "".join([*lines[:first], piece, *lines[end:]]))


def _pieces(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the regions of lines that hold data of JSON or YAML, with their values."""
    whole = _data(text, "json" if text.lstrip()[:1] in ("{", "[") else "yaml")
    if isinstance(whole, dict | list):
        yield 0, len(split(text)), whole
        return
    before = front_matter(text)
    if before and before.closed and before.language != "toml":
        value = _data(before.text, before.language)
        if isinstance(value, dict):
            yield before.first, before.last, value
    for fence in outline(text).fences[:MOST_PARTS]:
        language = {"yml": "yaml"}.get(fence.language, fence.language)
        value = _data(fence.text, language) if language in ("json", "yaml") else None
        if isinstance(value, dict | list) and not fence.nested:
            yield fence.first, fence.last, value


def _data(text: str, language: str) -> Any:
    try:
        documents = read_data(text, language)
    except (DataSyntaxError, ArtifactError):
        return None
    return documents[0].value if len(documents) == 1 else None


def _change_values(value: Any, paths: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for path in paths:
        try:
            wanted = parse(path)
        except PathSyntaxError:
            continue
        steps = [found.path for found in find(value, wanted)]
        if not steps:
            yield f"{path} planted", _set_at(value, wanted)
            continue
        yield f"without {path}", _with(value, steps, remove=True)
        for number, garbage in enumerate(_GARBAGE, 1):
            yield f"{path} garbled ({number})", _with(value, steps, garbage)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    for key in keys[:MOST_PARTS]:
        yield f"without {key}", _with(value, [(key,)], remove=True)
    for key in keys[:MOST_PARTS]:
        yield f"{key} garbled", _with(value, [(key,)], _GARBAGE[0])


def _set_at(value: Any, steps: Sequence[Any]) -> Any:
    """Return a copy with a value at a path; the same value where the path names no place."""
    changed = inner = copy.deepcopy(value)
    for step in steps[:-1]:
        if not isinstance(inner, dict):
            return value
        inner = inner.setdefault(step, {})
    if isinstance(inner, dict) and steps:
        inner[steps[-1]] = "planted"
    return changed


def _with(
    value: Any, places: Sequence[Sequence[Any]], new: Any = None, *, remove: bool = False
) -> Any:
    """Return a copy with other values at some places, or with nothing there."""
    changed = copy.deepcopy(value)
    for steps in reversed(places):
        if not steps:
            changed = {} if remove else new
            continue
        inner = changed
        for step in steps[:-1]:
            inner = inner[step]
        if remove:
            del inner[steps[-1]]
        else:
            inner[steps[-1]] = new
    return changed
