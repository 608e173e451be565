"""Rules and criteria as frozen values, with their wire form (seed 000, `run.json.criteria`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pytest_reflex.errors import CriteriaError, Place
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import ACTIVE_LEVELS, Level, Severity

LONGEST_ID = 120
_PART = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_ID = re.compile(rf"{_PART}(?:\.{_PART})+")
_LEVELS = {"a.": Level.A, "b.": Level.B}


def is_id(text: str) -> bool:
    """Return whether a rule may be called so."""
    return _ID.fullmatch(text) is not None and len(text) <= LONGEST_ID


def level_of(rule_id: str) -> Level | None:
    """Return the level that an id of the form `<a|b>.<category>.<name>` names, else None."""
    level = _LEVELS.get(rule_id[:2])
    return level if level and rule_id.count(".") == 2 else None


def contradicts(rule_id: str, level: Level) -> bool:
    """Return whether the id starts with the other level's letter."""
    return _LEVELS.get(rule_id[:2], level) is not level


ALTERNATIVES = "any_of"
"""The type of a check that is a list of checks, of which one has to pass; and its only key."""


NO_PARAMETERS = frozenset({"type", "expected", "rule_id", "group"})
"""The keys that a check of any type may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """One concrete check of a rule, as written: a type, its parameters, and prose for people.

    `params` holds every key of the check but `type`, `expected`, `group` and `rule_id`. Checks of
    one `group` never run beside each other.
    """

    type: str
    params: Mapping[str, Any]
    expected: str = ""
    place: Place | None = None
    group: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of this check and of its alternatives, sorted."""
        if self.type == ALTERNATIVES:
            return tuple(sorted({one.group for one in (self, *self.alternatives)} - {""}))
        return (self.group,) if self.group else ()

    @property
    def alternatives(self) -> tuple[CheckSpec, ...]:
        """The checks of which one has to pass, where it is such a list; else none."""
        given = self.params[ALTERNATIVES] if self.type == ALTERNATIVES else ()
        return tuple(CheckSpec.from_json(each) for each in given)

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"type": self.type, **self.params}
        if self.expected:
            wire["expected"] = self.expected
        if self.group:
            wire["group"] = self.group
        return wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> CheckSpec:
        return cls(
            type=wire["type"],
            params={key: value for key, value in wire.items() if key not in NO_PARAMETERS},
            expected=wire.get("expected", ""),
            group=wire.get("group", ""),
        )


NOT = "not"
"""The key of a condition that is the opposite of another one."""

CONDITIONS = {"path": "structure", "search": "content", "file": "file"}
"""The keys of which a condition has one, each with the type of check that decides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What has to hold for a rule to apply: that a check passes; with `negated`, that it fails."""

    check: CheckSpec
    negated: bool = False

    def to_json(self) -> dict[str, Any]:
        params = dict(self.check.params)
        return {NOT: params} if self.negated else params

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Condition:
        negated = NOT in wire
        params = wire[NOT] if negated else wire
        key = next((key for key in CONDITIONS if key in params), "")
        return cls(check=CheckSpec(type=CONDITIONS[key], params=params), negated=negated)


def variable_name(value: Any) -> str:
    """Return the name in a node `{var: NAME}`; of any other value the empty string."""
    if isinstance(value, Mapping) and len(value) == 1:
        name = value.get("var")
        return name if isinstance(name, str) else ""
    return ""


FORMAT = "format"
"""The kind of fix that runs a program; it has to be called safe to be applied unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A fix that a rule carries: a kind (insert_section, ...) and parameters."""

    kind: str
    params: Mapping[str, Any]
    safe: bool = True

    def to_json(self) -> dict[str, Any]:
        usual = self.safe is safe_by_default(self.kind)
        return {self.kind: dict(self.params)} | ({} if usual else {"safe": self.safe})

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Fix:
        kind = next(key for key in wire if key != "safe")
        safe = wire.get("safe", safe_by_default(kind))
        return cls(kind=kind, params=wire[kind], safe=safe)


