"""One rule in shorthand to a full `Rule`: what a file gives, then what is filled in.

Two stages, because a rule may be given in parts: `read_rule` takes what one file says about it,
`Draft.over` lays that over what another file said, and `finish` makes the frozen rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.checks import finish_check
from pytest_reflex.criteria.faults import Faults, Spot
from pytest_reflex.criteria.fields import (
    filled_text_at,
    kind_of,
    number_at,
    refuse_text,
    table_at,
    text_at,
    texts_at,
    word_at,
)
from pytest_reflex.criteria.ids import contradicts, is_id, level_of, what_is_wrong
from pytest_reflex.criteria.nodes import Items, Table
from pytest_reflex.criteria.values import plain
from pytest_reflex.errors import Place, did_you_mean
from pytest_reflex.model.rules import Fix, Rule
from pytest_reflex.model.words import DEFAULT_WEIGHT, Level, Severity

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

_SEVERITIES = {word.value: word for word in Severity}
_LEVELS = {word.value: word for word in Level}
_WEIGHTS = {severity: Fraction(weight) for severity, weight in DEFAULT_WEIGHT.items()}


class Draft:
    """What files have said about one rule so far.

    `given` holds values under the names of `Rule`'s fields, with checks still as they were read;
    `origins` are the files' places that had a say, the first one first.
    """

    __slots__ = ("faults", "given", "id", "origins")

    def __init__(
        self, rule_id: str, given: dict[str, Any], origins: tuple[Place, ...], faults: Faults
    ) -> None:
        self.id = rule_id
        self.given = given
        self.origins = origins
        self.faults = faults

    @property
    def place(self) -> Place:
        return self.origins[-1]

    def over(self, base: Draft) -> Draft:
        """Return `base` with what is given here replaced."""
        given = {**base.given, **self.given}
        return Draft(self.id, given, base.origins + self.origins, self.faults)


def read_rule(table: Table, faults: Faults) -> Draft | None:
    """Return what a mapping says about a rule; None where it does not say which."""
    rule_id = _read_id(table, faults)
    given: dict[str, Any] = {}
    for key in table:
        reader = _READERS.get(key)
        if reader:
            reader(table, faults, rule_id, given)
        else:
            hint = did_you_mean(key, _READERS)
            faults.add(f"a rule has no key {key!r}", table.at_key(key), hint=hint, rule_id=rule_id)
    return Draft(rule_id, given, (faults.place(table.spot),), faults) if rule_id else None


def finish(draft: Draft, variables: Mapping[str, Any], registry: Registry) -> Rule | None:
    """Return the rule with defaults filled in; None where it has problems (in `draft.faults`)."""
    given = draft.given
    level = given.get("level") or level_of(draft.id)
    severity = given.get("severity")
    if level is None or severity is None or "description" not in given:
        _note_missing(draft, level)
        return None
    weight = given.get("weight")
    return Rule(
        id=draft.id,
        description=given["description"],
        severity=severity,
        weight=_WEIGHTS[severity] if weight is None else weight,
        level=level,
        checks=tuple(
            finish_check(table, faults, draft.id, variables, registry)
            for table, faults in given.get("checks", ())
        ),
        prose=given.get("prose", ""),
        fixes=given.get("fixes", ()),
        hint=given.get("hint", ""),
        why=given.get("why", ""),
        samples=given.get("samples") or {},
        place=draft.place,
    )


def _note_missing(draft: Draft, level: Level | None) -> None:
    spot = draft.place.line, draft.place.column
    found = {"description": draft.given.get("description"), "severity": draft.given.get("severity")}
    hints = {"description": "", "severity": "fail, warn or info"}
    for key, value in found.items():
        if value is None:
            draft.faults.add(f"{key} is missing", spot, hint=hints[key], rule_id=draft.id)
    if level is None:
        draft.faults.add(
            "phase is missing: the id does not say it",
            spot,
            hint="give phase: A or B, or an id that starts with a. or b. and has three parts",
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


def _read_nothing(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    """The id was read first."""


def _read_description(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    given["description"] = filled_text_at(table, "description", faults, rule_id)


def _read_severity(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    value = table["severity"]
    word = value if isinstance(value, str) and value in _SEVERITIES else None
    word = word or word_at(table, "severity", _SEVERITIES, faults, rule_id)
    given["severity"] = _SEVERITIES[word or "fail"]


def _read_weight(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    weight = number_at(table, "weight", faults, rule_id)
    if weight is not None and weight < 0:
        faults.add("weight is below 0", table.at("weight"), rule_id=rule_id)
    given["weight"] = weight


def _read_phase(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    word = word_at(table, "phase", _LEVELS, faults, rule_id)
    level = given["level"] = _LEVELS[word or "A"]
    if word and contradicts(rule_id, level):
        faults.add(
            f"phase {word} contradicts the id, which starts with {rule_id[0]}.",
            table.at("phase"),
            hint="change one of the two",
            rule_id=rule_id,
        )


def _read_check(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    value = table["check"]
    if isinstance(value, Table):
        values: list[Any] = [value]
        spots = [value.spot]
    elif isinstance(value, Items):
        values, spots = value, value.spots
    else:
        given["prose"] = filled_text_at(table, "check", faults, rule_id)
        given.setdefault("checks", ())
        return
    if "checks" in table:
        faults.add("check and checks are both given", table.at_key("checks"), rule_id=rule_id)
    if not values:
        faults.add("check is an empty list", table.at("check"), rule_id=rule_id)
    given["prose"] = ""
    given["checks"] = _concrete(values, spots, faults, rule_id)


def _read_checks(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    value = table["checks"]
    if isinstance(value, Items):
        given["checks"] = _concrete(value, value.spots, faults, rule_id)
    else:
        message = f"checks must be a list of mappings, not {kind_of(value)}"
        faults.add(message, table.at("checks"), rule_id=rule_id)


def _concrete(
    values: list[Any], spots: list[Spot], faults: Faults, rule_id: str
) -> tuple[tuple[Table, Faults], ...]:
    for index, value in enumerate(values):
        if not isinstance(value, Table):
            spot = spots[index] if index < len(spots) else (0, 0)
            faults.add(
                f"a check in a list must be a mapping, not {kind_of(value)}",
                spot,
                hint="prose stands alone: check: some text",
                rule_id=rule_id,
            )
    return tuple((value, faults) for value in values if isinstance(value, Table))


def _read_fix(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    value = table["fix"]
    entries = value if isinstance(value, Items) else [value]
    fixes = []
    for entry in entries:
        if isinstance(entry, Table):
            fixes += _one_fix(entry, faults, rule_id)
        else:
            message = f"fix must be a mapping, or a list of them, not {kind_of(entry)}"
            faults.add(message, table.at("fix"), rule_id=rule_id)
    given["fixes"] = tuple(fixes)


def _one_fix(entry: Table, faults: Faults, rule_id: str) -> list[Fix]:
    from pytest_reflex import fixes

    kinds = [key for key in entry if key != "safe"]
    safe = entry.get("safe", True)
    if len(kinds) != 1 or not isinstance(safe, bool):
        faults.add(
            f"a fix names one kind and may say safe: true or false; here: {', '.join(entry)}",
            entry.spot,
            rule_id=rule_id,
        )
        return []
    fix = Fix(kind=kinds[0], params=plain(entry[kinds[0]]), safe=safe)
    for problem in fixes.problems(fix):
        spot = entry.at_key(kinds[0])
        faults.add(problem.message, spot, hint=problem.hint, rule_id=rule_id)
    return [fix]


def _read_hint(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    given["hint"] = text_at(table, "hint", faults, rule_id)


def _read_why(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    given["why"] = text_at(table, "why", faults, rule_id)


def _read_samples(table: Table, faults: Faults, rule_id: str, given: dict[str, Any]) -> None:
    samples = table_at(table, "samples", faults, rule_id)
    found: dict[str, list[str]] = {}
    for key in samples:
        if key in ("good", "bad"):
            found[key] = [text for text, _ in texts_at(samples, key, faults, rule_id)]
        else:
            hint = did_you_mean(key, ("good", "bad"))
            faults.add(
                f"samples has no key {key!r}", samples.at_key(key), hint=hint, rule_id=rule_id
            )
    given["samples"] = found


_Reader = Callable[[Table, Faults, str, dict[str, Any]], None]
_READERS: dict[str, _Reader] = {
    "id": _read_nothing,
    "description": _read_description,
    "severity": _read_severity,
    "weight": _read_weight,
    "phase": _read_phase,
    "check": _read_check,
    "checks": _read_checks,
    "fix": _read_fix,
    "hint": _read_hint,
    "why": _read_why,
    "samples": _read_samples,
}
