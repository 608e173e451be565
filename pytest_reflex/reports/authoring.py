"""Remarks of the lint for people: the place, the line with a caret under it, what to do."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from pytest_reflex.criteria.linting.remark import Remark
from pytest_reflex.errors import Place
from pytest_reflex.model.plain import columns, one_line, visible

Lines = Callable[[Place], str]
"""Gives the line of a file that a place is in, empty where it is not to be had."""

WIDTH = 80
_BEFORE = 40  # characters that are shown before the column of a long line
_LONGEST = 100
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^\s,:{}\[\]]+")


def lint_text(remarks: Sequence[Remark], lines: Lines, files: int) -> str:
    """Return all remarks, and how many there are in `files` files."""
    return "\n".join([*(remark_text(one, lines) + "\n" for one in remarks), tally(remarks, files)])


def remark_text(remark: Remark, lines: Lines) -> str:
    """Return one remark: a line that editors understand, the source with a caret, the hint."""
    problem = remark.problem
    level = "error" if remark.is_error else f"warning [{remark.code}]"
    rule = f"rule {problem.rule_id}: " if problem.rule_id else ""
    where = f"{problem.place}: " if problem.place else ""
    told = [visible(f"{where}{level}: {rule}{problem.message}")]
    margin = 4
    if problem.place and problem.place.line and (source := lines(problem.place)):
        number = str(problem.place.line)
        margin = max(len(number) + 2, 4)
        shown, caret = source_and_caret(source, problem.place.column)
        told.append(f"{number:>{margin}} | {shown}")
        if caret:
            told.append(f"{'':>{margin}} | {caret}")
    if problem.hint:
        told += textwrap.wrap(
            one_line(problem.hint, 400),
            WIDTH,
            initial_indent=f"{'':>{margin}} = ",
            subsequent_indent=f"{'':>{margin}}   ",
        )
    return "\n".join(told)


def source_and_caret(line: str, column: int) -> tuple[str, str]:
    """Return a line as it is shown, and carets under what stands at a column (0: nowhere)."""
    line = line.rstrip()
    start = max(column - 1, 0)
    cut = max(start - _BEFORE, 0) if len(line) > _LONGEST else 0
    head = "…" if cut else ""
    tail = "…" if len(line) > cut + _LONGEST else ""
    shown = head + line[cut : cut + _LONGEST] + tail
    if not column or start > len(line):
        return _safe(shown), ""
    token = _TOKEN.match(line, start)
    end = min(token.end() if token else start + 1, cut + _LONGEST)
    before = _blank(head + line[cut:start])
    return _safe(shown), before + "^" * max(columns(line[start:end]), 1)


def tally(remarks: Sequence[Remark], files: int) -> str:
    """Return how much was found: "2 errors, 1 warning in 3 files"."""
    errors = sum(one.is_error for one in remarks)
    parts = [(errors, "error"), (len(remarks) - errors, "warning")]
    told = (
        ", ".join(_counted(number, word) for number, word in parts if number) or "no issues found"
    )
    return f"{told} in {_counted(files, 'file')}"


def _safe(text: str) -> str:
    """Return a line whose every character takes the columns that `columns` says."""
    return "".join(char if char == "\t" or char == visible(char) else "?" for char in text)


def _blank(text: str) -> str:
    return "".join(char if char == "\t" else " " * columns(char) for char in text)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
