"""Whole lines put into a text: the part that `insert_text` and `append` share."""

from __future__ import annotations

from pytest_reflex.documents.lines import newline_of, with_newline


def as_lines(text: str, newline: str) -> str:
    """Return `text` with the document's line ends and one at its end."""
    block = with_newline(text, newline)
    return block if block.endswith(newline) else block + newline


def at_end(document: str, text: str) -> str:
    """Return the document with the lines at its end; unchanged where it ends with them."""
    newline = newline_of(document)
    block = as_lines(text, newline)
    whole = document if _ends_line(document) else document + newline
    return document if _is_there_before(whole, len(whole), block) else whole + block


def at_start(document: str, text: str) -> str:
    """Return the document with the lines at its start; unchanged where it starts with them."""
    block = as_lines(text, newline_of(document))
    return document if _is_there_after(document, 0, block) else block + document


def beside(document: str, text: str, line: tuple[int, int], *, after: bool) -> str:
    """Return the document with the lines after or before a line given by its start and end."""
    newline = newline_of(document)
    block = as_lines(text, newline)
    start, end = line
    if not after:
        return document[:start] + block + document[start:]
    gap = "" if _ends_line(document[start:end]) else newline
    return document[:end] + gap + block + document[end:]


def is_beside(document: str, text: str, line: tuple[int, int], *, after: bool) -> bool:
    """Return whether the lines stand directly after or before a line."""
    block = as_lines(text, newline_of(document))
    if after:
        return _is_there_after(document, line[1], block)
    return _is_there_before(document, line[0], block)


def _is_there_after(document: str, offset: int, block: str) -> bool:
    rest = document[offset : offset + len(block)]
    return rest == block or (
        offset + len(rest) == len(document)
        and not _ends_line(rest)
        and as_lines(rest, newline_of(document)) == block
    )


def _is_there_before(document: str, offset: int, block: str) -> bool:
    start = offset - len(block)
    return document.endswith(block, 0, offset) and _ends_line(document[:start])


def _ends_line(text: str) -> bool:
    return not text or text[-1] in "\r\n"
