"""The forms of reports by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.checks.findings.formats import read_sarif
from pytest_reflex.checks.findings.json_report import FIELDS, KNOWN, Form, JsonReader
from pytest_reflex.checks.reported.finding import Reader
from pytest_reflex.checks.reported.tap import read_tap
from pytest_reflex.checks.reported.xml_reports import read_checkstyle, read_junit

_READERS: dict[str, Reader] = {
    "sarif": read_sarif,
    "junit": read_junit,
    "tap": read_tap,
    "checkstyle": read_checkstyle,
}
OPEN = ("json", "jsonl")
"""Forms whose fields a rule names."""

TELLING = ("junit", "tap", "eslint-json")
"""Forms that tell whether anything was run or looked at."""

_NOT_THAT_LIST = "no report: anything but that list"
FORMS = {
    "sarif": "results of version 2.1.0, without suppressed ones; no report: a run without results",
    "junit": "failures and errors, the rule is the test's name; "
    "no report: no test was run, or more tests or failures are reported than shown",
    "tap": "tests that are not ok, without those marked `TODO` or `SKIP`; "
    "no report: no other test was run, one is missing, or no plan",
    "checkstyle": "errors, the rule is their `source`; no report: an exception in it",
    "ruff-json": f"the JSON of ruff; {_NOT_THAT_LIST}",
    "eslint-json": f"the JSON of ESLint; {_NOT_THAT_LIST}, or a list of no files",
    "markdownlint-json": f"the JSON of markdownlint; {_NOT_THAT_LIST}",
    "spectral-json": f"the JSON of Spectral; {_NOT_THAT_LIST}",
    "hadolint-json": f"the JSON of hadolint; {_NOT_THAT_LIST}",
    "shellcheck-json": f"the JSON of ShellCheck; {_NOT_THAT_LIST}",
    "json": "whatever `fields` names; no report: a finding without its message",
    "jsonl": "a finding in each line, as `fields` names its parts; no report: one without message",
}
"""Every form, with what is a finding in it and what is taken for no report."""


def reader_of(name: str, fields: Mapping[str, str] | None, items: str | None, first: int) -> Reader:
    """Return what reads reports of a form.

    `fields` (by the names of FIELDS), `items` and `first`, the number of the first line, are for
    the forms in OPEN. Raises ValueError where they do not go together.
    """
    if name not in OPEN:
        if fields or items:
            raise ValueError(f"fields and items go with format {' and '.join(OPEN)}, not {name}")
        return _READERS[name] if name in _READERS else JsonReader(KNOWN[name]).document
    if not fields:
        raise ValueError(f"format {name} needs fields: {{message: ..., rule: ...}}")
    if name == "jsonl" and items:
        raise ValueError("items goes with format json: a line of jsonl is a finding")
    reader = JsonReader(Form(fields=fields, items="*" if items is None else items, first=first))
    return reader.lines if name == "jsonl" else reader.document


def is_fields(value: Any) -> bool:
    """Return whether a value says where the fields of a finding are."""
    return (
        isinstance(value, Mapping)
        and "message" in value
        and all(key in FIELDS and isinstance(path, str) and path for key, path in value.items())
    )
