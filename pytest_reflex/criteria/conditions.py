"""A condition under `when` as it was read: a check whose type its key says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.composite import FILE
from pytest_reflex.criteria.checks import finish_check, note_problem
from pytest_reflex.criteria.diagnostics import Table
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.fields import kind_of
from pytest_reflex.criteria.wording import nearest, quoted
from pytest_reflex.errors import nearest_word
from pytest_reflex.model.rules import CONDITIONS, NOT, Condition

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

A_CONDITION = "when: {path: a.b}, {search: a pattern} or {file: a glob}"
_TWICE = "leave both out"
_KEYS = ", ".join(CONDITIONS)
_FOREIGN = {
    "type": "leave it out: the key says what is looked at",
    "expected": "leave it out: a condition is not a finding",
    "rule_id": "leave it out",
    "group": "leave it out: a condition starts nothing",
}


def finish_condition(
    entry: Table, faults: Faults, rule_id: str, variables: Mapping[str, Any], registry: Registry
) -> Condition | None:
    """Return a condition; what is wrong with it is noted in `faults`."""
    table = entry
    if NOT in entry:
        table = entry[NOT]
        if not isinstance(table, Table) or len(entry) > 1:
            what = kind_of(table) if len(entry) == 1 else "other keys"
            message = f"not takes exactly one condition, not {what}"
            hint = "not: {search: a pattern}"
            faults.add(message, entry.at_key(NOT), hint=hint, rule_id=rule_id)
            return None
    key = _key_of(table, faults, rule_id)
    before = len(faults.found)
    for strange in _FOREIGN.keys() & table.keys():
        message = f"a condition has no key {quoted(strange)}"
        faults.add(message, table.at_key(strange), hint=_FOREIGN[strange], rule_id=rule_id)
    if not key or len(faults.found) > before:
        return None
    spec = finish_check(table, faults, rule_id, variables, registry, kind=CONDITIONS[key])
    if CONDITIONS[key] == FILE.name:
        for problem in FILE.problems(spec):
            note_problem(problem, table, faults, rule_id)
    return Condition(check=spec, negated=table is not entry)


def _key_of(table: Table, faults: Faults, rule_id: str) -> str:
    """Return the one key that says what is looked at; empty where there are none or several."""
    keys = [key for key in CONDITIONS if key in table]
    if len(keys) == 1:
        return keys[0]
    if NOT in table:
        faults.add("not cannot be nested in not", table.at_key(NOT), hint=_TWICE, rule_id=rule_id)
        return ""
    if keys:
        message = f"a condition has one of {_KEYS}, not both {' and '.join(keys)}"
        hint = "make a list of two conditions of them: both have to hold"
        faults.add(message, table.at_key(keys[1]), hint=hint, rule_id=rule_id)
        return ""
    slip = next((key for key in table if nearest_word(key, (*CONDITIONS, NOT))), "")
    spot = table.at_key(slip) if slip else table.spot
    told = f", but {quoted(slip)}" if slip else ""
    hint = nearest(slip, (*CONDITIONS, NOT)) if slip else A_CONDITION
    faults.add(f"a condition has none of {_KEYS}{told}", spot, hint=hint, rule_id=rule_id)
    return ""
