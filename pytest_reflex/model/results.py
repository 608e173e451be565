"""What checks, rules and evaluations came to, with the wire form of seed 001."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import SkippedFile
from pytest_reflex.model.enums import Level, Outcome, Severity
from pytest_reflex.model.judged import NAMING, Ballot
from pytest_reflex.model.rules import Rule, SwitchedOff, cannot_fail, exact, number, round_down

SCHEMA_VERSION = 1

# How a note about processes that outlived their command begins.
LEFT_CHILDREN = "left children"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFinding:
    """One of the things that a check found wrong, and where.

    `pointer` is the JSON Pointer of a value in data, `pattern` what the message is about, if any.
    """

    message: str
    location: Place | None = None
    pointer: str = ""
    pattern: str = ""

    def to_json(self) -> dict[str, Any]:
        place = self.location.to_json() if self.location else None
        wire: dict[str, Any] = {"message": self.message, "location": place}
        further = {"pointer": self.pointer, "pattern": self.pattern}
        return wire | {key: value for key, value in further.items() if value}

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> PlacedFinding:
        known = {key: wire[key] for key in ("message", "pointer", "pattern") if key in wire}
        return cls(location=Place.from_json(wire["location"]), **known)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check came to.

    `message` is one line on what was found; about a `pattern` it says what is wanted, in words.
    `evidence` is a short excerpt (may have several lines), `location` the position in the artifact,
    `duration` seconds, `notes` such as "left children". `findings` are all that was found
    wrong, up to a number, and `more_findings` how many are left out. `ballots` are the votes of
    agents that it came of, none where a program judged; `not_asked` says that a judge was left out
    because rules had failed already.

    `cause` is what could not be read ("api.yaml as YAML"), the same for every check that has to
    read it; a verdict then lets one rule fail by it, which `same_cause` names in all others.
    `needs` is what has to be installed for it to be measured. All plain data, to cross processes.
    """

    outcome: Outcome
    message: str = ""
    expected: str = ""
    pattern: str = ""
    evidence: str = ""
    location: Place | None = None
    duration: float = 0.0
    notes: tuple[str, ...] = ()
    findings: tuple[PlacedFinding, ...] = ()
    more_findings: int = 0
    ballots: tuple[Ballot, ...] = ()
    not_asked: bool = False
    cause: str = ""
    same_cause: str = ""
    needs: str = ""

    @property
    def is_unjudged(self) -> bool:
        """Whether nothing is known of what the rule asks: its hint is about something else."""
        return bool(self.cause) or self.outcome in (Outcome.ERROR, Outcome.NOT_MEASURED)

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"outcome": self.outcome.value, "message": self.message}
        for key in _FIRST:
            if value := getattr(self, key):
                wire[key] = value
        if self.location:
            wire["location"] = self.location.to_json()
        if self.notes:
            wire["notes"] = list(self.notes)
        if self.findings:
            wire["findings"] = [finding.to_json() for finding in self.findings]
        if self.ballots:
            wire["ballots"] = [ballot.to_json() for ballot in self.ballots]
        for key in _LAST:
            if value := getattr(self, key):
                wire[key] = value
        wire["duration"] = round(self.duration, 6)
        return wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> CheckResult:
        return cls(
            outcome=Outcome(wire["outcome"]),
            location=Place.from_json(wire.get("location")),
            notes=tuple(wire.get("notes", ())),
            findings=tuple(PlacedFinding.from_json(one) for one in wire.get("findings", ())),
            ballots=tuple(Ballot.from_json(one) for one in wire.get("ballots", ())),
            **{key: wire[key] for key in (*_FIRST, *_LAST, "message", "duration") if key in wire},
        )


