"""One rule in shorthand to a full `Rule`, and the layers that files lay over one another.

Two stages, because a rule may be given in parts: `read_rule` finds out which rule a mapping is
about, `Draft.over` lays it over what another file said, and `finish` makes the frozen rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.checks import finish_check, finish_condition
from pytest_reflex.criteria.diagnostics import (
    Diagnostics,
    Table,
    fold,
    nearest,
    quote,
    shorten,
    what_is_wrong,
)
from pytest_reflex.criteria.fields import refuse_text
from pytest_reflex.criteria.header import (
    read_commands,
    read_drops,
    read_rule_tables,
    read_variables,
)
from pytest_reflex.criteria.rule_keys import OFF, READERS, finish_fix
from pytest_reflex.errors import Place, nearest_word, suggest
from pytest_reflex.model.enums import DEFAULT_WEIGHT, Level
from pytest_reflex.model.rules import Rule, is_id, level_of

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


_WEIGHTS = {severity: Fraction(weight) for severity, weight in DEFAULT_WEIGHT.items()}


class Draft:
    """What files say about one rule: a mapping of `diagnostics`' file, and what it is laid over."""

    __slots__ = ("base", "diagnostics", "id", "table")

    def __init__(
        self, rule_id: str, table: Table, diagnostics: Diagnostics, base: Draft | None = None
    ) -> None:
        self.id = rule_id
        self.table = table
        self.diagnostics = diagnostics
        self.base = base

    def over(self, base: Draft) -> Draft:
        """Return `base` with what is given here replaced."""
        return Draft(self.id, self.table, self.diagnostics, base)

    def parts(self) -> tuple[Draft, ...]:
        """Return what was reported, in the order in which it was."""
        return (*self.base.parts(), self) if self.base else (self,)

    def off_place(self) -> Place | None:
        """Return where the rule is switched off; None where the last word is another severity."""
        said = (part for part in reversed(self.parts()) if "severity" in part.table)
        last = next(said, None)
        if last is None or last.table["severity"] != OFF:
            return None
        return last.diagnostics.place(last.table.at("severity"))

    def origins(self) -> list[Place]:
        """Return where it was said, the first place first."""
        return [part.diagnostics.place(part.table.spot) for part in self.parts()]


def read_rule(table: Table, diagnostics: Diagnostics) -> Draft | None:
    """Return what a mapping says about a rule; None where it does not say which."""
    rule_id = table.get("id")
    if type(rule_id) is str and is_id(rule_id):
        return Draft(rule_id, table, diagnostics)
    _refuse_id(table, diagnostics)
    _read_keys(table, diagnostics, "", SimpleNamespace())
    return None


def look_at(draft: Draft) -> None:
    """Note what is wrong with the keys of a rule that is not finished, since it is switched off."""
    for part in draft.parts():
        _read_keys(part.table, part.diagnostics, draft.id, SimpleNamespace())


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
        _read_keys(part.table, part.diagnostics, rule_id, rule)
    if rule.level is None or rule.severity is None or rule.description is None:
        if draft.table.get("severity") != OFF:  # that problem is reported already
            _note_missing(draft, rule)
        return None
    if rule.weight is None:
        rule.weight = _WEIGHTS[rule.severity]
    rule.checks = tuple(
        [
            finish_check(table, diagnostics, rule_id, variables, registry)
            for table, diagnostics in rule.checks
        ]
    )
    rule.fixes = tuple(
        filter(
            None,
            [
                finish_fix(t, diagnostics, rule_id, variables, commands)
                for t, diagnostics in rule.fixes
            ],
        )
    )
    if rule.when:
        conditions = (finish_condition(t, f, rule_id, variables, registry) for t, f in rule.when)
        rule.when = tuple(filter(None, conditions))
    return Rule(id=rule_id, place=draft.diagnostics.place(draft.table.spot), **vars(rule))


def _read_keys(table: Table, diagnostics: Diagnostics, rule_id: str, rule: Any) -> None:
    for key in table:
        if reader := READERS.get(key):
            reader(table, diagnostics, rule_id, rule)
        elif key != "id":
            hint = nearest(key, ("id", *READERS))
            message = f"a rule has no key {quote(key)}"
            diagnostics.add(message, table.at_key(key), hint=hint, rule_id=rule_id)


def _note_missing(draft: Draft, rule: Any) -> None:
    hints = {"description": "one line that says what must hold", "severity": "fail, warn or info"}
    spot = draft.table.spot
    for key, hint in hints.items():
        if getattr(rule, key) is None:
            draft.diagnostics.add(f"{key} is missing", spot, hint=hint, rule_id=draft.id)
    if rule.level is None:
        draft.diagnostics.add(
            "phase is missing, and the id does not say it",
            spot,
            hint="give phase: A or B, or an id of three parts that starts with a. or b.",
            rule_id=draft.id,
        )


def _refuse_id(table: Table, diagnostics: Diagnostics) -> None:
    value = table.get("id")
    if type(value) is str:
        message, hint = what_is_wrong(value)
        diagnostics.add(message, table.at("id"), hint=hint)
    elif "id" in table:
        refuse_text("id", value, table.at("id"), diagnostics)
    else:
        diagnostics.add("a rule needs an id", table.spot)


