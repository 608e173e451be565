"""The forms of reports by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.checks.reported.finding import Reader
from pytest_reflex.checks.reported.json_report import FIELDS, KNOWN, Form, JsonReader
from pytest_reflex.checks.reported.sarif import read_sarif
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

FORMS = (*_READERS, *KNOWN, *OPEN)


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
