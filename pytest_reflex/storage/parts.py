"""An artifact taken apart into named parts that give its exact text again, and put together anew.

A part is a heading with the text up to the next heading of any level, the text before the first
one, front matter, or a first key of JSON or YAML with its value. Blanks between two parts belong to
neither: they are gaps. Here is also which parts changed, by the names that people know them by,
and how those that are not named are put back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from pytest_reflex.text.data_tree import LONGEST, Node, looks_like_data, whole_tree
from pytest_reflex.text.lines import BOM, newline_of, starts
from pytest_reflex.text.outline import front_matter_lines, outline

BEFORE_HEADINGS = "(top)"
FRONT_MATTER = "(front matter)"
# Beyond this a list of parts is of no use, and finding them takes seconds.
MOST_LINES = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """One part: its name, unique in the text, and its exact text without the gap behind it.

    `level` is that of a heading, 1 to 6; 0 for everything else. `line` is its first, from 1.
    """

    name: str
    text: str
    level: int = 0
    line: int = 1


@dataclass(frozen=True, kw_only=True)
class TextParts:
    """All parts of a text in order, with the gap behind each; `kind` is "markdown" or "data".

    `between` is a gap that may stand between any two parts.
    """

    kind: str
    parts: tuple[TextPart, ...]
    gaps: tuple[str, ...]
    between: str

    @property
    def text(self) -> str:
        return "".join(p.text + gap for p, gap in zip(self.parts, self.gaps, strict=True))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The number of each part by its name, from 0."""
        return {part.name: place for place, part in enumerate(self.parts)}

    def follower(self, name: str) -> str | None:
        """Return the name of the part behind another, None where there is none."""
        place = self.places.get(name, len(self.parts)) + 1
        return self.parts[place].name if place < len(self.parts) else None


@lru_cache(maxsize=8)  # each step asks for those of the last artifacts again
def parts_of(text: str) -> TextParts | None:
    """Return the parts of a text; None where it has neither headings nor first keys, or is huge."""
    if not text.strip() or text.count("\n") > MOST_LINES:
        return None
    return _of_data(text) or _of_markdown(text)


def _of_markdown(text: str) -> TextParts | None:
    matter = front_matter_lines(text.removeprefix(BOM))
    headings = [heading for heading in outline(text).headings if heading.line >= matter]
    if not headings and not matter:
        return None
    offsets = starts(text)
    special = [(FRONT_MATTER, 0, 0, 1)] if matter else []
    special.append((BEFORE_HEADINGS, 0, offsets[matter], matter + 1))
    names = number_names((h.title for h in headings), [name for name, *_ in special])
    found = [
        (name, h.level, offsets[h.line], h.line + 1)
        for name, h in zip(names, headings, strict=True)
    ]
    cut = [*special, *found]
    ends = [*(offset for _, _, offset, _ in cut[1:]), len(text)]
    parts, gaps = [], []
    for (name, level, start, line), end in zip(cut, ends, strict=True):
        whole = text[start:end]
        body = whole.rstrip()
        parts.append(TextPart(name=name, text=body, level=level, line=line))
        gaps.append(whole[len(body) :])
    return TextParts(
        kind="markdown", parts=tuple(parts), gaps=tuple(gaps), between=newline_of(text) * 2
    )


def _of_data(text: str) -> TextParts | None:
    whole = whole_tree(text) if len(text) <= LONGEST else None
    if whole is None or not looks_like_data(whole[0]):
        return None
    root = whole[0]
    spans = list(_flow_spans(root) if root.flow else _block_spans(text, root))
    names = number_names((str(e.key.value) for e in root.entries if e.key), [BEFORE_HEADINGS])
    if not spans or any(b < a for (_, a), (b, _) in pairwise(spans)):
        return None
    head = text[: spans[0][0]]
    parts = [TextPart(name=BEFORE_HEADINGS, text=head)]
    parts += [
        TextPart(name=name, text=text[a:b], line=text.count("\n", 0, a) + 1)
        for name, (a, b) in zip(names, spans, strict=True)
    ]
    edges = [*(start for start, _ in spans[1:]), len(text)]
    gaps = [text[end:edge] for (_, end), edge in zip(spans, edges, strict=True)]
    default = newline_of(text) if not root.flow else ", "
    between = gaps[0] if len(gaps) > 1 else default
    return TextParts(kind="data", parts=tuple(parts), gaps=("", *gaps), between=between)


def _flow_spans(root: Node) -> Iterator[tuple[int, int]]:
    for entry in root.entries:
        assert entry.key is not None
        yield entry.key.start, entry.value.end


