"""The keys of a rule, one reader for each: a value from the file, or a located problem.

A reader sets the field of an unfinished rule. Its `checks` and `fixes` are pairs
of a mapping and the problems of its file until the rule is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from pytest_reflex.criteria.diagnostics import Diagnostics, Items, Table, lookup, nearest, plain
from pytest_reflex.criteria.fields import (
    find_parameter,
    kind_of,
    nonempty_text_at,
    number_at,
    text_at,
    word_at,
)
from pytest_reflex.criteria.sample_keys import samples_at
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.rules import FORMAT, Fix, contradicts, safe_by_default

SEVERITY_ALIASES = {"error": Severity.FAIL, "warning": Severity.WARN}
"""Words of linters that criteria files may use; everything else shows fail and warn."""
SEVERITIES = {**{word.value: word for word in Severity}, **SEVERITY_ALIASES}
OFF = "off"
"""What an override gives as a severity to do without an inherited rule."""
_MEANT = {
    **dict.fromkeys(("critical", "major", "blocker", "high", "must"), Severity.FAIL),
    **dict.fromkeys(("minor", "medium", "should"), Severity.WARN),
    **dict.fromkeys(("note", "notice", "hint", "low", "may"), Severity.INFO),
}
"""What other tools call severities."""

_LEVELS = {word.value: word for word in Level}
_NO_WHEN = "when: null takes an inherited one away"
_SAFE = "did you mean safe?"
_WHOLE = {number: Fraction(number) for number in range(101)}


def _description(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["description"]
    if type(value) is not str or not value or value.isspace() or diagnostics.controls:
        value = nonempty_text_at(table, "description", diagnostics, rule_id)
    rule.description = value


def _hint(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    rule.hint = text_at(table, "hint", diagnostics, rule_id)


def _why(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    rule.why = text_at(table, "why", diagnostics, rule_id)


def _severity(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["severity"]
    if value == OFF:
        rule.severity = None
        return
    if type(value) is not str or value not in SEVERITIES:
        other = _suggest_severity(value) if type(value) is str else None
        hint = f"did you mean {other}?" if other else ""
        value = word_at(table, "severity", SEVERITIES, diagnostics, rule_id, hint=hint) or "fail"
    rule.severity = SEVERITIES[value]


def _suggest_severity(value: str) -> Severity | None:
    return SEVERITIES.get(value.lower()) or _MEANT.get(value.lower())


def _weight(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["weight"]
    if type(value) is int and value in _WHOLE:
        rule.weight = _WHOLE[value]
        return
    weight = number_at(table, "weight", diagnostics, rule_id)
    if weight is not None and weight < 0:
        diagnostics.add("weight is below 0", table.at("weight"), rule_id=rule_id)
    rule.weight = weight


def _phase(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    word = word_at(table, "phase", _LEVELS, diagnostics, rule_id)
    if not word:
        return
    rule.level = _LEVELS[word]
    if contradicts(rule_id, rule.level):
        diagnostics.add(
            f"phase {word} contradicts the id, which starts with {rule_id[0]}.",
            table.at("phase"),
            hint="change one of the two",
            rule_id=rule_id,
        )


def _check(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["check"]
    if isinstance(value, Table):
        rule.checks = ((value, diagnostics),)
    elif isinstance(value, Items):
        if not value:
            diagnostics.add("check is an empty list", table.at("check"), rule_id=rule_id)
        rule.checks = _concrete(value, diagnostics, rule_id)
    else:
        rule.prose = nonempty_text_at(table, "check", diagnostics, rule_id)
        if "checks" not in table:
            rule.checks = ()
        return
    rule.prose = ""
    if "checks" in table:
        diagnostics.add(
            "check and checks both give checks", table.at_key("checks"), rule_id=rule_id
        )


def _checks(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["checks"]
    if isinstance(value, Items):
        rule.checks = _concrete(value, diagnostics, rule_id)
        return
    message = f"checks must be a list of mappings, not {kind_of(value)}"
    diagnostics.add(message, table.at("checks"), rule_id=rule_id)


def _concrete(
    values: Items, diagnostics: Diagnostics, rule_id: str
) -> tuple[tuple[Table, Diagnostics], ...]:
    for index, value in enumerate(values):
        if not isinstance(value, Table):
            diagnostics.add(
                f"a check in a list must be a mapping, not {kind_of(value)}",
                values.at(index),
                hint="prose cannot be combined with other checks: check: some text",
                rule_id=rule_id,
            )
    return tuple((value, diagnostics) for value in values if isinstance(value, Table))


def _fix(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["fix"]
    entries: list[Any] = value if isinstance(value, Items) else [value]
    for index, entry in enumerate(entries):
        if not isinstance(entry, Table):
            spot = value.at(index) if isinstance(value, Items) else table.at("fix")
            message = f"fix must be a mapping, or a list of them, not {kind_of(entry)}"
            diagnostics.add(message, spot, hint=_fix_hint(entry), rule_id=rule_id)
    rule.fixes = tuple((entry, diagnostics) for entry in entries if isinstance(entry, Table))


def _fix_hint(entry: Any) -> str:
    """Return how a kind of fix that stands alone is written."""
    from pytest_reflex import fixes

    example = fixes.example(entry) if isinstance(entry, str) else ""
    return f"write fix: {{{example}}}" if example else ""


def finish_fix(
    entry: Table,
    diagnostics: Diagnostics,
    rule_id: str,
    variables: Mapping[str, Any],
    commands: Mapping[str, Any],
) -> Fix | None:
    """Return the fix with the values of variables in their places; None where it names no kind.

    What is wrong with it is noted in `diagnostics`.
    """
    from pytest_reflex import fixes

    kinds = [key for key in entry if key != "safe"]
    safe = entry.get("safe", not kinds or safe_by_default(kinds[0]))
    if len(kinds) != 1:
        shown = ", ".join(kinds) or "none"
        message = f"a fix needs exactly one kind, not {shown}"
        typo = next((key for key in kinds if nearest(key, ("safe", *fixes.KINDS)) == _SAFE), "")
        spot = entry.at_key(typo) if typo else entry.spot
        hint = _SAFE if typo else "insert_section: {...}"
        diagnostics.add(message, spot, hint=hint, rule_id=rule_id)
        return None
    if not isinstance(safe, bool):
        message = f"safe must be true or false, not {kind_of(safe)}"
        diagnostics.add(message, entry.at("safe"), rule_id=rule_id)
        return None
    params = entry[kinds[0]]
    before = len(diagnostics.found)
    settled = plain(params, lookup(variables, diagnostics, rule_id))
    fix = Fix(kind=kinds[0], params=settled, safe=safe)
    if len(diagnostics.found) > before:
        return None
    for problem in fixes.problems(fix):
        spot = entry.at_key(fix.kind)
        if isinstance(params, Table):
            named = find_parameter(problem, params)
            spot = named.spot if named.key else spot
        diagnostics.add(problem.message, spot, hint=problem.hint, rule_id=rule_id)
    if fix.kind == FORMAT and len(diagnostics.found) == before:
        from pytest_reflex.criteria.author.formatting import misfits

        for key, message, hint in misfits(fix.params, commands):
            spot = params.at(key) if key in params else entry.at_key(FORMAT)
            diagnostics.add(message, spot, hint=hint, rule_id=rule_id)
    return fix


def _samples(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    rule.samples = samples_at(table, diagnostics, rule_id)


def _when(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    value = table["when"]
    entries: list[Any] = value if isinstance(value, Items) else [value]
    if value is None:  # an override that takes the inherited one away
        entries = []
    elif not entries:
        diagnostics.add("when is an empty list", table.at("when"), hint=_NO_WHEN, rule_id=rule_id)
    for index, entry in enumerate(entries):
        if not isinstance(entry, Table):
            spot = value.at(index) if isinstance(value, Items) else table.at("when")
            message = f"a condition under when must be a mapping, not {kind_of(entry)}"
            diagnostics.add(message, spot, hint=_condition_hint(), rule_id=rule_id)
    rule.when = tuple((entry, diagnostics) for entry in entries if isinstance(entry, Table))


def _condition_hint() -> str:
    from pytest_reflex.criteria.checks import A_CONDITION

    return A_CONDITION


READERS: dict[str, Callable[[Table, Diagnostics, str, Any], None]] = {
    "description": _description,
    "severity": _severity,
    "weight": _weight,
    "phase": _phase,
    "check": _check,
    "checks": _checks,
    "fix": _fix,
    "hint": _hint,
    "why": _why,
    "when": _when,
    "samples": _samples,
}
