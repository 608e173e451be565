"""Rows as a table for a terminal, or as lines for a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def text_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; no text is taken for a number."""
    from tabulate import tabulate

    return tabulate(list(rows), headers, tablefmt="simple", disable_numparse=True)


def tab_lines(rows: Iterable[Sequence[str]]) -> str:
    """Return a line for each row, its fields separated by tabs."""
    return "\n".join(map("\t".join, rows))