def safe_by_default(kind: str) -> bool:
    """Return whether a fix that does not say is applied unasked."""
    return kind != FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What must hold. `checks` is empty where PREPARE or a judge has to turn `prose` into one.

    Where one of the conditions in `when` does not hold, the rule is not applicable.
    """

    id: str
    description: str
    severity: Severity
    weight: Fraction
    level: Level
    checks: tuple[CheckSpec, ...] = ()
    prose: str = ""
    fixes: tuple[Fix, ...] = ()
    hint: str = ""
    why: str = ""
    when: tuple[Condition, ...] = ()
    samples: Mapping[str, Sequence[Sample]] = field(default_factory=dict)
    place: Place | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the seed's full rule (`check` is prose) with our keys `checks`, `fix` added."""
        wire: dict[str, Any] = {
            "id": self.id,
            "description": self.description,
            "severity": self.severity.value,
            "weight": number(self.weight),
            "phase": self.level.value,
            "check": self.prose
            or "; ".join(c.expected for c in self.checks if c.expected)
            or self.description,
        }
        if self.checks:
            wire["checks"] = [check.to_json() for check in self.checks]
        if self.fixes:
            wire["fix"] = [fix.to_json() for fix in self.fixes]
        if self.hint:
            wire["hint"] = self.hint
        if self.why:
            wire["why"] = self.why
        if self.when:
            wire["when"] = [condition.to_json() for condition in self.when]
        return wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Rule:
        """Read a rule that `to_json` wrote; a foreign one goes through the criteria reader."""
        return cls(
            id=wire["id"],
            description=wire["description"],
            severity=Severity(wire["severity"]),
            weight=exact(wire["weight"]),
            level=Level(wire["phase"]),
            prose=wire["check"],
            checks=tuple(CheckSpec.from_json(check) for check in wire.get("checks", ())),
            fixes=tuple(Fix.from_json(fix) for fix in wire.get("fix", ())),
            hint=wire.get("hint", ""),
            why=wire.get("why", ""),
            when=tuple(Condition.from_json(one) for one in wire.get("when", ())),
        )


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """An inherited rule to which an override gives `severity: off`, and where it does."""

    id: str
    place: Place

    def __str__(self) -> str:
        return f"{self.id} ({self.place.path}:{self.place.line})"

    def to_json(self) -> dict[str, Any]:
        path, line, column = self.place
        return {"id": self.id, "location": {"path": path, "line": line, "column": column}}

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> SwitchedOff:
        return cls(wire["id"], Place(**wire["location"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """A named, versioned set of rules with a threshold per level.

    The rules that were `switched_off` are not among its rules.
    """

    name: str
    version: int
    thresholds: Mapping[Level, Fraction]
    rules: tuple[Rule, ...]
    vars: Mapping[str, Any] = field(default_factory=dict)
    commands: Mapping[str, Any] = field(default_factory=dict)
    source: str = field(default="", compare=False)
    switched_off: tuple[SwitchedOff, ...] = ()

    def active(self, level: Level) -> tuple[Rule, ...]:
        """Return the rules that count at `level`, in the order of the file."""
        levels = ACTIVE_LEVELS[level]
        return tuple([rule for rule in self.rules if rule.level in levels])

    def has(self, level: Level) -> bool:
        return any(rule.level is level for rule in self.rules)

    def rule(self, rule_id: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.id == rule_id), None)

    @property
    def commands_for_agents(self) -> Mapping[str, Any]:
        """The commands that an agent's checks may call: none that changes what it is given."""
        formatters = {
            fix.params["command"] for rule in self.rules for fix in rule.fixes if fix.kind == FORMAT
        }
        return {name: one for name, one in self.commands.items() if name not in formatters}

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "name": self.name,
            "version": self.version,
            "phase": {
                level.value: {
                    "threshold": number(threshold),
                    "active_levels": [active.value for active in ACTIVE_LEVELS[level]],
                }
                for level, threshold in self.thresholds.items()
            },
            "rules": [rule.to_json() for rule in self.rules],
        }
        if self.vars:
            wire["vars"] = dict(self.vars)
        if self.commands:
            wire["commands"] = dict(self.commands)
        if self.switched_off:
            wire["switched_off"] = [one.to_json() for one in self.switched_off]
        return wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Criteria:
        """Read criteria that `to_json` wrote; foreign ones go through the criteria reader."""
        return cls(
            name=wire["name"],
            version=wire["version"],
            thresholds={Level(k): exact(v["threshold"]) for k, v in wire["phase"].items()},
            rules=tuple(Rule.from_json(rule) for rule in wire["rules"]),
            vars=wire.get("vars", {}),
            commands=wire.get("commands", {}),
            switched_off=tuple(map(SwitchedOff.from_json, wire.get("switched_off", ()))),
        )


VARIABLE_PREFIX = "PYTEST_REFLEX_VAR_"


def environment_of(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return variables of criteria as environment variables for commands; raises CriteriaError."""
    found: dict[str, str] = {}
    for name, value in variables.items():
        variable = VARIABLE_PREFIX + name.upper()
        if variable in found:
            raise CriteriaError(
                f"two variables differ only in case: {name!r}",
                hint="rename one: commands see them in upper case",
            )
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if "\0" in text:
            raise CriteriaError(f"the variable {name!r} holds a NUL byte")
        found[variable] = text
    return found


def cannot_fail(rules: Sequence[Rule], threshold: Fraction) -> bool:
    """Return whether nothing in this set can fail the gate, so that passing would mean nothing."""
    if any(rule.severity is Severity.FAIL for rule in rules):
        return False
    return threshold == 0 or not any(rule.weight for rule in rules)


def exact(value: int | float | str) -> Fraction:
    """Return the exact value of a number as it is written: 0.1 is 1/10."""
    return Fraction(value) if isinstance(value, int) else Fraction(str(value))


def round_down(value: Fraction) -> int | float:
    """Return a JSON number of at most 12 decimals that is never above an exact value (>= 0)."""
    kept = Fraction(value.numerator * 10**12 // value.denominator, 10**12)
    return number(kept)


def ideal_of(criteria: Criteria) -> str:
    """Return the ideal result of a task for which a person has named none: the last phase."""
    return f"passes phase {'B' if criteria.has(Level.B) else 'A'} of {criteria.name}"


def number(value: Fraction) -> int | float:
    """Return the JSON number nearest to an exact value."""
    return value.numerator if value.denominator == 1 else float(value)
