"""One rule in shorthand to a full `Rule`: what files say about it, then what is filled in.

Two stages, because a rule may be given in parts: `read_rule` takes what one file says about it,
`Draft.over` lays that over what another file said, and `finish` makes the frozen rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.checks import finish_check
from pytest_reflex.criteria.faults import Faults, Spot
from pytest_reflex.criteria.fields import refuse_text
from pytest_reflex.criteria.ids import is_id, level_of, what_is_wrong
from pytest_reflex.criteria.loose import twin_of
from pytest_reflex.criteria.nodes import Table
from pytest_reflex.criteria.rule_keys import READERS, Given
from pytest_reflex.criteria.wording import nearest, quoted
from pytest_reflex.errors import Place
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.words import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

_LooseRule = twin_of(Rule)
_WEIGHTS = {severity: Fraction(weight) for severity, weight in DEFAULT_WEIGHT.items()}


class Draft:
    """What files have said about one rule so far.

    `spot` is where the file of `faults`, which spoke last, does so; `base` is what was said before.
    """

    __slots__ = ("base", "faults", "given", "id", "spot")

    def __init__(
        self, rule_id: str, given: Given, spot: Spot, faults: Faults, base: Draft | None = None
    ) -> None:
        self.id = rule_id
        self.given = given
        self.spot = spot
        self.faults = faults
        self.base = base

    def over(self, base: Draft) -> Draft:
        """Return `base` with what is given here replaced."""
        return Draft(self.id, {**base.given, **self.given}, self.spot, self.faults, base)

    def origins(self) -> tuple[Place, ...]:
        """Return where the rule was spoken of, the first place first."""
        before = self.base.origins() if self.base else ()
        return (*before, self.faults.place(self.spot))


def read_rule(table: Table, faults: Faults) -> Draft | None:
    """Return what a mapping says about a rule; None where it does not say which."""
    rule_id = _read_id(table, faults)
    given: Given = {}
    for key in table:
        if reader := READERS.get(key):
            reader(table, faults, rule_id, given)
        elif key != "id":
            hint = nearest(key, ("id", *READERS))
            message = f"a rule has no key {quoted(key)}"
            faults.add(message, table.at_key(key), hint=hint, rule_id=rule_id)
    return Draft(rule_id, given, table.spot, faults) if rule_id else None


def finish(draft: Draft, variables: Mapping[str, Any], registry: Registry) -> Rule | None:
    """Return the rule with defaults filled in; None where something is missing (a problem then)."""
    given = draft.given
    level = given.get("level") or level_of(draft.id)
    severity = given.get("severity")
    if level is None or severity is None or "description" not in given:
        _note_missing(draft)
        return None
    get = given.get
    weight = get("weight")
    rule = _LooseRule()
    rule.id = draft.id
    rule.description = given["description"]
    rule.severity = severity
    rule.weight = _WEIGHTS[severity] if weight is None else weight
    rule.level = level
    rule.checks = tuple(
        [
            finish_check(table, faults, draft.id, variables, registry)
            for table, faults in get("checks", ())
        ]
    )
    rule.prose = get("prose", "")
    rule.fixes = get("fixes", ())
    rule.hint = get("hint", "")
    rule.why = get("why", "")
    rule.samples = get("samples") or {}
    rule.place = draft.faults.place(draft.spot)
    rule.__class__ = Rule
    made: Rule = rule
    return made


def _note_missing(draft: Draft) -> None:
    hints = {"description": "one line that says what must hold", "severity": "fail, warn or info"}
    for key, hint in hints.items():
        if key not in draft.given:
            draft.faults.add(f"{key} is missing", draft.spot, hint=hint, rule_id=draft.id)
    if "level" not in draft.given and level_of(draft.id) is None:
        draft.faults.add(
            "phase is missing, and the id does not say it",
            draft.spot,
            hint="give phase: A or B, or an id of three parts that starts with a. or b.",
            rule_id=draft.id,
        )


def _read_id(table: Table, faults: Faults) -> str:
    value = table.get("id")
    if type(value) is str:
        if is_id(value):
            return value
        message, hint = what_is_wrong(value)
        faults.add(message, table.at("id"), hint=hint)
    elif "id" in table:
        refuse_text("id", value, table.at("id"), faults)
    else:
        faults.add("a rule needs an id", table.spot)
    return ""
