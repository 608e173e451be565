"""The regions of a text that a check looks at, and excerpts of it for findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_reflex.model.plain import boundary, escape_control, one_line

WIDTH = 160
_BEFORE = 60


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of an artifact that begins at the start of line `line` (1-based)."""

    text: str
    line: int = 1

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character offset, in the artifact, 1-based code points."""
        line = self.line + self.text.count("\n", 0, offset)
        return line, offset - self.text.rfind("\n", 0, offset)


def lines_at(part: Region, offsets: Sequence[int], limit: int = 3) -> str:
    """Return the lines at some offsets as `12 | text`, each once, at most `limit` of them."""
    shown: dict[int, str] = {}
    for offset in offsets:
        line, _ = part.position(offset)
        if line not in shown:
            if len(shown) == limit:
                shown[-1] = "..."
                break
            shown[line] = f"{line} | {_line_around(part.text, offset)}"
    return "\n".join(shown.values())


def _line_around(text: str, offset: int) -> str:
    """Return the line at `offset`, or of a long one the stretch around it."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    if end - start <= WIDTH:
        return escape_control(text[start:end])
    left = start if offset - start <= _BEFORE else boundary(text, offset - _BEFORE)
    right = min(end, left + WIDTH)
    right = right if right == end else max(boundary(text, right), left + 1)
    return f"{'…' * (left > start)}{escape_control(text[left:right])}{'…' * (right < end)}"


class MissingPart(Exception):  # noqa: N818 - it is news about the artifact, not a fault
    """The section or block that a check names is not in the text; the message says which."""


def parts_of(text: str, section: str = "", block: str = "") -> list[Region]:
    """Return the whole text, or what lies under the headings `section`, or the blocks in it.

    Headings are compared without regard to case and blanks; `## Usage` asks for the level too.
    `block` is the language of fenced blocks, or `front-matter`. Raises MissingPart where there is
    none.
    """
    if block == "front-matter" and not section:
        return [_front_matter(text)]
    parts = _sections(text, section) if section else [Region(text)]
    return _blocks(parts, block) if block else parts


def _sections(text: str, wanted: str) -> list[Region]:
    from pytest_reflex.checks.structure.markdown.model import sections

    hashes, title = _heading(wanted)
    found = [
        Region(text[s.start : s.end], text.count("\n", 0, s.start) + 1)
        for s in sections(text)
        if _fold(s.title) == title and hashes in (0, s.level)
    ]
    if not found:
        raise MissingPart(f"there is no section '{one_line(wanted, 60)}'")
    return found


def _same(one: str, other: str) -> bool:
    """Return whether two languages are one; .yml and .yaml are endings of the same."""
    return one == other or {one, other} == {"yml", "yaml"}


def _blocks(parts: list[Region], language: str) -> list[Region]:
    from pytest_reflex.checks.structure.markdown.model import blocks

    found = [
        Region(block.text, part.line + block.line - 1)
        for part in parts
        for block in blocks(part.text)
        if _same(block.language, language.lower())
    ]
    if not found:
        raise MissingPart(f"there is no fenced block of the language {one_line(language, 60)}")
    return found


def _front_matter(text: str) -> Region:
    from pytest_reflex.text.outline import front_matter

    found = front_matter(text)
    if found is None:
        raise MissingPart("there is no front matter")
    if not found.closed:
        raise MissingPart("the front matter that begins in line 1 does not end")
    return Region(found.text, found.first + 1)


def _heading(wanted: str) -> tuple[int, str]:
    words = wanted.split(maxsplit=1)
    if len(words) == 2 and set(words[0]) == {"#"}:
        return len(words[0]), _fold(words[1])
    return 0, _fold(wanted)


def _fold(title: str) -> str:
    return " ".join(title.split()).casefold()
