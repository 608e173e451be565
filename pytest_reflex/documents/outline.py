"""Where the headings and fenced blocks of a Markdown text lie, in its own lines (0-based)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_reflex.documents.lines import split
from pytest_reflex.documents.markdown_tokens import block_tokens


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document itself (none in lists or quotations), its title as written.

    `line` is its first line; `body` the line after it; `end` the line after its section, which
    reaches to the next heading of the same or a higher level.
    """

    title: str
    level: int
    line: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: content is the lines `first` to `last` (exclusive), `text` without indent.

    `language` is the first word of its info string in lower case; `marker` is the fence as it was
    written; `nested` where it stands in a list or quotation.
    """

    language: str
    first: int
    last: int
    text: str
    closed: bool
    marker: str
    nested: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """Headings and fences in the order of the text, and its number of lines."""

    headings: tuple[Heading, ...]
    fences: tuple[Fence, ...]
    lines: int


@lru_cache(maxsize=4)
def outline(text: str) -> Outline:
    """Return the outline of a Markdown text."""
    tokens = block_tokens(text).blocks
    found: list[tuple[str, int, int, int]] = []
    fences = []
    for index, token in enumerate(tokens):
        if not token.map:
            continue
        if token.type == "heading_open" and token.level == 0:
            title = " ".join(tokens[index + 1].content.split())
            found.append((title, int(token.tag[1]), token.map[0], token.map[1]))
        elif token.type == "fence":
            words = token.info.split()
            closed = token.map[1] - token.map[0] > len(split(token.content)) + 1
            fences.append(
                Fence(
                    language=words[0].lower() if words else "",
                    first=token.map[0] + 1,
                    last=token.map[1] - closed,
                    text=token.content,
                    closed=closed,
                    marker=token.markup,
                    nested=token.level > 0,
                )
            )
    lines = len(split(text))
    return Outline(_with_ends(found, lines), tuple(fences), lines)


def _with_ends(found: list[tuple[str, int, int, int]], lines: int) -> tuple[Heading, ...]:
    ends = [lines] * len(found)
    open_sections: list[int] = []
    for index, (_, level, line, _) in enumerate(found):
        while open_sections and found[open_sections[-1]][1] >= level:
            ends[open_sections.pop()] = line
        open_sections.append(index)
    return tuple(Heading(*row, end) for row, end in zip(found, ends, strict=True))
