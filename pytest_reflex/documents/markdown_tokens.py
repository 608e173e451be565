"""A Markdown text as markdown-it-py's block tokens, parsed once for all who look at it.

CommonMark with tables; the library is imported on first use. Inline text is parsed only where one
asks for it: it is most of the work, and few do. Lines are 0-based and end with CRLF, LF or CR.
YAML front matter is not part of a document, but its lines count.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINE_END = re.compile(r"\r\n|\r")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


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


def front_matter_lines(text: str) -> int:
    """Return how many lines YAML front matter has, its marks included; 0 where there is none."""
    match = _front_matter(_LINE_END.sub("\n", text)) if text.startswith("---") else None
    return match[0].rstrip("\n").count("\n") + 1 if match else 0


def _front_matter(clean: str) -> re.Match[str] | None:
    return _FRONT_MATTER.match(clean) if clean.startswith("---") else None


def _without_front_matter(clean: str) -> str:
    match = _front_matter(clean)
    return "\n" * match.group().count("\n") + clean[match.end() :] if match else clean


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")