_FIRST = ("expected", "pattern", "evidence")
_LAST = ("more_findings", "not_asked", "cause", "same_cause", "needs")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What a rule came to: it passes iff every check passed and there was one."""

    rule: Rule
    checks: tuple[CheckResult, ...]
    outcome: Outcome

    @property
    def passed(self) -> bool:
        return self.outcome is Outcome.PASS

    @property
    def applicable(self) -> bool:
        """Whether it counts: its conditions hold, or it has none."""
        return self.outcome is not Outcome.NOT_APPLICABLE

    @property
    def unmet(self) -> bool:
        """Whether it counts, and did not pass."""
        return self.applicable and not self.passed

    @property
    def not_asked(self) -> bool:
        """Whether all that is missing are votes of a judge that was not asked: rules had failed."""
        missing = [c for c in self.checks if c.outcome is Outcome.NOT_MEASURED]
        open_yet = self.outcome is Outcome.NOT_MEASURED and bool(missing)
        return open_yet and all(check.not_asked for check in missing)

    @property
    def same_cause(self) -> str:
        """The rule that failed by what kept this one from being measured; empty for none."""
        if self.outcome is not Outcome.NOT_MEASURED:
            return ""
        rules = [c.same_cause for c in self.checks if c.outcome is Outcome.NOT_MEASURED]
        return rules[0] if all(rules) and rules else ""

    @property
    def needs(self) -> str:
        """What has to be installed for this rule to be measured; empty where that is not all."""
        missing = {c.needs for c in self.checks if c.outcome is Outcome.NOT_MEASURED}
        is_open = self.outcome is Outcome.NOT_MEASURED and "" not in missing
        return min(missing, default="") if is_open else ""

    @property
    def decisive(self) -> CheckResult | None:
        """The first check that kept the rule from passing; the first one where it passed."""
        bad = [c for c in self.checks if c.outcome is not Outcome.PASS]
        own = (c for c in bad if not c.same_cause)
        return next(own, next(iter(bad or self.checks), None))

    @property
    def message(self) -> str:
        check = self.decisive
        if check:
            return check.message
        return f"it has no check, and no LLM judge is configured: {NAMING}"

    def to_json(self) -> dict[str, Any]:
        check = self.decisive
        unmet = self.rule.severity if self.applicable else self.outcome
        wire: dict[str, Any] = {
            "id": self.rule.id,
            "verdict": "pass" if self.passed else unmet.value,
            "details": self.message,
            "outcome": self.outcome.value,
            "severity": self.rule.severity.value,
            "weight": number(self.rule.weight),
            "phase": self.rule.level.value,
            "duration": round(sum(c.duration for c in self.checks), 6),
        }
        if self.same_cause:
            wire["same_cause"] = self.same_cause
        for key in ("pattern", "evidence"):
            if check and (value := getattr(check, key)):
                wire[key] = value
        if check and check.location:
            wire["location"] = check.location.to_json()
        wire["checks"] = [c.to_json() for c in self.checks]
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The verdicts of all active rules on one exact artifact.

    Built by `verdict.score.judge` only, so that `score` and `passed` always follow from `results`.
    `unsound` says why the evaluation as a whole cannot pass (the artifact changed while it ran);
    `left_out` is what a folder holds that was not read with it, and `switched_off` are the
    inherited rules that its criteria do without.
    """

    criteria: str
    version: int
    level: Level
    threshold: Fraction
    artifact: str
    artifact_sha256: str
    results: tuple[RuleResult, ...]
    score: Fraction
    passed: bool
    unsound: str = ""
    left_out: tuple[SkippedFile, ...] = ()
    switched_off: tuple[SwitchedOff, ...] = ()

    @property
    def artifact_hash(self) -> str:
        return self.artifact_sha256[:8]

    @property
    def failed(self) -> tuple[RuleResult, ...]:
        """Fail-severity rules that did not pass: the blockers."""
        return self._not_passed(Severity.FAIL)

    @property
    def blockers(self) -> tuple[RuleResult, ...]:
        """Those of `failed` that have a reason of their own."""
        return tuple(row for row in self.failed if not (row.not_asked or row.same_cause))

    @property
    def warnings(self) -> tuple[RuleResult, ...]:
        return self._not_passed(Severity.WARN)

    @property
    def findings(self) -> tuple[RuleResult, ...]:
        """What a critique can be about: blockers, then warnings, but for judges not asked."""
        return tuple(row for row in (*self.failed, *self.warnings) if not row.not_asked)

    @property
    def applicable(self) -> tuple[RuleResult, ...]:
        """The rules that count."""
        return tuple(row for row in self.results if row.applicable)

    @property
    def not_applicable(self) -> tuple[RuleResult, ...]:
        """The rules whose conditions do not hold: they count for nothing."""
        return tuple(row for row in self.results if not row.applicable)

    @property
    def decides(self) -> bool:
        """Whether a rule that counts can fail the gate; else nothing that matters was measured."""
        if not self.not_applicable:
            return True
        return not cannot_fail([row.rule for row in self.applicable], self.threshold)

    @property
    def measured(self) -> int:
        """Number of rules that a check judged (pass or fail)."""
        return sum(r.outcome in (Outcome.PASS, Outcome.FAIL) for r in self.results)

    @property
    def judged(self) -> int:
        """Number of rules on which agents voted."""
        return sum(any(c.ballots for c in row.checks) for row in self.results)

    @property
    def ballots(self) -> tuple[Ballot, ...]:
        """The ballots of all checks, in the order of the rules."""
        return tuple(b for row in self.results for check in row.checks for b in check.ballots)

    @property
    def complete(self) -> bool:
        """Whether every rule that counts reported: an error is a report, a lost rule is none.

        A judge that was not asked is not missing, nor is a cause that failed another rule. Where no
        rule applies that can fail the gate, nothing is complete.
        """
        rows = (r for r in self.results if r.rule.severity is not Severity.INFO)
        missing = (r for r in rows if r.outcome is Outcome.NOT_MEASURED)
        return self.decides and all(r.not_asked or r.same_cause for r in missing)

    def _not_passed(self, severity: Severity) -> tuple[RuleResult, ...]:
        return tuple(r for r in self.results if r.unmet and r.rule.severity is severity)

    def to_json(self) -> dict[str, Any]:
        """Return the wire form of seed 001 with the keys that SPEC section 3 adds."""
        wire: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "criteria": {"name": self.criteria, "version": self.version},
            "phase": self.level.value,
            "artifact": self.artifact,
            "artifact_hash": self.artifact_hash,
            "artifact_sha256": self.artifact_sha256,
            "score": float(round_down(self.score)),
            "score_exact": f"{self.score.numerator}/{self.score.denominator}",
            "threshold": number(self.threshold),
            "passed": self.passed,
            "measured": self.measured,
            "total": len(self.results),
            "failed": [_short(result) for result in self.failed],
            "warnings": [_short(result) for result in self.warnings],
            "rule_results": [result.to_json() for result in self.results],
        }
        further = {
            "not_applicable": len(self.not_applicable),
            "judged": self.judged,
            "unsound": self.unsound,
            "left_out": [one.to_json() for one in self.left_out],
            "switched_off": [one.to_json() for one in self.switched_off],
        }
        return wire | {key: value for key, value in further.items() if value}


