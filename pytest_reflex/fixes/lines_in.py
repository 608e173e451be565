"""Whole lines put into a text: the part that `insert_text` and `append` share."""

from __future__ import annotations

from pytest_reflex.fixes.kind import FixError
from pytest_reflex.text.data_tree import is_data
from pytest_reflex.text.lines import fitted, newline_of, starts, with_newline
from pytest_reflex.text.outline import front_matter_lines, outline

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
    whole = document if _ends_line(document) else document + newline
    if _is_there_before(whole, len(whole), text):
        return document
    return whole + fitted(whole, as_lines(text, newline), "")


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
    return before + gap + fitted(before + gap, as_lines(text, newline), rest) + rest


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
