"""`insert_text`, `append` and `replace`: fixes of any text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_reflex.errors import CriteriaError
from pytest_reflex.fixes.kind import Fault, Field, FixError, FixKind, Params
from pytest_reflex.search.patterns import Pattern, SearchError, compile_pattern, compile_text
from pytest_reflex.text.data_tree import is_data
from pytest_reflex.text.lines import fit, newline_of, split, starts, with_newline
from pytest_reflex.text.outline import front_matter_lines, outline

SECONDS = 2.0
"""How long one search may take."""


def replace_matches(params: Params, document: str) -> str:
    """Return the document with every match replaced.

    A match that already lies inside the text it would become is left alone, so that replacing
    `foo` by `foobar` settles. Raises FixError where there are more matches than `count`, where
    the outcome would be replaced again, and where the search had to be stopped.
    """
    once, matches = _replace(params, document)
    if matches > params.get("count", matches):
        raise FixError(
            f"replace: {params['search']!r} matches {matches} times, count allows {params['count']}"
        )
    if _replace(params, once)[0] != once:
        raise FixError(f"replace: {params['search']!r} matches what it becomes, without an end")
    return once


def _replace(params: Params, document: str) -> tuple[str, int]:
    parts, done, matches = [], 0, 0
    for start, end, new in _find_matches(params, document):
        if new == document[start:end] or _is_inside(document, start, end, new):
            continue
        parts += [document[done:start], new]
        done = end
        matches += 1
    return "".join([*parts, document[done:]]), matches


def _find_matches(params: Params, document: str) -> list[tuple[int, int, str]]:
    """Return the matches, each with the text in its place."""
    new, most = params["with"], len(document) + 1
    pattern = _pattern(params)
    try:
        if params.get("expand"):
            return pattern.expand(document, new, limit=most, seconds=SECONDS)
        spans = pattern.spans(document, limit=most, seconds=SECONDS)
    except SearchError as error:
        raise FixError(f"replace: {params['search']!r} was not searched: {error}") from None
    return [(start, end, new) for start, end in spans]


def _is_inside(document: str, start: int, end: int, new: str) -> bool:
    if not new:
        return False
    return document.find(new, max(end - len(new), 0), start + len(new)) >= 0


def _pattern(params: Params) -> Pattern:
    make = compile_text if params.get("literal") else compile_pattern
    return make(params["search"], ignore_case=params.get("ignore_case", False))


def replace_faults(params: Params) -> Iterable[Fault]:
    """Find an invalid pattern and a bad group reference."""
    try:
        _pattern(params)
    except CriteriaError as error:
        yield "search", f"replace: {error.problems[0].message}; literal: true takes it as text"
        return
    if params.get("literal") and params.get("expand"):
        yield "literal", "replace: literal and expand cannot be combined"
    elif params.get("expand"):
        try:
            re.sub(params["search"], params["with"], "")
        except (re.error, IndexError) as error:
            yield "with", f"replace: with is not a valid expansion: {error}"


REPLACE = FixKind(
    name="replace",
    fields={
        "search": Field(str, required=True, filled=True),
        "with": Field(str, required=True),
        "literal": Field(bool),
        "expand": Field(bool),
        "ignore_case": Field(bool),
        "count": Field(int),
    },
    apply=replace_matches,
    faults=replace_faults,
)


_OPENING = ("```", "~~~", "<")


def as_lines(text: str, newline: str) -> str:
    """Return `text` with the document's line ends and one at its end."""
    block = with_newline(text, newline)
    return block if block.endswith(newline) else block + newline


def at_end(document: str, text: str) -> str:
    """Return the document with the lines at its end; unchanged where it ends with them.

    Raises FixError where they would belong to a code fence or HTML that is open there.
    """
    fixed = _at_end(document, text)
    if fixed != document and _is_open(document) and _is_open(fixed):
        raise FixError("the end of the text lies in a code fence or HTML that is not closed")
    return fixed


def _is_open(document: str) -> bool:
    """Whether a heading at the end would be none."""
    if not any(mark in document for mark in _OPENING) or is_data(document):
        return False
    newline = newline_of(document)
    probed = outline(f"{document}{newline * 2}# x{newline}")
    return not probed.headings or probed.headings[-1].line != probed.lines - 1


def _at_end(document: str, text: str) -> str:
    newline = newline_of(document)
    whole = document if _ends_line(document) else document + newline
    if _is_there_before(whole, len(whole), text):
        return document
    return whole + fit(whole, as_lines(text, newline), "")


def at_start(document: str, text: str) -> str:
    """Return the document with the lines at its start; unchanged where it starts with them.

    The start is behind YAML front matter, which has to be the first thing in a file.
    """
    offset = starts(document)[front_matter_lines(document)]
    # Else it is the first of several YAML documents.
    line = (0, 0 if is_data(document[offset:]) else offset)
    if is_beside(document, text, line, after=True):
        return document
    return beside(document, text, line, after=True)


def beside(document: str, text: str, line: tuple[int, int], *, after: bool) -> str:
    """Return the document with the lines after or before a line given by its start and end."""
    newline = newline_of(document)
    place = line[1] if after else line[0]
    before, rest = document[:place], document[place:]
    gap = "" if _ends_line(before) else newline
    return before + gap + fit(before + gap, as_lines(text, newline), rest) + rest


def is_beside(document: str, text: str, line: tuple[int, int], *, after: bool) -> bool:
    """Return whether the lines stand directly after or before a line, whatever ends them."""
    if after:
        return _is_there_after(document, line[1], text)
    return _is_there_before(document, line[0], text)


def _is_there_after(document: str, offset: int, text: str) -> bool:
    block = as_lines(text, "\n")
    end = offset + 2 * len(block)  # each line end of the document may have two characters
    rest = with_newline(document[offset:end], "\n")
    return rest.startswith(block) or (end >= len(document) and f"{rest}\n" == block)


def _is_there_before(document: str, offset: int, text: str) -> bool:
    block = as_lines(text, "\n")
    start = max(0, offset - 2 * len(block) - 2)
    head = with_newline(document[start:offset], "\n")
    return head.endswith(block) and _ends_line(head[: -len(block)])


def _ends_line(text: str) -> bool:
    return not text or text[-1] in "\r\n"


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


INSERT_TEXT = FixKind(
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


def append(params: Params, document: str) -> str:
    """Return the document with the lines at its end, once."""
    return at_end(document, params["text"])


APPEND = FixKind(
    name="append", fields={"text": Field(str, required=True, filled=True)}, apply=append
)
