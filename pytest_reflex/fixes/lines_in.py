"""Whole lines put into a text: the part that `insert_text` and `append` share."""

from __future__ import annotations

from pytest_reflex.documents.data_tree import is_data
from pytest_reflex.documents.lines import newline_of, starts, with_newline
from pytest_reflex.documents.markdown_tokens import front_matter_lines
from pytest_reflex.documents.outline import outline
from pytest_reflex.fixes.kind import FixError

_OPENING = ("```", "~~~", "<")


def as_lines(text: str, newline: str) -> str:
    """Return `text` with the document's line ends and one at its end."""
    block = with_newline(text, newline)
    return block if block.endswith(newline) else block + newline


def at_end(document: str, text: str) -> str:
    """Return the document with the lines at its end; unchanged where it ends with them.

    Raises FixError where they would belong to a code fence or HTML that is open there.
    """
    mended = _at_end(document, text)
    if mended != document and _is_open(document) and _is_open(mended):
        raise FixError("the end of the text lies in a code fence or HTML that is not closed")
    return mended


def _is_open(document: str) -> bool:
    """Whether a heading at the end would be none."""
    if not any(mark in document for mark in _OPENING) or is_data(document):
        return False
    newline = newline_of(document)
    probed = outline(f"{document}{newline * 2}# x{newline}")
    return not probed.headings or probed.headings[-1].line != probed.lines - 1


def _at_end(document: str, text: str) -> str:
    newline = newline_of(document)
    block = as_lines(text, newline)
    whole = document if _ends_line(document) else document + newline
    return document if _is_there_before(whole, len(whole), block) else whole + block


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
