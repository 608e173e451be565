"""Which parts of an artifact changed, by the names that people know them by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pytest_reflex.documents.data_tree import top_keys
from pytest_reflex.documents.lines import starts
from pytest_reflex.documents.outline import outline

BEFORE_HEADINGS = "(top)"
WHOLE = "(text)"
# Beyond this a list of parts helps nobody, and finding them takes seconds.
MOST_LINES = 50_000


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
    """Return the parts of a text by name; a name that comes again is numbered.

    A text of more than MOST_LINES lines is one part.
    """
    if not text.strip():
        return {}
    if text.count("\n") > MOST_LINES:
        return {WHOLE: text}
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
    names = _numbered((heading.title for heading in headings), parts)
    for name, start, end in zip(names, cuts, [*cuts[1:], len(text)], strict=True):
        parts[name] = text[start:end].rstrip()
    return parts


def _of_data(text: str) -> dict[str, str]:
    found = list(top_keys(text))
    names = _numbered(key for key, _ in found)
    return {
        name: text[value.start : value.end] for name, (_, value) in zip(names, found, strict=True)
    }


def _numbered(names: Iterable[str], taken: Collection[str] = ()) -> Iterator[str]:
    """Yield names of which none comes twice, or is one of `taken`."""
    used, last = set(taken), dict.fromkeys(taken, 1)
    for name in names:
        candidate = name
        while candidate in used:
            last[name] = last.get(name, 1) + 1
            candidate = f"{name} ({last[name]})"
        used.add(candidate)
        yield candidate
