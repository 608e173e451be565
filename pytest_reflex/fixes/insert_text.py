"""`insert_text`: put lines beside a line that holds a literal text, or at the start or end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_reflex.fixes.kind import Fault, Field, FixError, Kind, Params
from pytest_reflex.fixes.lines_in import at_end, at_start, beside, is_beside
from pytest_reflex.text.lines import split, with_newline

_END = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"
_LINE_END = re.compile(_END)


def insert_text(params: Params, document: str) -> str:
    """Return the document with `text` in place; the anchor's line is kept whole.

    A line that is the anchor goes before lines that only contain it.
    """
    text = params["text"]
    if "at" in params:
        return at_end(document, text) if params["at"] == "end" else at_start(document, text)
    after = "after" in params
    anchor = params["after" if after else "before"]
    places = list(_lines_with(document, anchor))
    if not places:
        raise FixError(f"insert_text: no line holds {anchor!r}")
    if any(is_beside(document, text, line, after=after) for line in places):
        return document
    return beside(document, text, places[0], after=after)


def _lines_with(document: str, anchor: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the lines that the anchor spans, lines that equal it first."""
    wanted = with_newline(anchor, "\n").strip("\n")
    partial = []
    for line in _spans(document, wanted):
        if with_newline(document[line[0] : line[1]], "\n").strip() == wanted.strip():
            yield line
        else:
            partial.append(line)
    yield from partial


def _spans(document: str, wanted: str) -> Iterator[tuple[int, int]]:
    anchor = re.compile(_END.join(map(re.escape, wanted.split("\n"))))
    longest = 2 * len(wanted)  # each line end of the document may have two characters
    start = end = 0
    for line in split(document):
        start, end = end, end + len(line)
        found = anchor.search(document, start, end + longest)
        if found and found.start() < end:
            closing = _LINE_END.search(document, found.end())
            yield start, closing.end() if closing else len(document)


def insert_faults(params: Params) -> Iterable[Fault]:
    """Find a missing or doubled place."""
    given = [key for key in ("after", "before", "at") if key in params]
    if len(given) != 1:
        shown = " and ".join(given) or "none"
        key = given[0] if given else ""
        yield key, f"insert_text needs one of after, before and at, not {shown}"


INSERT_TEXT = Kind(
    name="insert_text",
    fields={
        "text": Field(str, required=True, filled=True),
        "after": Field(str, filled=True),
        "before": Field(str, filled=True),
        "at": Field(str, choices=("start", "end")),
    },
    apply=insert_text,
    faults=insert_faults,
)