@dataclass(slots=True, kw_only=True)
class Layer:
    """What one file, with everything it inherits, says: nothing is filled in yet."""

    name: str = ""
    version: int | None = None
    thresholds: Mapping[Level, Fraction] = field(default_factory=dict)
    vars: Mapping[str, Any] = field(default_factory=dict)
    commands: Mapping[str, Any] = field(default_factory=dict)
    drafts: Mapping[str, Draft] = field(default_factory=dict)


def read_over(
    base: Layer, table: Table, diagnostics: Diagnostics, thresholds: Mapping[Level, Fraction]
) -> Layer:
    """Return `base` with what a file says laid over it; name and version stay those of `base`."""
    drops = read_drops(table, diagnostics, base.drafts)
    drafts = {rule_id: draft for rule_id, draft in base.drafts.items() if rule_id not in drops}
    own = _own_drafts(table, diagnostics)
    for rule_id in own.keys() & base.drafts.keys():
        if rule_id in drops:
            diagnostics.add(f"drop and rules both name {quote(rule_id)}", own[rule_id].table.spot)
        own[rule_id] = own[rule_id].over(base.drafts[rule_id])
    _note_nothing_to_switch_off(own, base.drafts, diagnostics)
    if base.drafts:
        _note_near_misses(own, base.drafts, diagnostics)
    drafts.update(own)
    return Layer(
        name=base.name,
        version=base.version,
        thresholds={**base.thresholds, **thresholds},
        vars={**base.vars, **read_variables(table, diagnostics)},
        commands={**base.commands, **read_commands(table, diagnostics)},
        drafts=drafts,
    )


def join(layers: Iterable[Layer], diagnostics: Diagnostics) -> Layer:
    """Return several files' shares as one: later ones win for all but rules.

    The same id from two files is a problem, unless one file's rule was made from the other's.
    """
    joined = Layer()
    for layer in layers:
        drafts = dict(joined.drafts)
        for rule_id, draft in layer.drafts.items():
            known = drafts.get(rule_id)
            drafts[rule_id] = _either(known, draft, diagnostics) if known else draft
        joined = Layer(
            name=layer.name,
            version=layer.version,
            thresholds={**joined.thresholds, **layer.thresholds},
            vars={**joined.vars, **layer.vars},
            commands={**joined.commands, **layer.commands},
            drafts=drafts,
        )
    return joined


def _either(one: Draft, other: Draft, diagnostics: Diagnostics) -> Draft:
    first, second = one.origins(), other.origins()
    common = min(len(first), len(second))
    if first[:common] != second[:common]:
        diagnostics.add(
            f"the rule is given by two files: {first[-1]} and {second[-1]}",
            hint="rename or drop one of them",
            rule_id=one.id,
        )
    return one if len(first) > len(second) else other


def _own_drafts(table: Table, diagnostics: Diagnostics) -> dict[str, Draft]:
    rules = read_rule_tables(table, diagnostics)
    drafts = [draft for rule in rules if (draft := read_rule(rule, diagnostics))]
    by_id = {draft.id: draft for draft in drafts}
    if len(by_id) < len(rules):
        _note_same_ids(rules, diagnostics)
    return by_id


def _note_same_ids(rules: list[Table], diagnostics: Diagnostics) -> None:
    """Note ids that are equal, or would be if case and look-alike characters did not count."""
    seen: dict[str, tuple[str, int]] = {}
    for rule in rules:
        text = rule.get("id")
        if not isinstance(text, str):
            continue
        line = rule.at("id")[0]
        first, where = seen.setdefault(fold(text), (text, line))
        if (first, where) != (text, line):
            same = "is given twice, first" if first == text else f"reads like {quote(first)}"
            hint = "rename or remove one of the two"
            diagnostics.add(
                f"the id {quote(text)} {same} in line {where}", rule.at("id"), hint=hint
            )


def _is_off(draft: Draft) -> bool:
    return bool(draft.table.get("severity") == OFF)


def _note_nothing_to_switch_off(
    own: Mapping[str, Draft], known: Mapping[str, Draft], diagnostics: Diagnostics
) -> None:
    """Note rules that are switched off by the very file that gives them."""
    for draft in own.values():
        if draft.base is None and _is_off(draft):
            near = nearest_word(shorten(draft.id), known)
            hint = suggest(near) if near else "leave the rule out"
            message = "severity off is for an inherited rule, and none is called so"
            spot = draft.table.at("severity")
            diagnostics.add(message, spot, hint=hint, rule_id=draft.id)


def _note_near_misses(
    own: Mapping[str, Draft], known: Mapping[str, Draft], diagnostics: Diagnostics
) -> None:
    """Note rules that give too little for a new one and are called nearly as an inherited one."""
    for draft in own.values():
        if draft.id in known or "description" in draft.table or _is_off(draft):
            continue
        if near := nearest_word(shorten(draft.id), known):
            message = "no inherited rule is called so, and description is missing"
            diagnostics.add(message, draft.table.spot, hint=suggest(near), rule_id=draft.id)
