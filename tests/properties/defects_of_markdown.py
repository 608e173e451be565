"""Faults of pages in Markdown: a README, a guide and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.properties.defects import Operator, Plant

_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) +(.+)$\n?", re.MULTILINE)
_ACCURACY = "a.correctness.accuracy"
_NEEDS_TEXT = frozenset(
    f"a.completeness.{name}"
    for name in (
        *("sections", "filled", "releases", "changes"),
        *("status", "context", "decision", "consequences"),
    )
)
"""Rules that a text which is put anywhere may satisfy."""
_EXAMPLES, _CONSISTENCY = "a.completeness.examples", "b.style.consistency"


def inserted(*blocks: str) -> Plant:
    """Return a plant of blocks between those of a Markdown text, outside of fences."""

    def plant(text: str) -> Iterator[str]:
        fenced = [range(m.start(), m.end()) for m in _FENCE.finditer(text)]
        gaps = [m.end() for m in re.finditer(r"\n\n(?=[^\s>*+-])", text)]
        places = [at for at in gaps if not any(at in fence for fence in fenced)]
        for block in blocks:
            for at in places[1:]:
                yield f"{text[:at]}{block}\n\n{text[at:]}"
            yield f"{text.rstrip()}\n\n{block}\n"

    return plant


def without_fences(text: str) -> Iterator[str]:
    others = re.search(r"^(?: {4}|\t)|^\|[-| :]+\|$", text, re.MULTILINE)  # code, or a table
    if _FENCE.search(text) and not others:
        yield _FENCE.sub("", text)


def unclosed(text: str) -> Iterator[str]:
    yield f"{text.rstrip()}\n\n```sh\nmake\n"


def second_title(text: str) -> Iterator[str]:
    if any(len(found[1]) == 1 for found in _HEADING.finditer(_FENCE.sub("", text))):
        yield from inserted("# Planted")(text)


def deeper_headings(text: str) -> Iterator[str]:
    above = 0  # a title in the front matter is above any level
    for found in _HEADING.finditer(text):
        if 2 <= len(found[1]) <= above + 1:
            yield f"{text[: found.start()]}{'#' * above}{text[found.start() :]}"
        above = len(found[1])


_LONG = "A sentence " + "that goes on and on " * 14 + "ends."
IN_MARKDOWN = (
    Operator(
        _ACCURACY,
        "a broken block",
        inserted("```json\n{'a': 1}\n```", "```python\na = (\n```"),
        frozenset({_EXAMPLES, *_NEEDS_TEXT}),
    ),
    Operator(
        _ACCURACY,
        "a link to no heading",
        inserted("See [that](#planted-nowhere)."),
        frozenset({"b.completeness.cross-refs", *_NEEDS_TEXT}),
    ),
    Operator(
        _ACCURACY, "a reference to nothing", inserted("See [that][planted-nowhere]."), _NEEDS_TEXT
    ),
    Operator(
        _ACCURACY,
        "words left to do",
        inserted("TODO: write this.", "Lorem ipsum dolor sit amet."),
        _NEEDS_TEXT,
    ),
    Operator(_ACCURACY, "a fence without an end", unclosed, frozenset({_EXAMPLES, *_NEEDS_TEXT})),
    Operator(_EXAMPLES, "no block", without_fences, frozenset({_ACCURACY, _CONSISTENCY})),
    Operator(
        "a.quality.clarity",
        "a long sentence",
        inserted(_LONG),
        _NEEDS_TEXT | {"b.quality.audience"},
    ),
    Operator("b.quality.structure", "a second title", second_title, _NEEDS_TEXT),
    Operator("b.quality.structure", "a level too deep", deeper_headings, _NEEDS_TEXT),
    Operator(
        "b.completeness.cross-refs",
        "a dead link",
        inserted("See [that](./planted/no.md)."),
        _NEEDS_TEXT,
    ),
    Operator(
        _CONSISTENCY,
        "a block without a language",
        inserted("```\nplanted\n```"),
        frozenset({_EXAMPLES, *_NEEDS_TEXT}),
    ),
)
