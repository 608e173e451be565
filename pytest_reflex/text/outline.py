"""Where the headings and fenced blocks of a Markdown text lie, in its own lines (0-based).

The text is parsed once, as markdown-it-py's block tokens, for all callers: CommonMark with
tables; the library is imported on first use. Inline text is parsed only where one asks for it: it
is most of the work, and few do. Lines end with CRLF, LF or CR. Front matter (YAML between `---`,
TOML between `+++`, JSON in braces; `---toml` and the like say the language) is not part of a
document, but its lines count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_reflex.model.json_fault import json_object
from pytest_reflex.text.lines import split

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_LINE_END = re.compile(r"\r\n|\r")
_SAID = r"(?:[ \t]*(?:ya?ml|toml|json)\b)?"
"""The language behind the first mark, as gray-matter reads it."""

_FRONT_MATTER = {
    "-": re.compile(rf"---{_SAID}[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)"),
    "+": re.compile(r"\+\+\+[ \t]*\n(?:.*\n)*?\+\+\+[ \t]*(?:\n|\Z)"),
    "{": re.compile(r"\{[ \t]*\n(?:.*\n)*?\}[ \t]*(?:\n|\Z)"),
}
"""The forms of front matter, by the character that each begins with."""
_OPENING = re.compile(rf"(?:---{_SAID}|\+\+\+|\{{)[ \t]*(?:\n|\Z)")


class Tokens(NamedTuple):
    """The blocks of a text in their order, and what inline parsing needs to know of them.

    `environment` holds the link reference definitions under `references`.
    """

    blocks: list[Token]
    environment: dict[str, Any]


@lru_cache(maxsize=2)
def block_tokens(text: str) -> Tokens:
    """Return the block tokens of a Markdown text; they are shared: do not change them."""
    environment: dict[str, Any] = {}
    clean = _LINE_END.sub("\n", text)
    return Tokens(_parser().parse(_without_front_matter(clean), environment), environment)


def inline_tokens(text: str, environment: dict[str, Any]) -> list[Token]:
    """Return the tokens of the text within one block; `environment` is that of its document."""
    found: list[Token] = []
    _parser().inline.parse(text, _parser(), environment, found)
    return found


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before a document: `text` are the lines from `first` to `last` (exclusive).

    `language` is yaml, toml or json; the marks of the first two are not part of it. `closed` is
    False where the second mark is missing: then all of the document is in it.
    """

    language: str
    text: str
    first: int
    last: int
    closed: bool = True


_LANGUAGES = {"-": "yaml", "+": "toml", "{": "json"}


def front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text, read or not; None where it does not begin with any.

    Here a brace alone in the first line begins one, whether or not it is JSON in the end.
    """
    clean = _LINE_END.sub("\n", text)
    opening = _OPENING.match(clean)
    if opening is None:
        return None
    marks = 0 if clean[0] == "{" else 1
    match = _FRONT_MATTER[clean[0]].match(clean)
    whole = (match[0] if match else clean).removesuffix("\n").split("\n")
    last = len(whole) - (marks if match else 0)
    inside = "".join(f"{line}\n" for line in whole[marks:last])
    said = opening[0].strip("-+{ \t\n").replace("yml", "yaml")
    return FrontMatter(said or _LANGUAGES[clean[0]], inside, marks, last, match is not None)


def front_matter_lines(text: str) -> int:
    """Return how many lines front matter has, its marks included; 0 where there is none."""
    match = _front_matter(_LINE_END.sub("\n", text)) if text[:1] in _FRONT_MATTER else None
    return match[0].rstrip("\n").count("\n") + 1 if match else 0


def _front_matter(clean: str) -> re.Match[str] | None:
    pattern = _FRONT_MATTER.get(clean[:1])
    match = pattern.match(clean) if pattern else None
    return None if match and clean[0] == "{" and json_object(match[0]) is None else match


def _without_front_matter(clean: str) -> str:
    match = _front_matter(clean)
    return "\n" * match.group().count("\n") + clean[match.end() :] if match else clean


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


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
