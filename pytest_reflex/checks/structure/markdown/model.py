"""Markdown as checks see it: headings, sections, fenced blocks, paragraphs and links with lines.

A document is parsed once and kept for the checks that follow; inline text is parsed only where one
asks for it. All lines are 1-based.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from html import unescape
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.structure.markdown.elements import (
    Block,
    Link,
    MarkdownHeading,
    Paragraph,
    Section,
)
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.lines import starts
from pytest_reflex.text.outline import block_tokens, inline_tokens, outline

if TYPE_CHECKING:
    from markdown_it.token import Token

    from pytest_reflex.model.artifact import Artifact

__all__ = [
    "Block",
    "Link",
    "Markdown",
    "MarkdownHeading",
    "Paragraph",
    "Section",
    "blocks",
    "of",
    "parse",
    "sections",
]

MAX_CHARACTERS = 2_000_000
MAX_LINES = 100_000
MAX_PIPES = 200_000  # each may be a cell of a table: 17 µs and 850 bytes
MAX_MARKS = 300_000  # in what is not a code block; each may be a token: 16 µs and 700 bytes
MAX_LINK_WORK = 5_000_000_000  # brackets times characters of a paragraph; about 10 s

_MARKDOWN = "Markdown"
_OTHER_MARKUP = {
    **dict.fromkeys((".rst", ".rest"), "reStructuredText"),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), "AsciiDoc"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "HTML"),
    **dict.fromkeys((".tex", ".latex"), "LaTeX"),
    ".org": "Org",
    ".textile": "Textile",
    **dict.fromkeys((".mediawiki", ".wiki"), "wiki markup"),
    **dict.fromkeys((".docx", ".odt", ".rtf", ".pdf"), "no plain text"),
    ".pod": "POD",
    ".rdoc": "RDoc",
    ".creole": "Creole",
    ".typ": "Typst",
    ".ipynb": "a notebook",
    **dict.fromkeys((*(f".{number}" for number in range(1, 9)), ".man", ".mdoc"), "a manual page"),
}
_MARKS = "*_`[!<&\\\n"
_HTML_COMMENT = re.compile(r"<!--(?:.*?-->|.*\Z)", re.DOTALL)
_HTML_LINK = re.compile(
    r"""<(a|img|source|video|iframe)\s[^<>]*?\b(?:href|src)\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)""",
    re.IGNORECASE,
)
# What a heading holds ends before the next one, so that no text is read twice.
_HTML_HEADING = re.compile(
    r"<h([1-6])(?:\s[^<>]*)?>(?:((?:[^<]++|<(?!/?h[1-6][\s>]))*+)</h\1\s*>)?", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]*>")
_HTML_ANCHOR = re.compile(r"""<[a-z][^<>]*?\s(?:id|name)\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)


