"""Which parts of an artifact changed, by the names that people know them by."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_reflex.documents.data_tree import top_keys
from pytest_reflex.documents.lines import starts
from pytest_reflex.documents.outline import outline

BEFORE_HEADINGS = "(top)"
WHOLE = "(text)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Names of parts: headings of a Markdown text, first keys of JSON or YAML."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.added, *self.modified, *self.removed)


def changed_sections(old: str, new: str) -> Changed:
    """Return which parts of `new` are not as in `old`, each in the order of its text.

    A part is a heading with the text up to the next heading of any level, or a first key with its
    value. A text with neither is one part.
    """
    before, after = sections(old), sections(new)
    return Changed(
        added=tuple(name for name in after if name not in before),
        modified=tuple(name for name in after if before.get(name, after[name]) != after[name]),
        removed=tuple(name for name in before if name not in after),
    )


def sections(text: str) -> dict[str, str]:
    """Return the parts of a text by name; a name that comes again is numbered."""
    if not text.strip():
        return {}
    return _of_data(text) or _of_markdown(text)


def _of_markdown(text: str) -> dict[str, str]:
    headings = outline(text).headings
    if not headings:
        return {WHOLE: text}
    offsets = starts(text)
    cuts = [offsets[heading.line] for heading in headings]
    parts: dict[str, str] = {}
    if text[: cuts[0]].strip():
        parts[BEFORE_HEADINGS] = text[: cuts[0]].rstrip()
    for heading, start, end in zip(headings, cuts, [*cuts[1:], len(text)], strict=True):
        parts[_unused(heading.title, parts)] = text[start:end].rstrip()
    return parts


def _of_data(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for key, value in top_keys(text):
        parts[_unused(key, parts)] = text[value.start : value.end]
    return parts


def _unused(name: str, taken: dict[str, str]) -> str:
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name} ({number})"
    return candidate
