"""The sections of a Markdown text as operators see them: taken out, emptied, put somewhere else.

Headings are found by a line that begins with `#` outside of code blocks and comments; `with_hashes`
writes underlined ones so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?: *>)* *(?P<fence>```+|~~~+)[^\n]*\n.*?^(?: *>)* *(?P=fence)[`~]*[ \t]*$\n?",
    re.MULTILINE | re.DOTALL,
)
_HIDDEN = re.compile(rf"{FENCE.pattern}|<!--.*?-->|\A---\n.*?^---$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$\n?", re.MULTILINE)
_UNDERLINED = re.compile(r"^(?! {4}|[ \t]*[-*+>|#] )(\S[^\n]*)\n(=+|-{3,})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is under it: from `start` its line, from `body` its text, up to `end`."""

    level: int
    title: str
    start: int
    body: int
    end: int


def hide(text: str) -> str:
    """Return the text with blanks for what holds no headings: code, comments, front matter."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def is_open(text: str) -> bool:
    """Whether a code block has no end, so that what is appended is code too."""
    return bool(re.search(r"^ {0,3}(?:```|~~~)", hide(text), re.MULTILINE))


def sections(text: str) -> list[Section]:
    """Return the sections; each lasts until the next one of its level or a higher one."""
    found = list(_HEADING.finditer(hide(text)))
    ends = (
        next((m.start() for m in found[n + 1 :] if len(m[1]) <= len(one[1])), len(text))
        for n, one in enumerate(found)
    )
    return [
        Section(len(one[1]), one[2], one.start(), one.end(), end)
        for one, end in zip(found, ends, strict=True)
    ]


def with_hashes(text: str) -> str:
    """Return the text with `#` for each heading that is underlined."""
    for found in reversed(list(_UNDERLINED.finditer(hide(text)))):
        level = "#" if found[2][0] == "=" else "##"
        text = f"{text[: found.start()]}{level} {found[1]}{text[found.end() :]}"
    return text


def titled(change: Callable[[Section], str], text: str) -> str:
    """Return the text with other lines for its headings."""
    for section in reversed(sections(text)):
        text = f"{text[: section.start]}{change(section)}\n{text[section.body :]}"
    return text


def cut(words: str, text: str) -> str | None:
    """Take the sections out in whose title a pattern is found, but none of level 1."""
    found = _outermost(_named(words, text))
    for section in reversed(found):
        text = text[: section.start] + text[section.end :]
    return text if found else None


def empty(words: str, text: str) -> str | None:
    """Take out what stands in these sections, and leave their headings."""
    found = _outermost(_named(words, text))
    for section in reversed(found):
        text = f"{text[: section.body]}\n{text[section.end :]}"
    return text if found else None


def rename(words: str, text: str) -> str | None:
    """Give these sections a title that says nothing."""
    found = _named(words, text)
    for section in reversed(found):
        text = f"{text[: section.start]}{'#' * section.level} Notes\n{text[section.body :]}"
    return text if found else None


def _named(words: str, text: str) -> list[Section]:
    pattern = re.compile(words, re.IGNORECASE)
    return [s for s in sections(text) if s.level > 1 and pattern.search(s.title)]


def _outermost(found: list[Section]) -> list[Section]:
    return [s for s in found if not any(o.start < s.start < o.end for o in found)]
