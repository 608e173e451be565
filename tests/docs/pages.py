"""The pages of the documentation as the examples in them: fenced blocks, in the order of the page.

A block whose info string has ``title="NAME"`` is a file; a ``console`` block is a dialogue with a
shell; a ``python`` block is run. A comment ``<!-- not run: reason -->`` before a block excuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
DATA_LANGUAGES = ("yaml", "json", "toml")

_TITLE = re.compile(r'title="([^"]+)"')
_EXCUSE = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block; `line` is the 1-based line of its fence, `excuse` why it is not run."""

    language: str
    title: str
    text: str
    line: int
    excuse: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A command with the lines that it is said to print; `line` is its 1-based line in the page."""

    command: str
    expected: str
    line: int


def page_paths() -> list[Path]:
    """Return every page that has examples: the README, and all that is under docs and examples."""
    folders = (ROOT / "docs", ROOT / "examples")
    found = [path for folder in folders for path in sorted(folder.rglob("README.md"))]
    found += [path for path in sorted((ROOT / "docs").rglob("*.md")) if path not in found]
    return [ROOT / "README.md", *found]


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    excuse = ""
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "html_block":
            found = _EXCUSE.search(token.content)
            excuse = found.group(1) if found else ""
        elif token.type == "fence":
            yield _block(token, excuse)
            excuse = ""
        elif token.type in ("paragraph_open", "heading_open"):
            excuse = ""


def _block(token: Token, excuse: str) -> Block:
    title = _TITLE.search(token.info)
    assert token.map is not None
    return Block(
        language=(token.info.split() or [""])[0],
        title=title.group(1) if title else "",
        text=token.content,
        line=token.map[0] + 1,
        excuse=excuse,
    )


def exchanges(block: Block) -> list[Exchange]:
    """Return the commands of a console block; a command may go on after a final backslash."""
    found: list[Exchange] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if line.startswith("$ "):
            found.append(Exchange(line[2:], "", number))
            continue
        if not found:
            raise ValueError(f"line {number}: a console block starts with `$ command`")
        last = found.pop()
        if not last.expected and last.command.endswith("\\"):
            found.append(Exchange(f"{last.command}\n{line}", "", last.line))
        else:
            found.append(Exchange(last.command, f"{last.expected}{line}\n", last.line))
    return found