class Markdown:
    """One parsed document. Everything is derived on first use and kept."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens, self._environment = block_tokens(text)
        self._work = 0
        self._marks = 0

    @cached_property
    def blocks(self) -> list[Block]:
        """The fenced code blocks, wherever they are nested."""
        return [
            Block(
                language=fence.language,
                text=fence.text,
                line=fence.first + 1,
                marker=fence.marker,
                # A list item or a quotation ends, and its fence with it.
                closed=fence.closed or fence.nested,
            )
            for fence in outline(self.text).fences
        ]

    @cached_property
    def headings(self) -> list[MarkdownHeading]:
        """All headings in the order of the text."""
        return [
            MarkdownHeading(
                title=self.plain(self.tokens[index + 1]),
                level=int(token.tag[1]),
                line=token.map[0] + 1,
                setext=token.markup in ("=", "-"),
                nested=token.level > 0,
                anchor_text="".join(map(_visible, self.children(self.tokens[index + 1]))),
            )
            for index, token in enumerate(self.tokens)
            if token.type == "heading_open" and token.map
        ]

    @cached_property
    def sections(self) -> list[Section]:
        """One section for each heading that is not nested."""
        offsets = starts(self.text)
        plain = [heading for heading in self.headings if not heading.nested]
        return [
            Section(title.title, own.level, own.line + 1, offsets[own.body], offsets[own.end])
            for title, own in zip(plain, outline(self.text).headings, strict=True)
        ]

    @cached_property
    def paragraphs(self) -> list[Paragraph]:
        """All paragraphs: of the text, of list items and of quotations; no headings, no cells."""
        found: list[Paragraph] = []
        containers: list[str] = []
        for index, token in enumerate(self.tokens):
            if token.type in ("list_item_open", "blockquote_open"):
                containers.append(token.type)
            elif token.type in ("list_item_close", "blockquote_close"):
                containers.pop()
            elif token.type == "paragraph_open" and token.map:
                found.append(
                    Paragraph(
                        text=self.plain(self.tokens[index + 1]),
                        line=token.map[0] + 1,
                        in_list="list_item_open" in containers,
                        in_quote="blockquote_open" in containers,
                    )
                )
        return found

    @cached_property
    def links(self) -> list[Link]:
        """Links and images, those of raw HTML after those of Markdown."""
        found: list[Link] = []
        inside = 0
        for child, line in self.inline():
            if child.type in ("link_open", "link_close"):
                inside = len(found) + 1 if child.type == "link_open" else 0
            if child.type == "link_open":
                found.append(Link(str(child.attrs.get("href", "")), line))
            elif child.type == "image":
                found.append(Link(str(child.attrs.get("src", "")), line, image=True))
            elif inside and child.content:
                link = found[inside - 1]
                found[inside - 1] = replace(link, text=link.text + _visible(child))
        for match, line in self._in_html(_HTML_LINK):
            found.append(Link(match[2].strip("\"'"), line, image=match[1].lower() != "a"))
        return found

    @cached_property
    def html(self) -> list[tuple[str, int]]:
        """Pieces of raw HTML with their lines; comments are blank."""
        blocks = [(t.content, t.map[0] + 1 if t.map else 0) for t in self.tokens]
        pieces = [p for p, t in zip(blocks, self.tokens, strict=True) if t.type == "html_block"]
        pieces += [(child.content, line) for child, line in self.inline() if _is_html(child)]
        return [(without_comments(html), line) for html, line in pieces]

    @cached_property
    def html_anchors(self) -> set[str]:
        """Values of `id` and `name` attributes in raw HTML."""
        return {name for html, _ in self.html for name in _HTML_ANCHOR.findall(html)}

    @cached_property
    def html_headings(self) -> list[MarkdownHeading]:
        """Headings that are written as raw HTML."""
        return [
            MarkdownHeading(
                "", int(match[1]), line, anchor_text=unescape(_TAG.sub("", match[2] or ""))
            )
            for match, line in self._in_html(_HTML_HEADING)
        ]

    def _in_html(self, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int]]:
        """Yield what a pattern finds in raw HTML, with its line."""
        for html, line in self.html:
            counted = 0
            for match in pattern.finditer(html):
                line += html.count("\n", counted, match.start())
                counted = match.start()
                yield match, line

    @property
    def references(self) -> dict[str, Any]:
        """Link reference definitions by normalised label."""
        found: dict[str, Any] = self._environment.get("references", {})
        return found

    def inline(self) -> Iterator[tuple[Token, int]]:
        """Yield every inline token with its line."""
        for token in self.tokens:
            if token.type == "inline":
                line = token.map[0] + 1 if token.map else 0
                for child in self.children(token):
                    yield child, line
                    line += child.type in ("softbreak", "hardbreak")

    def prose_lines(self) -> Iterator[tuple[str, int]]:
        """Yield the words of every paragraph, heading and cell with their line.

        Code, and the words of a link that leads somewhere, are a mark that is not a word.
        """
        for token in self.tokens:
            if token.type == "inline":
                words, inside = [], False
                for child in self.children(token):
                    if child.type in ("link_open", "link_close"):
                        inside = child.attrs.get("href", "#") not in ("", "#")
                    elif inside or child.type == "code_inline":
                        words.append("`")
                    else:
                        words.append(_visible(child))
                yield "".join(words), token.map[0] + 1 if token.map else 0

    def plain(self, token: Token) -> str:
        """Return the words of an inline token on one line; images and raw HTML have none."""
        return "".join(_visible(child) for child in self.children(token)).strip()

    def children(self, token: Token) -> list[Token]:
        """Return what is within an inline token; parsed on first use."""
        if not token.children and token.content:
            self._spend(token)
            token.children = inline_tokens(token.content, self._environment)
        return token.children or []

    def _spend(self, token: Token) -> None:
        # The inline parser looks for the end of a link from every bracket.
        self._work += token.content.count("[") * len(token.content)
        self._marks += sum(token.content.count(mark) for mark in _MARKS)
        if self._work > MAX_LINK_WORK:
            raise _too_many("brackets in one paragraph", token)
        if self._marks > MAX_MARKS:
            raise _too_many("marks of emphasis, code and links", token)


def blocks(text: str) -> list[Block]:
    """Return the fenced code blocks of a Markdown text."""
    return parse(text).blocks


def sections(text: str) -> list[Section]:
    """Return the sections of a Markdown text."""
    return parse(text).sections


@lru_cache(maxsize=2)
def parse(text: str) -> Markdown:
    """Return the parsed document, from the cache where it is the text of a moment ago.

    Raises ArtifactError above `MAX_CHARACTERS`, `MAX_LINES` or `MAX_PIPES`.
    """
    for size, limit, unit in (
        (len(text), MAX_CHARACTERS, "characters"),
        (text.count("\n"), MAX_LINES, "lines"),
        (text.count("|"), MAX_PIPES, "pipes"),
    ):
        if size > limit:
            raise ArtifactError(
                f"too large to parse as Markdown: {size:,} {unit}, the limit is {limit:,}",
                hint="split it, or use a content check without section and block",
                reading=_MARKDOWN,
            )
    return Markdown(text)


def of(artifact: Artifact) -> Markdown:
    """Return the parsed document of a file; raises ArtifactError for one of another markup too."""
    if markup := _OTHER_MARKUP.get(PurePath(artifact.name).suffix.lower()):
        raise ArtifactError(
            f"{artifact.name} is {markup}, and this check reads Markdown",
            hint="use content or executable checks for it",
            reading=_MARKDOWN,
        )
    return parse(artifact.text)


def without_comments(html: str) -> str:
    """Return a text with blank lines for the comments of HTML in it."""
    return _HTML_COMMENT.sub(_blank, html)


def _too_many(what: str, token: Token) -> ArtifactError:
    return ArtifactError(
        f"too many {what} to parse as Markdown: line {token.map[0] + 1 if token.map else 0}",
        hint="put code and data into fenced blocks",
        reading=_MARKDOWN,
    )


def _visible(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "" if token.type in ("html_inline", "image") else token.content


def _is_html(token: Token) -> bool:
    return token.type == "html_inline"


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment.group().count("\n")
