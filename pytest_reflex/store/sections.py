"""Which parts of an artifact changed, by the names that people know them by."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_reflex.documents.lines import BOM
from pytest_reflex.store.parts import parts_of

WHOLE = "(text)"

_NOTHING = BOM + " \t\r\n{"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Names of parts: headings of a Markdown text, first keys of JSON or YAML."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.added, *self.modified, *self.removed)

    def to_json(self) -> dict[str, list[str]]:
        return {
            "added": list(self.added),
            "modified": list(self.modified),
            "removed": list(self.removed),
        }


def changed_sections(old: str, new: str) -> Changed:
    """Return which parts of `new` are not as in `old`, each in the order of its text.

    A text without headings or first keys is one part.
    """
    before, after = sections(old), sections(new)
    return Changed(
        added=tuple(name for name in after if name not in before),
        modified=tuple(name for name in after if before.get(name, after[name]) != after[name]),
        removed=tuple(name for name in before if name not in after),
    )


def sections(text: str) -> dict[str, str]:
    """Return the parts of a text by name; a name that comes again is numbered."""
    found = parts_of(text)
    if found is None:
        return {WHOLE: text} if text.strip() else {}
    # The braces around the keys of data are no part that changes, and neither is nothing.
    return {part.name: part.text for part in found.parts if part.text.strip(_NOTHING)}
