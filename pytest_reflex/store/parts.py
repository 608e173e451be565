"""An artifact taken apart into named parts that give its exact text again, and put together anew.

A part is a heading with the text up to the next heading of any level, the text before the first
one, front matter, or a first key of JSON or YAML with its value. Blanks between two parts belong to
neither: they are gaps.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from pytest_reflex.documents.data_tree import LONGEST, looks_like_data, whole_tree
from pytest_reflex.documents.lines import BOM, newline_of, split, starts
from pytest_reflex.documents.nodes import Node
from pytest_reflex.documents.outline import outline

BEFORE_HEADINGS = "(top)"
FRONT_MATTER = "(front matter)"
# Beyond this a list of parts helps nobody, and finding them takes seconds.
MOST_LINES = 50_000

_FENCE = re.compile(r"---[ \t]*(?:\r\n|\n|\r)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part: its name, unique in the text, and its exact text without the gap behind it.

    `level` is that of a heading, 1 to 6; 0 for everything else. `line` is its first, from 1.
    """

    name: str
    text: str
    level: int = 0
    line: int = 1


@dataclass(frozen=True, kw_only=True)
class Parts:
    """All parts of a text in order, with the gap behind each; `kind` is "markdown" or "data".

    `between` is a gap that may stand between any two parts.
    """

    kind: str
    parts: tuple[Part, ...]
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
def parts_of(text: str) -> Parts | None:
    """Return the parts of a text; None where it has neither headings nor first keys, or is huge."""
    if not text.strip() or text.count("\n") > MOST_LINES:
        return None
    return _of_data(text) or _of_markdown(text)


def _of_markdown(text: str) -> Parts | None:
    matter = _front_matter_lines(text)
    headings = [heading for heading in outline(text).headings if heading.line >= matter]
    if not headings and not matter:
        return None
    offsets = starts(text)
    special = [(FRONT_MATTER, 0, 0, 1)] if matter else []
    special.append((BEFORE_HEADINGS, 0, offsets[matter], matter + 1))
    names = numbered((h.title for h in headings), [name for name, *_ in special])
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
        parts.append(Part(name=name, text=body, level=level, line=line))
        gaps.append(whole[len(body) :])
    return Parts(
        kind="markdown", parts=tuple(parts), gaps=tuple(gaps), between=newline_of(text) * 2
    )


def _front_matter_lines(text: str) -> int:
    """Return how many lines the front matter of a text has, with its fences; 0 for none."""
    lines = split(text.removeprefix(BOM))
    if not lines or not _FENCE.fullmatch(lines[0]):
        return 0
    closing = (n for n, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line))
    return next(closing, -1) + 1


def _of_data(text: str) -> Parts | None:
    whole = whole_tree(text) if len(text) <= LONGEST else None
    if whole is None or not looks_like_data(whole[0]):
        return None
    root = whole[0]
    spans = list(_flow_spans(root) if root.flow else _block_spans(text, root))
    names = numbered((str(e.key.value) for e in root.entries if e.key), [BEFORE_HEADINGS])
    if not spans or any(b < a for (_, a), (b, _) in pairwise(spans)):
        return None
    head = text[: spans[0][0]]
    parts = [Part(name=BEFORE_HEADINGS, text=head)]
    parts += [
        Part(name=name, text=text[a:b], line=text.count("\n", 0, a) + 1)
        for name, (a, b) in zip(names, spans, strict=True)
    ]
    edges = [*(start for start, _ in spans[1:]), len(text)]
    gaps = [text[end:edge] for (_, end), edge in zip(spans, edges, strict=True)]
    default = newline_of(text) if not root.flow else ", "
    between = gaps[0] if len(gaps) > 1 else default
    return Parts(kind="data", parts=tuple(parts), gaps=("", *gaps), between=between)


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


def numbered(names: Iterable[str], taken: Collection[str] = ()) -> Iterator[str]:
    """Yield names of which none comes twice, or is one of `taken`."""
    used, last = set(taken), dict.fromkeys(taken, 1)
    for name in names:
        candidate = name
        while candidate in used:
            last[name] = last.get(name, 1) + 1
            candidate = f"{name} ({last[name]})"
        used.add(candidate)
        yield candidate
