"""Checks and conditions of a rule as they were read, to specs that their types have validated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.composite import FILE
from pytest_reflex.checks.options import FLAG, TEXT
from pytest_reflex.criteria.diagnostics import (
    CONTROL,
    Diagnostics,
    Items,
    Table,
    lookup,
    nearest,
    plain,
    quote,
    shorten,
)
from pytest_reflex.criteria.fields import (
    as_in_file,
    find_parameter,
    kind_of,
    quoting_hint,
    refuse_text,
    text_at,
)
from pytest_reflex.errors import CriteriaError, Problem, nearest_word, suggest
from pytest_reflex.model.plain import as_written
from pytest_reflex.model.rules import (
    ALTERNATIVES,
    CONDITIONS,
    NO_PARAMETERS,
    NOT,
    CheckSpec,
    Condition,
)

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.targets import CheckType


_FLAGS = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_GROUP = re.compile(r"\w[\w.-]{0,99}")


def finish_check(
    table: Table,
    diagnostics: Diagnostics,
    rule_id: str,
    variables: Mapping[str, Any],
    registry: Registry,
    *,
    kind: str = "",
) -> CheckSpec:
    """Return the check; what is wrong with it is noted in `diagnostics`.

    `kind` is its type where the table does not say it.
    """
    if ALTERNATIVES in table and table.get("type", ALTERNATIVES) == ALTERNATIVES:
        return _any_of(table, diagnostics, rule_id, variables, registry)
    before = len(diagnostics.found)
    named: Any = kind or table.get("type")
    known = type(named) is str and named in registry
    if not (known or kind):
        _refuse_type(table, diagnostics, rule_id, registry)
    made = CheckSpec(
        type=named,
        params=_params(table, diagnostics, rule_id, variables),
        expected=text_at(table, "expected", diagnostics, rule_id),
        group=_group(table, diagnostics, rule_id),
        place=diagnostics.place(table.spot),
    )
    if "rule_id" in table and table["rule_id"] != rule_id:
        message = f"the check belongs to this rule, but names {kind_of(table['rule_id'])}"
        diagnostics.add(message, table.at("rule_id"), rule_id=rule_id)
    if known and len(diagnostics.found) == before:
        made, problems = _validate(made, registry.get(made.type))
        for problem in problems:
            note_problem(problem, table, diagnostics, rule_id)
    return made


def _any_of(
    table: Table,
    diagnostics: Diagnostics,
    rule_id: str,
    variables: Mapping[str, Any],
    registry: Registry,
) -> CheckSpec:
    """Return the check whose alternatives are given, each looked at in its own place."""
    before = len(diagnostics.found)
    given = table[ALTERNATIVES]
    found: list[CheckSpec] = []
    if not isinstance(given, Items):
        message = f"any_of must be a list of checks, not {kind_of(given)}"
        hint = "any_of: [{...}, {...}]"
        diagnostics.refuse(message, table.at(ALTERNATIVES), hint=hint, rule_id=rule_id)
    for index, entry in enumerate(given if isinstance(given, Items) else ()):
        if isinstance(entry, Table):
            found.append(finish_check(entry, diagnostics, rule_id, variables, registry))
        else:
            message = f"a check in any_of must be a mapping, not {kind_of(entry)}"
            diagnostics.add(message, given.at(index), rule_id=rule_id)
    for key in table:
        if key not in (ALTERNATIVES, *NO_PARAMETERS):
            message = f"{quote(key)} cannot be combined with any_of"
            hint = "put it into one of the alternatives"
            diagnostics.add(message, table.at_key(key), hint=hint, rule_id=rule_id)
    spec = CheckSpec(
        type=ALTERNATIVES,
        params={ALTERNATIVES: [each.to_json() for each in found]},
        expected=text_at(table, "expected", diagnostics, rule_id),
        place=diagnostics.place(table.spot),
        group=_group(table, diagnostics, rule_id),
    )
    if len(diagnostics.found) == before:
        for problem in registry.get(ALTERNATIVES).problems(spec):
            diagnostics.add(
                problem.message, table.at(ALTERNATIVES), hint=problem.hint, rule_id=rule_id
            )
    return spec


def _group(table: Table, diagnostics: Diagnostics, rule_id: str) -> str:
    if "group" not in table:
        return ""
    group = text_at(table, "group", diagnostics, rule_id)
    if isinstance(table["group"], str) and not _GROUP.fullmatch(group):
        message = f"the group {quote(table['group'])} cannot be used"
        hint = "letters, digits, dots, hyphens and underscores, at most 100"
        diagnostics.add(message, table.at("group"), hint=hint, rule_id=rule_id)
    return group


def _validate(spec: CheckSpec, check_type: CheckType) -> tuple[CheckSpec, Iterable[Problem]]:
    """Return the check, with what it names in files put into it, and what is wrong with it."""
    if inlined := getattr(check_type, "inline_files", None):  # few types have it
        try:
            spec = inlined(spec)
        except CriteriaError as error:
            return spec, error.problems
    return spec, check_type.problems(spec)


def _refuse_type(table: Table, diagnostics: Diagnostics, rule_id: str, registry: Registry) -> None:
    kind = table.get("type")
    known = list(registry.for_authors)
    if type(kind) is str:
        hint = nearest(kind, known)
        message = f"unknown check type {quote(kind)}"
        diagnostics.add(message, table.at("type"), hint=hint, rule_id=rule_id)
    elif "type" in table:
        refuse_text("type", kind, table.at("type"), diagnostics, rule_id)
    else:
        _note_no_type(table, diagnostics, rule_id, known)


def _note_no_type(table: Table, diagnostics: Diagnostics, rule_id: str, known: list[str]) -> None:
    """Note that a check has no type, at the key that looks like a misspelled one."""
    for key in table:
        if near := nearest_word(shorten(key), ("type", ALTERNATIVES)):
            message = f"the check has no type, but {quote(key)}"
            diagnostics.add(message, table.at_key(key), hint=suggest(near), rule_id=rule_id)
            return
    hint = f"one of {', '.join(known)}"
    diagnostics.add("the check has no type", table.spot, hint=hint, rule_id=rule_id)


def _params(
    table: Table, diagnostics: Diagnostics, rule_id: str, variables: Mapping[str, Any]
) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for key, value in table.items():
        if key in NO_PARAMETERS:
            continue
        if type(value) is str:
            if diagnostics.controls and CONTROL.search(value):
                refuse_text(key, value, table.at(key), diagnostics, rule_id)
        elif isinstance(value, (Table, Items, float)):
            value = plain(value, lookup(variables, diagnostics, rule_id))
        params[key] = value
    return params


def note_problem(problem: Problem, table: Table, diagnostics: Diagnostics, rule_id: str) -> None:
    """Note what a check type found, at the parameter that it is about."""
    named = find_parameter(problem, table)
    shown = as_in_file(problem, named.value, named.spot, diagnostics)
    hint = problem.hint or _hint(shown, named.value)
    diagnostics.add(shown.message, named.spot, hint=hint, rule_id=rule_id)


def _hint(problem: Problem, value: Any) -> str:
    """Return what to do where YAML did not read what was meant."""
    wanted = problem.wanted
    if wanted == FLAG.schema and isinstance(value, str) and value in _FLAGS:
        return f"write {_FLAGS[value]}"
    if wanted != TEXT.schema and TEXT.schema not in wanted.get("anyOf", ()):
        return ""
    if value is None:
        return "" if problem.given == as_written(None) else "put it in quotes"
    return quoting_hint(value)


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
    entry: Table,
    diagnostics: Diagnostics,
    rule_id: str,
    variables: Mapping[str, Any],
    registry: Registry,
) -> Condition | None:
    """Return a condition; what is wrong with it is noted in `diagnostics`."""
    table = entry
    if NOT in entry:
        table = entry[NOT]
        if not isinstance(table, Table) or len(entry) > 1:
            what = kind_of(table) if len(entry) == 1 else "other keys"
            message = f"not takes exactly one condition, not {what}"
            hint = "not: {search: a pattern}"
            diagnostics.add(message, entry.at_key(NOT), hint=hint, rule_id=rule_id)
            return None
    key = _key_of(table, diagnostics, rule_id)
    before = len(diagnostics.found)
    for strange in _FOREIGN.keys() & table.keys():
        message = f"a condition has no key {quote(strange)}"
        diagnostics.add(message, table.at_key(strange), hint=_FOREIGN[strange], rule_id=rule_id)
    if not key or len(diagnostics.found) > before:
        return None
    spec = finish_check(table, diagnostics, rule_id, variables, registry, kind=CONDITIONS[key])
    if CONDITIONS[key] == FILE.name:
        for problem in FILE.problems(spec):
            note_problem(problem, table, diagnostics, rule_id)
    return Condition(check=spec, negated=table is not entry)


def _key_of(table: Table, diagnostics: Diagnostics, rule_id: str) -> str:
    """Return the one key that says what is looked at; empty where there are none or several."""
    keys = [key for key in CONDITIONS if key in table]
    if len(keys) == 1:
        return keys[0]
    if NOT in table:
        diagnostics.add(
            "not cannot be nested in not", table.at_key(NOT), hint=_TWICE, rule_id=rule_id
        )
        return ""
    if keys:
        message = f"a condition has one of {_KEYS}, not both {' and '.join(keys)}"
        hint = "make a list of two conditions of them: both have to hold"
        diagnostics.add(message, table.at_key(keys[1]), hint=hint, rule_id=rule_id)
        return ""
    typo = next((key for key in table if nearest_word(key, (*CONDITIONS, NOT))), "")
    spot = table.at_key(typo) if typo else table.spot
    text = f", but {quote(typo)}" if typo else ""
    hint = nearest(typo, (*CONDITIONS, NOT)) if typo else A_CONDITION
    diagnostics.add(f"a condition has none of {_KEYS}{text}", spot, hint=hint, rule_id=rule_id)
    return ""
