"""Small criteria and results for tests of pure decisions."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from pytest_reflex.model.enums import DEFAULT_WEIGHT, Level, Outcome, Severity
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule, exact
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.score import judge

SHA = "ab" * 32


def rule(
    rule_id: str,
    severity: str = "fail",
    weight: object = None,
    *,
    checks: int = 1,
    level: str | None = None,
) -> Rule:
    """Return a rule with some content checks; the level comes from the id's prefix."""
    kind = Severity(severity)
    return Rule(
        id=rule_id,
        description=f"what {rule_id} asks for",
        severity=kind,
        weight=Fraction(DEFAULT_WEIGHT[kind]) if weight is None else exact(weight),  # type: ignore[arg-type]
        level=Level(level or rule_id[0].upper()),
        checks=tuple(CheckSpec(type="content", params={"search": "x"}) for _ in range(checks)),
    )


def criteria(*rules: Rule, a: object = "0.8", b: object = "0.9") -> Criteria:
    thresholds = {Level.A: exact(a), Level.B: exact(b)}  # type: ignore[arg-type]
    return Criteria(name="set", version=1, thresholds=thresholds, rules=rules)


def target(*rules: Rule, threshold: object = "0.8", level: str = "B") -> Target:
    return Target(
        criteria=criteria(*rules),
        level=Level(level),
        artifact=Path("artifact.md"),
        root=Path(),
        threshold=exact(threshold),  # type: ignore[arg-type]
    )


def evaluation(
    rules: Iterable[tuple[Rule, str]],
    *,
    threshold: object = "0.8",
    level: str = "B",
    sha: str = SHA,
) -> Evaluation:
    """Return the evaluation in which each rule's first check had the outcome beside it."""
    pairs = tuple(rules)
    results = {(r.id, 0): CheckResult(outcome=Outcome(word)) for r, word in pairs}
    goal = target(*(r for r, _ in pairs), threshold=threshold, level=level)
    return judge(goal, results, sha256=sha)
