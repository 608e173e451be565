"""`tables`: the tables of a Markdown text are whole, and have what they should."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, FLAG, TEXTS
from pytest_reflex.checks.structure.check import Judge, ParameterError, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.targets import CheckContext

_DELIMITERS = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table: the words of its head, the words of each row, and the line of its head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    line: int


def _make(params: Mapping[str, Any]) -> Judge:
    wanted = params.get("columns", ())
    columns = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if not any(
        params.get(key) for key in ("well_formed", "filled", "min_count", "columns")
    ) and not (params.get("min_rows") or "max_rows" in params):
        raise ValueError("it asks for nothing, so that it cannot fail")
    fewest, most = params.get("min_rows", 0), params.get("max_rows")
    if most is not None and fewest > most:
        raise ParameterError(
            "min_rows", f"min_rows is {fewest}, more than max_rows, which is {most}"
        )

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        document = model.of(artifact)
        tables = list(tables_of(document))
        findings = list(_find_malformed(document, tables)) if params.get("well_formed") else []
        meant = [table for table in tables if _has(table, columns)]
        least = params.get("min_count", 1 if columns or params.get("min_rows") else 0)
        if len(meant) < least:
            which = f" with the columns {', '.join(columns)}" if columns else ""
            what = f"{len(meant)} tables{which}, at least {least} are wanted"
            findings.append(Finding(one_line(what, 160)))
        for table in meant:
            findings += _unfit(table, params)
        findings.sort(key=lambda finding: finding.line)
        return Report(findings, f"{len(tables)} tables, {sum(len(t.rows) for t in tables)} rows")

    return judge


def tables_of(document: model.Markdown) -> Iterator[MarkdownTable]:
    """Yield the tables of a Markdown text, wherever they are nested."""
    rows: list[tuple[str, ...]] = []
    cells: list[str] = []
    line = 0
    for index, token in enumerate(document.tokens):
        if token.type == "table_open":
            rows, line = [], token.map[0] + 1 if token.map else 0
        elif token.type == "tr_open":
            cells = []
        elif token.type in ("th_open", "td_open"):
            cells.append(document.plain(document.tokens[index + 1]) or _code(document, index + 1))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
        elif token.type == "table_close":
            yield MarkdownTable(rows[0], tuple(rows[1:]), line)


def _code(document: model.Markdown, index: int) -> str:
    """Return what a cell without words holds: an image is something too."""
    return document.tokens[index].content.strip()


def _find_malformed(document: model.Markdown, tables: list[MarkdownTable]) -> Iterator[Finding]:
    lines = document.text.split("\n")
    for table in tables:
        for number in range(table.line + 2, table.line + 2 + len(table.rows)):
            count = _count_cells(lines[number - 1])
            if count != len(table.head):
                message = f"a row has {count} cells, the head of its table {len(table.head)}"
                yield Finding(message, number)
    for token in document.tokens:
        if token.type == "inline" and token.map and "|" in token.content:
            yield from _no_table(token.content.split("\n"), token.map[0] + 1)


def _no_table(lines: list[str], first: int) -> Iterator[Finding]:
    """Find a row of dashes in a paragraph: a table was meant, and is none."""
    for index, line in enumerate(lines[1:], start=1):
        if "|" in line and _DELIMITERS.fullmatch(line):
            head, dashes = _count_cells(lines[index - 1]), _count_cells(line)
            message = f"no table: its head has {head} cells, the row of dashes {dashes}"
            yield Finding(message, first + index)
            return


def _count_cells(line: str) -> int:
    inside = line.strip().lstrip("> ")
    inside = inside.removeprefix("|")
    if inside.endswith("|") and not inside.endswith("\\|"):
        inside = inside[:-1]
    return len(_PIPE.split(inside))


def _has(table: MarkdownTable, columns: tuple[str, ...]) -> bool:
    names = [" ".join(name.split()).casefold() for name in table.head]
    return all(" ".join(column.split()).casefold() in names for column in columns)


def _unfit(table: MarkdownTable, params: Mapping[str, Any]) -> Iterator[Finding]:
    count = len(table.rows)
    if count < params.get("min_rows", 0):
        wanted = params["min_rows"]
        yield Finding(f"a table of {count} rows, at least {wanted} are wanted", table.line)
    if count > params.get("max_rows", count):
        wanted = params["max_rows"]
        yield Finding(f"a table of {count} rows, at most {wanted} are wanted", table.line)
    if params.get("filled"):
        for number, row in enumerate(table.rows, start=table.line + 2):
            for name, cell in zip(table.head, row, strict=False):
                if not cell:
                    yield Finding(f"the cell under {name or 'a column'!r} is empty", number)


KIND = StructureKind(
    key="tables",
    make=_make,
    forbids=lambda params: (
        "max_rows" in params or any(params.get(key) for key in ("well_formed", "filled"))
    ),
    inside={
        "well_formed": FLAG.means(
            "every row has as many cells as the head, and what has a row of dashes is a table",
            "`false`",
        ),
        "columns": TEXTS.means(
            "only tables with these columns are looked at; case does not count", "all of them"
        ),
        "filled": FLAG.means("no cell of theirs is empty", "`false`"),
        "min_rows": COUNT.means("how many rows each of them has at least", "0"),
        "max_rows": COUNT.means("how many rows each of them has at most", "any number"),
        "min_count": COUNT.means(
            "there are at least so many of them", "1 with `columns` or `min_rows`, else 0"
        ),
    },
)
