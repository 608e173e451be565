"""One rule in shorthand to a full `Rule`: what files say about it, then what is filled in.

Two stages, because a rule may be given in parts: `read_rule` finds out which rule a mapping is
about, `Draft.over` lays it over what another file said, and `finish` makes the frozen rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.checks import finish_check
from pytest_reflex.criteria.diagnostics import Table
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.fields import refuse_text
from pytest_reflex.criteria.ids import what_is_wrong
from pytest_reflex.criteria.rule_keys import OFF, READERS, finish_fix
from pytest_reflex.criteria.wording import nearest, quoted
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import DEFAULT_WEIGHT
from pytest_reflex.model.rules import Rule, is_id, level_of

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

_WEIGHTS = {severity: Fraction(weight) for severity, weight in DEFAULT_WEIGHT.items()}


class Draft:
    """What files say about one rule: a mapping of `faults`' file, and what it is laid over."""

    __slots__ = ("base", "faults", "id", "table")

    def __init__(
        self, rule_id: str, table: Table, faults: Faults, base: Draft | None = None
    ) -> None:
        self.id = rule_id
        self.table = table
        self.faults = faults
        self.base = base

    def over(self, base: Draft) -> Draft:
        """Return `base` with what is given here replaced."""
        return Draft(self.id, self.table, self.faults, base)

    def parts(self) -> tuple[Draft, ...]:
        """Return what was said, the first to speak first."""
        return (*self.base.parts(), self) if self.base else (self,)

    def switched_off(self) -> Place | None:
        """Return where the rule is switched off; None where the last word is another severity."""
        said = (part for part in reversed(self.parts()) if "severity" in part.table)
        last = next(said, None)
        if last is None or last.table["severity"] != OFF:
            return None
        return last.faults.place(last.table.at("severity"))

    def origins(self) -> list[Place]:
        """Return where it was said, the first place first."""
        return [part.faults.place(part.table.spot) for part in self.parts()]


def read_rule(table: Table, faults: Faults) -> Draft | None:
    """Return what a mapping says about a rule; None where it does not say which."""
    rule_id = table.get("id")
    if type(rule_id) is str and is_id(rule_id):
        return Draft(rule_id, table, faults)
    _refuse_id(table, faults)
    _read_keys(table, faults, "", SimpleNamespace())
    return None


def look_at(draft: Draft) -> None:
    """Note what is wrong with the keys of a rule that is not finished, since it is switched off."""
    for part in draft.parts():
        _read_keys(part.table, part.faults, draft.id, SimpleNamespace())


def finish(
    draft: Draft, variables: Mapping[str, Any], registry: Registry, commands: Mapping[str, Any]
) -> Rule | None:
    """Return the rule with defaults filled in; None where something is missing (a problem then)."""
    rule_id = draft.id
    rule = SimpleNamespace(
        level=level_of(rule_id),
        description=None,
        severity=None,
        weight=None,
        checks=(),
        fixes=(),
        when=(),
    )
    for part in (draft,) if draft.base is None else draft.parts():
        _read_keys(part.table, part.faults, rule_id, rule)
    if rule.level is None or rule.severity is None or rule.description is None:
        if draft.table.get("severity") != OFF:  # it was told what is wrong with that
            _note_missing(draft, rule)
        return None
    if rule.weight is None:
        rule.weight = _WEIGHTS[rule.severity]
    rule.checks = tuple(
        [finish_check(table, faults, rule_id, variables, registry) for table, faults in rule.checks]
    )
    rule.fixes = tuple(
        filter(
            None, [finish_fix(t, faults, rule_id, variables, commands) for t, faults in rule.fixes]
        )
    )
    if rule.when:
        from pytest_reflex.criteria.conditions import finish_condition

        conditions = (finish_condition(t, f, rule_id, variables, registry) for t, f in rule.when)
        rule.when = tuple(filter(None, conditions))
    return Rule(id=rule_id, place=draft.faults.place(draft.table.spot), **vars(rule))


def _read_keys(table: Table, faults: Faults, rule_id: str, rule: Any) -> None:
    for key in table:
        if reader := READERS.get(key):
            reader(table, faults, rule_id, rule)
        elif key != "id":
            hint = nearest(key, ("id", *READERS))
            message = f"a rule has no key {quoted(key)}"
            faults.add(message, table.at_key(key), hint=hint, rule_id=rule_id)


def _note_missing(draft: Draft, rule: Any) -> None:
    hints = {"description": "one line that says what must hold", "severity": "fail, warn or info"}
    spot = draft.table.spot
    for key, hint in hints.items():
        if getattr(rule, key) is None:
            draft.faults.add(f"{key} is missing", spot, hint=hint, rule_id=draft.id)
    if rule.level is None:
        draft.faults.add(
            "phase is missing, and the id does not say it",
            spot,
            hint="give phase: A or B, or an id of three parts that starts with a. or b.",
            rule_id=draft.id,
        )


def _refuse_id(table: Table, faults: Faults) -> None:
    value = table.get("id")
    if type(value) is str:
        message, hint = what_is_wrong(value)
        faults.add(message, table.at("id"), hint=hint)
    elif "id" in table:
        refuse_text("id", value, table.at("id"), faults)
    else:
        faults.add("a rule needs an id", table.spot)
