"""What a Markdown text is made of, as frozen values; all lines are 1-based."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced code block; `language` is its info string's first word in lower case.

    `line` is that of the first line of content; `marker` is the fence as it was written; `closed`
    is False where the text ends before the fence does.
    """

    language: str
    text: str
    line: int
    marker: str = "```"
    closed: bool = True


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading as plain text; `nested` where it stands in a list or quotation.

    `anchor_text` is what an anchor is made of: the title with the blanks at its edges.
    """

    title: str
    level: int
    line: int
    setext: bool = False
    nested: bool = False
    anchor_text: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the span of its body: to the next heading of the same or a higher level.

    `start` and `end` are character offsets into the text that was parsed.
    """

    title: str
    level: int
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Prose as plain text; `in_list` where it belongs to a list item, `in_quote` to a quotation."""

    text: str
    line: int
    in_list: bool = False
    in_quote: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link or image, of Markdown or raw HTML; `target` is percent-encoded where needed.

    `text` are the words of a link of Markdown.
    """

    target: str
    line: int
    image: bool = False
    text: str = ""
