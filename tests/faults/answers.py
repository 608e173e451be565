"""F29: what an agent may print for a plan, and what is taken or refused: nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.contracts.steps import ContractError, read_plan
from tests.contracts.test_answers import READ, REFUSED
from tests.faults.figure import Figure, of_cases


def figure(full: bool) -> Figure:
    """Read every answer of the table; it is quick, so that the sample is all of it."""
    return of_cases(_cases())


def _cases() -> Iterator[tuple[str, list[str]]]:
    for name, (text, steps) in READ.items():
        found = _read(text)
        yield name, [] if found == steps else [f"read as {found!r}"]
    for name, (text, why) in REFUSED.items():
        found = _read(text)
        refused = isinstance(found, str) and re.search(why, found) is not None
        yield name, [] if refused else [f"not refused as it must be: {found!r}"]


def _read(text: str) -> tuple[str, ...] | str:
    """Return the plan in an answer, or why there is none."""
    try:
        return read_plan(text)
    except ContractError as error:
        return str(error)
