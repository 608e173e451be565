"""Patterns of checks that are no patterns: noted while criteria are read, at the value's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_reflex.checks.options import variable_name
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.nodes import Items, Table
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.rules import ALTERNATIVES
from pytest_reflex.search.patterns import compile_pattern

_KEYS = ("search", "expect_output", "matches")


def note_bad_patterns(
    table: Table, faults: Faults, rule_id: str, variables: Mapping[str, Any]
) -> None:
    """Note the patterns of a check, or of its alternatives, that cannot be compiled."""
    for each in flat(table):
        for key in _KEYS:
            if key not in each or (key == "search" and each.get("literal")):
                continue
            source = each[key]
            if name := variable_name(source):
                source = variables.get(name)
            if not isinstance(source, str):
                continue
            try:
                compile_pattern(source, key=key)
            except CriteriaError as error:
                (one,) = error.problems
                faults.add(one.message, each.at(key), hint=one.hint, rule_id=rule_id)


def flat(table: Table) -> Iterator[Table]:
    """Yield a check as it is written, or its alternatives."""
    given = table.get(ALTERNATIVES)
    if isinstance(given, Items):
        yield from (entry for entry in given if isinstance(entry, Table))
    else:
        yield table
