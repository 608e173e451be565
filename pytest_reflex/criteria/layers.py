"""One file's share of a criteria, and how shares are laid over one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pytest_reflex.criteria.diagnostics import Table
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.header import (
    read_commands,
    read_drops,
    read_rule_tables,
    read_variables,
)
from pytest_reflex.criteria.ids import folded
from pytest_reflex.criteria.rule_keys import OFF
from pytest_reflex.criteria.rules import Draft, read_rule
from pytest_reflex.criteria.wording import quoted, shortened
from pytest_reflex.errors import nearest_word, suggest
from pytest_reflex.model.enums import Level


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
    base: Layer, table: Table, faults: Faults, thresholds: Mapping[Level, Fraction]
) -> Layer:
    """Return `base` with what a file says laid over it; name and version stay those of `base`."""
    drops = read_drops(table, faults, base.drafts)
    drafts = {rule_id: draft for rule_id, draft in base.drafts.items() if rule_id not in drops}
    own = _own_drafts(table, faults)
    for rule_id in own.keys() & base.drafts.keys():
        if rule_id in drops:
            faults.add(f"drop and rules both name {quoted(rule_id)}", own[rule_id].table.spot)
        own[rule_id] = own[rule_id].over(base.drafts[rule_id])
    _note_nothing_to_switch_off(own, base.drafts, faults)
    if base.drafts:
        _note_near_misses(own, base.drafts, faults)
    drafts.update(own)
    return Layer(
        name=base.name,
        version=base.version,
        thresholds={**base.thresholds, **thresholds},
        vars={**base.vars, **read_variables(table, faults)},
        commands={**base.commands, **read_commands(table, faults)},
        drafts=drafts,
    )


def join(layers: Iterable[Layer], faults: Faults) -> Layer:
    """Return several files' shares as one: later ones win for all but rules.

    The same id from two files is a problem, unless one file's rule was made from the other's.
    """
    joined = Layer()
    for layer in layers:
        drafts = dict(joined.drafts)
        for rule_id, draft in layer.drafts.items():
            known = drafts.get(rule_id)
            drafts[rule_id] = _either(known, draft, faults) if known else draft
        joined = Layer(
            name=layer.name,
            version=layer.version,
            thresholds={**joined.thresholds, **layer.thresholds},
            vars={**joined.vars, **layer.vars},
            commands={**joined.commands, **layer.commands},
            drafts=drafts,
        )
    return joined


def _either(one: Draft, other: Draft, faults: Faults) -> Draft:
    first, second = one.origins(), other.origins()
    common = min(len(first), len(second))
    if first[:common] != second[:common]:
        faults.add(
            f"the rule is given by two files: {first[-1]} and {second[-1]}",
            hint="rename or drop one of them",
            rule_id=one.id,
        )
    return one if len(first) > len(second) else other


def _own_drafts(table: Table, faults: Faults) -> dict[str, Draft]:
    rules = read_rule_tables(table, faults)
    drafts = [draft for rule in rules if (draft := read_rule(rule, faults))]
    by_id = {draft.id: draft for draft in drafts}
    if len(by_id) < len(rules):
        _note_same_ids(rules, faults)
    return by_id


def _note_same_ids(rules: list[Table], faults: Faults) -> None:
    """Note ids that are equal, or would be if case and look-alike characters did not count."""
    seen: dict[str, tuple[str, int]] = {}
    for rule in rules:
        text = rule.get("id")
        if not isinstance(text, str):
            continue
        line = rule.at("id")[0]
        first, where = seen.setdefault(folded(text), (text, line))
        if (first, where) != (text, line):
            same = "is given twice, first" if first == text else f"reads like {quoted(first)}"
            hint = "rename or remove one of the two"
            faults.add(f"the id {quoted(text)} {same} in line {where}", rule.at("id"), hint=hint)


def _is_off(draft: Draft) -> bool:
    return bool(draft.table.get("severity") == OFF)


def _note_nothing_to_switch_off(
    own: Mapping[str, Draft], known: Mapping[str, Draft], faults: Faults
) -> None:
    """Note rules that are switched off by the very file that gives them."""
    for draft in own.values():
        if draft.base is None and _is_off(draft):
            near = nearest_word(shortened(draft.id), known)
            hint = suggest(near) if near else "leave the rule out"
            message = "severity off is for an inherited rule, and none is called so"
            spot = draft.table.at("severity")
            faults.add(message, spot, hint=hint, rule_id=draft.id)


def _note_near_misses(own: Mapping[str, Draft], known: Mapping[str, Draft], faults: Faults) -> None:
    """Note rules that give too little for a new one and are called nearly as an inherited one."""
    for draft in own.values():
        if draft.id in known or "description" in draft.table or _is_off(draft):
            continue
        if near := nearest_word(shortened(draft.id), known):
            message = "no inherited rule is called so, and description is missing"
            faults.add(message, draft.table.spot, hint=suggest(near), rule_id=draft.id)
