"""Where the headings and fenced blocks of a Markdown text lie, in its own lines.

CommonMark through markdown-it-py, block structure only, imported on first use. Line numbers are
0-based and count CRLF, LF and CR as line ends. YAML front matter is not part of the outline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_LINE_END = re.compile(r"\r\n|\r")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document itself (none in lists or quotations).

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
    """A fenced block: content is the lines `first` to `last` (exclusive), `text` without indent."""

    language: str
    first: int
    last: int
    text: str
    closed: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """Headings and fences in the order of the text, and its number of lines."""

    headings: tuple[Heading, ...]
    fences: tuple[Fence, ...]
    lines: int


@lru_cache(maxsize=4)
def outline(text: str) -> Outline:
    """Return the outline of a Markdown text."""
    clean = _LINE_END.sub("\n", text)
    lines = _count(clean)
    tokens = _parser().parse(_without_front_matter(clean))
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
            closed = token.map[1] - token.map[0] > _count(token.content) + 1
            fences.append(
                Fence(
                    language=words[0].lower() if words else "",
                    first=token.map[0] + 1,
                    last=token.map[1] - closed,
                    text=token.content,
                    closed=closed,
                )
            )
    return Outline(_with_ends(found, lines), tuple(fences), lines)


def _count(clean: str) -> int:
    return clean.count("\n") + bool(clean and not clean.endswith("\n"))


def _with_ends(found: list[tuple[str, int, int, int]], lines: int) -> tuple[Heading, ...]:
    ends = [lines] * len(found)
    open_sections: list[int] = []
    for index, (_, level, line, _) in enumerate(found):
        while open_sections and found[open_sections[-1]][1] >= level:
            ends[open_sections.pop()] = line
        open_sections.append(index)
    return tuple(Heading(*row, end) for row, end in zip(found, ends, strict=True))


def _without_front_matter(clean: str) -> str:
    match = _FRONT_MATTER.match(clean) if clean.startswith("---") else None
    return "\n" * match.group().count("\n") + clean[match.end() :] if match else clean


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable("inline")
