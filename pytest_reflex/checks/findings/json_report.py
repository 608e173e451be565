"""Reports that are JSON: a list of findings somewhere in it, with fields of some names.

How a tool names them is data: `KNOWN` has the tools that are read by name, and a rule may say it
of any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_reflex.checks.findings.report import (
    MOST,
    NothingRunError,
    ToolFinding,
    UnreadableReportError,
    utf8,
)
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text import paths
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError

FIELDS = ("message", "rule", "level", "file", "line", "column")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFields:
    """Where the findings are in a JSON document, and what their fields are called.

    `items` and each of `fields` are paths; `file_above` is how many steps above a finding its file
    is named; `first` is the number of the first line and column. `all_files`: the document has an
    entry for each file that was looked at, also without findings.
    """

    fields: Mapping[str, str]
    items: str = "*"
    file_above: int = 0
    first: int = 1
    all_files: bool = False
    levels: Mapping[str, str] = field(default_factory=dict)


_FLAT = ReportFields(fields={name: name for name in FIELDS} | {"rule": "code"})

KNOWN: dict[str, ReportFields] = {
    "ruff-json": ReportFields(
        fields={
            "message": "message",
            "rule": "code",
            "level": "severity",
            "file": "filename",
            "line": "location.row",
            "column": "location.column",
        }
    ),
    "eslint-json": ReportFields(
        items="*.messages.*",
        file_above=2,
        all_files=True,
        fields={
            "message": "message",
            "rule": "ruleId",
            "level": "severity",
            "file": "filePath",
            "line": "line",
            "column": "column",
        },
        levels={"1": "warning", "2": "error"},
    ),
    "markdownlint-json": ReportFields(
        fields={
            "message": "ruleDescription",
            "rule": "ruleNames[0]",
            "level": "severity",
            "file": "fileName",
            "line": "lineNumber",
            "column": "errorRange[0]",
        }
    ),
    "spectral-json": ReportFields(
        fields={
            "message": "message",
            "rule": "code",
            "level": "severity",
            "file": "source",
            "line": "range.start.line",
            "column": "range.start.character",
        },
        first=0,
        levels={"0": "error", "1": "warning", "2": "note", "3": "note"},
    ),
    "hadolint-json": _FLAT,
    "shellcheck-json": _FLAT,
}


class JsonReader:
    """Read reports of one form; raises ValueError where a path in the form is none."""

    def __init__(self, form: ReportFields) -> None:
        self._form = form
        self._items = paths.parse(form.items)
        self._fields = {name: paths.parse(path) for name, path in form.fields.items()}

    def document(self, data: bytes) -> list[ToolFinding]:
        """Return the findings of a report that is one JSON document."""
        value = _parse(utf8(data))
        if not isinstance(value, list | dict):
            raise UnreadableReportError(
                f"the report is not a list of findings, but {_quote(value)}"
            )
        return self._findings(value)

    def lines(self, data: bytes) -> list[ToolFinding]:
        """Return the findings of a report that has one JSON document in each line, or is empty."""
        if not data.strip():
            return []
        found: list[ToolFinding] = []
        for number, line in enumerate(utf8(data).split("\n"), start=1):
            if line.strip():
                item = _parse(line, number)
                found.append(self._one(item, item))
                _refuse_many(found)
        return found

    def _findings(self, value: Any) -> list[ToolFinding]:
        # The list that holds the findings has to be there, also where it is empty.
        holder = next(paths.find(value, self._items[:-1]), None) if self._items else None
        empty = isinstance(value, list) and not value
        if self._items and not empty and not isinstance(getattr(holder, "value", None), list):
            where = f"{paths.render(self._items[:-1]) or 'the document'} is not a list"
            if next(paths.find(value, self._items), None) is None:
                where = f"nothing is at items {self._form.items!r}"
            raise UnreadableReportError(f"the report has no list of findings: {where}")
        if empty and self._form.all_files:
            raise NothingRunError("no file was looked at: the report lists none")
        found: list[ToolFinding] = []
        for item in paths.find(value, self._items):
            found.append(self._one(item.value, self._file_of(value, item)))
            _refuse_many(found)
        return found

    def _file_of(self, value: Any, item: paths.PathMatch) -> Any:
        """Return what names the file of a finding."""
        if not self._form.file_above:
            return item.value
        for step in item.path[: -self._form.file_above]:
            value = value[step]
        return value

    def _one(self, item: Any, holder: Any) -> ToolFinding:
        if not isinstance(item, dict):
            raise UnreadableReportError(f"a finding in the report is not a map, but {_quote(item)}")
        message = self._get(item, "message")
        if not isinstance(message, str) or not message.strip():
            path = self._form.fields["message"]
            raise UnreadableReportError(
                f"a finding in the report has no text {path!r}: {_quote(item)}"
            )
        level = _word(self._get(item, "level"))
        finding = ToolFinding(
            message=message,
            rule=_word(self._get(item, "rule")),
            level=self._form.levels.get(level, level),
            file=_word(self._get(holder, "file")),
        )
        line, column = self._number(item, "line"), self._number(item, "column")
        return replace(finding, line=line, column=column if line else 0)

    def _get(self, item: Any, name: str) -> Any:
        found = next(paths.find(item, self._fields[name]), None) if name in self._fields else None
        return None if found is None else found.value

    def _number(self, item: Any, name: str) -> int:
        value = self._get(item, name)
        if value is None or isinstance(value, bool):
            return 0
        try:
            return max(int(value) + 1 - self._form.first, 0)
        except (TypeError, ValueError, OverflowError):
            raise UnreadableReportError(
                f"{self._form.fields[name]!r} is not a number: {_quote(value)}"
            ) from None


def _parse(text: str, line: int = 0) -> Any:
    try:
        return read_data(text, "json")[0].value
    except (DataSyntaxError, ArtifactError) as error:
        where = f"line {line} of the report" if line else "the report"
        raise UnreadableReportError(f"{where} is not JSON: {error}") from None


def _refuse_many(found: list[ToolFinding]) -> None:
    if len(found) > MOST:
        raise UnreadableReportError(f"the report has more than {MOST:,} findings")


def _word(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _quote(value: Any) -> str:
    return repr(value)[:60]
