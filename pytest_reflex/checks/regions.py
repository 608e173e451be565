"""The pieces of a text that a check looks at: all of it, a Markdown section, its fenced blocks."""

from __future__ import annotations

from pytest_reflex.checks.excerpt import Part
from pytest_reflex.model.plain import one_line


class MissingPart(Exception):  # noqa: N818 - it is news about the artifact, not a fault
    """The section or block that a check names is not in the text; the message says which."""


def parts_of(text: str, section: str = "", block: str = "") -> list[Part]:
    """Return the whole text, or what lies under the headings `section`, or the blocks in it.

    Headings are compared without regard to case and blanks; `## Usage` asks for the level too.
    `block` is the language of fenced blocks, or `front-matter`. Raises MissingPart where there is
    none.
    """
    if block == "front-matter" and not section:
        return [_front_matter(text)]
    parts = _sections(text, section) if section else [Part(text)]
    return _blocks(parts, block) if block else parts


def _sections(text: str, wanted: str) -> list[Part]:
    from pytest_reflex.checks.structure.markdown.model import sections

    hashes, title = _heading(wanted)
    found = [
        Part(text[s.start : s.end], text.count("\n", 0, s.start) + 1)
        for s in sections(text)
        if _folded(s.title) == title and hashes in (0, s.level)
    ]
    if not found:
        raise MissingPart(f"there is no section '{one_line(wanted, 60)}'")
    return found


def _same(one: str, other: str) -> bool:
    """Return whether two languages are one; .yml and .yaml are endings of the same."""
    return one == other or {one, other} == {"yml", "yaml"}


def _blocks(parts: list[Part], language: str) -> list[Part]:
    from pytest_reflex.checks.structure.markdown.model import blocks

    found = [
        Part(block.text, part.line + block.line - 1)
        for part in parts
        for block in blocks(part.text)
        if _same(block.language, language.lower())
    ]
    if not found:
        raise MissingPart(f"there is no fenced block of the language {one_line(language, 60)}")
    return found


def _front_matter(text: str) -> Part:
    from pytest_reflex.text.outline import front_matter

    found = front_matter(text)
    if found is None:
        raise MissingPart("there is no front matter")
    if not found.closed:
        raise MissingPart("the front matter that begins in line 1 does not end")
    return Part(found.text, found.first + 1)


def _heading(wanted: str) -> tuple[int, str]:
    words = wanted.split(maxsplit=1)
    if len(words) == 2 and set(words[0]) == {"#"}:
        return len(words[0]), _folded(words[1])
    return 0, _folded(wanted)


def _folded(title: str) -> str:
    return " ".join(title.split()).casefold()
