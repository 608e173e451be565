"""YAML as people write it: what is read as it was meant, or refused with place and remedy (F36)."""

from __future__ import annotations

from typing import Any

from pytest_reflex.errors import CriteriaError
from tests.criteria.test_yaml_table import READ, REFUSED
from tests.criteria.writing import value
from tests.faults.figure import Figure, of_cases


def figure(full: bool) -> Figure:
    """Read every value of the table; it is quick, so that the sample is the whole."""
    read = [(repr(text), _read(text, expected)) for text, expected in READ]
    refused = [(repr(text), _refused(text, *said)) for text, *said in REFUSED]
    return of_cases([*read, *refused])


def _read(text: str, expected: Any) -> list[str]:
    try:
        found = value(f"k: {text}")
    except CriteriaError as error:
        return [str(error)]
    same = found == expected and isinstance(found, type(expected))
    return [] if same else [f"read as {found!r}, not {expected!r}"]


def _refused(text: str, message: str, hint: str) -> list[str]:
    try:
        found = value(f"k: {text}")
    except CriteriaError as error:
        told = str(error)
        return [] if message in told and hint in told and "\n" not in told else [told]
    return [f"read as {found!r}"]