def _block_spans(text: str, root: Node) -> Iterator[tuple[int, int]]:
    """Yield spans of whole lines: from a key to what precedes the next, without blank lines."""
    cuts = [_line_start(text, entry.key.start) for entry in root.entries if entry.key]
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        yield start, start + len(text[start:end].rstrip())


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def number_names(names: Iterable[str], taken: Collection[str] = ()) -> Iterator[str]:
    """Yield names of which none comes twice, or is one of `taken`."""
    used, last = set(taken), dict.fromkeys(taken, 1)
    for name in names:
        candidate = name
        while candidate in used:
            last[name] = last.get(name, 1) + 1
            candidate = f"{name} ({last[name]})"
        used.add(candidate)
        yield candidate


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


def find_changes(old: str, new: str) -> Changed:
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
    # The braces around the keys of data are not part that changes, and neither is nothing.
    return {part.name: part.text for part in found.parts if part.text.strip(_NOTHING)}


def merge(old: str, new: str, chosen: Collection[str]) -> str | None:
    """Return `old` with the `chosen` parts as they are in `new`.

    None where the parts of one of them are unknown, or would not be the same parts in the
    result: an unfinished code fence in one part swallows the next.
    """
    before, after = parts_of(old), parts_of(new)
    if before is None or after is None or before.kind != after.kind:
        return None
    order = _order(_names(before), _names(after), frozenset(chosen))
    merged = _join(order, before, after, frozenset(chosen))
    found = parts_of(merged)
    wanted = [(before, after)[name in chosen] for name in order]
    if found is None or [p.text for p in found.parts] != [
        _part(source, name).text for source, name in zip(wanted, order, strict=True)
    ]:
        return None
    return merged


def find_moved(old: str, new: str, chosen: Collection[str]) -> list[str]:
    """Return the parts that are in both, are not chosen, and come in another order."""
    before, after = parts_of(old), parts_of(new)
    if before is None or after is None:
        return []
    one, other = (
        [name for name in _names(parts) if name not in chosen] for parts in (before, after)
    )
    common = set(one) & set(other)
    one, other = ([name for name in names if name in common] for names in (one, other))
    stayed = _in_order(one, other)
    return [name for name in one if name not in stayed]


def _names(parts: TextParts) -> list[str]:
    return [part.name for part in parts.parts]


def _order(old: list[str], new: list[str], chosen: frozenset[str]) -> list[str]:
    """Return the names of the parts of the result, in order."""
    stayed = _in_order(old, new)
    # A chosen part that is new or was moved goes where it is in the new text.
    kept = [name for name in old if name not in chosen or name in stayed]
    behind: dict[str | None, list[str]] = {None: [], **{name: [] for name in kept}}
    place = None
    for name in new:
        if name in behind:
            place = name
        elif name in chosen:
            behind[place].append(name)
    return behind[None] + [name for one in kept for name in (one, *behind[one])]


def _in_order(old: list[str], new: list[str]) -> set[str]:
    """Return as many names as there are that come in the same order in both.

    That is the longest rising row of places in `old`, found in n log n: a text may have thousands
    of parts.
    """
    places = {name: place for place, name in enumerate(old)}
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for place in (places[name] for name in new if name in places):
        length = bisect_left(ends, place)
        before[place] = ends[length - 1] if length else None
        ends[length : length + 1] = [place]
    found, last = set(), ends[-1] if ends else None
    while last is not None:
        found.add(old[last])
        last = before[last]
    return found


def _join(order: list[str], old: TextParts, new: TextParts, chosen: frozenset[str]) -> str:
    pieces = []
    for index, name in enumerate(order):
        first, second = (new, old) if name in chosen else (old, new)
        following = order[index + 1] if index + 1 < len(order) else None
        pieces += [_part(first, name).text, _gap(first, second, name, following)]
    return "".join(pieces)


def _gap(first: TextParts, second: TextParts, name: str, following: str | None) -> str:
    """Return what stands behind a part: as in the text that it comes from, if it can."""
    if following is None:
        ends = (p.gaps[-1] for p in (first, second) if p.parts[-1].name == name)
        return next(ends, first.gaps[-1])
    for parts in (first, second):
        if name in parts.places and parts.follower(name) == following:
            return parts.gaps[parts.places[name]]
    place = first.places.get(name, 0)
    return first.gaps[place] if 0 < place < len(first.parts) - 1 else first.between


def _part(parts: TextParts, name: str) -> TextPart:
    return parts.parts[parts.places[name]]