def _short(result: RuleResult) -> dict[str, Any]:
    rule = result.rule
    wire = {"id": rule.id, "severity": rule.severity.value, "message": result.message}
    return wire | ({"same_cause": result.same_cause} if result.same_cause else {})


def evaluation_from_json(wire: Mapping[str, Any], rules: Mapping[str, Rule]) -> Evaluation:
    """Rebuild an evaluation from its wire form and the rules by id; `score` stays exact."""
    results = tuple(
        RuleResult(
            rule=rules[row["id"]],
            outcome=Outcome(row["outcome"]),
            checks=tuple(CheckResult.from_json(check) for check in row["checks"]),
        )
        for row in wire["rule_results"]
    )
    return Evaluation(
        criteria=wire["criteria"]["name"],
        version=wire["criteria"]["version"],
        level=Level(wire["phase"]),
        threshold=exact(wire["threshold"]),
        artifact=wire["artifact"],
        artifact_sha256=wire["artifact_sha256"],
        results=results,
        score=Fraction(wire["score_exact"]),
        passed=wire["passed"],
        unsound=wire.get("unsound", ""),
        left_out=tuple(SkippedFile.from_json(one) for one in wire.get("left_out", ())),
        switched_off=tuple(map(SwitchedOff.from_json, wire.get("switched_off", ()))),
    )
