"""Lines for people, as pieces of text that each have a tone, and rows as a table.

Callers style the tones; the text is the same without any style.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby


def text_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; no text is taken for a number."""
    from tabulate import tabulate

    return tabulate(list(rows), headers, tablefmt="simple", disable_numparse=True)


def tab_lines(rows: Iterable[Sequence[str]]) -> str:
    """Return a line for each row, its fields separated by tabs."""
    return "\n".join(map("\t".join, rows))


# Pieces of a line with their tone: "" or a word of `reports.terminal`.
Line = list[tuple[str, str]]
Lines = Sequence[Line]

WIDTH = 80


def lines_of(text: str, tone: str = "") -> list[Line]:
    """Return the lines of a text, all in one tone."""
    return [[(line, tone)] for line in text.splitlines()]


def plain(lines: Iterable[Line]) -> str:
    """Return the text of lines."""
    return "\n".join("".join(text for text, _ in line) for line in lines)


def wrap_lines(lines: Iterable[Line], width: int = WIDTH, indent: int = 4) -> Iterator[Line]:
    """Yield lines broken at blanks, with what follows indented under its line."""
    for line in lines:
        for one in _at_newlines(line):
            yield from _wrap_line(one, width, indent)


def _at_newlines(line: Line) -> Iterator[Line]:
    found: Line = []
    for text, tone in line:
        first, *rest = text.split("\n")
        found.append((first, tone))
        for more in rest:
            yield found
            found = [(more, tone)]
    yield found


def _wrap_line(line: Line, width: int, indent: int) -> Iterator[Line]:
    text = "".join(piece for piece, _ in line)
    rows = textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if not rows or rows == [text]:
        yield line if rows else []
        return
    flat, tones, before = text.expandtabs(), list[str](), ""
    for piece, tone in line:
        before += piece
        tones += [tone] * (len(before.expandtabs()) - len(tones))
    at = 0
    for number, row in enumerate(rows):
        margin = indent if number else 0
        at = flat.index(row[margin:], at)
        of_row = [tones[at]] * margin + tones[at : at + len(row) - margin]
        at += len(row) - margin
        groups = groupby(zip(of_row, row, strict=True), key=lambda pair: pair[0])
        yield [("".join(char for _, char in group), tone) for tone, group in groups]
