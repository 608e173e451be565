"""Findings about a place in data: the pointer, line and column of the thing itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_reflex.checks.finding import Finding
from pytest_reflex.contracts.validate import pointer
from pytest_reflex.text.data import Data


def finding_at(
    document: Data, message: str, path: Sequence[Any], *, whole: str = "", given: bool = True
) -> Finding:
    """Return a finding at a path of keys and indexes; of what is not there, where it belongs.

    `whole` is the text of the artifact, of which the document may be a block. Unless the path is
    `given` it has steps that stand for many, and no pointer can be made of it.
    """
    line, column = document.place(path)
    column = column_in(whole, document, line, column)
    return Finding(message, line, column, pointer(path) if given else "")


def column_in(whole: str, document: Data, line: int, column: int) -> int:
    """Return the column in the artifact's line, of which a block's line may be the end only."""
    if not column or document.first_line == 1:
        return column
    lines = whole.split("\n")[line - 1 : line]
    own = document.text.split("\n")[line - document.first_line]
    return column + len(lines[0]) - len(own) if lines and lines[0].endswith(own) else 0
