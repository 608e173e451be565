"""Score and gate of one evaluation (seed 000, SPEC), and what votes come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from pytest_reflex.model.artifact import SkippedFile
from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.judged import Ballot, Ruling
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import Rule, cannot_fail
from pytest_reflex.model.targets import Target

MOST_VOTES = 9


def majority(size: int) -> int:
    """Return how many votes are more than half."""
    return size // 2 + 1


def ruling_of(ballot: Ballot) -> Ruling | None:
    """Return what a ballot comes to, None where votes that are still to come may change it.

    pass: the quorum passes. fail: so many say fail that it cannot be reached, whatever the others
    say. undecided: neither, and it will be neither.
    """
    return decide_votes(ballot.rulings, size=ballot.size, quorum=ballot.quorum)


def decide_votes(rulings: Sequence[Ruling], *, size: int, quorum: int) -> Ruling | None:
    """Return what votes come to of which `size` may be cast and `quorum` have to pass."""
    passes, fails = rulings.count(Ruling.PASS), rulings.count(Ruling.FAIL)
    left = size - len(rulings)
    spare = size - quorum
    if passes >= quorum:
        return Ruling.PASS
    if fails > spare:
        return Ruling.FAIL
    if passes + left < quorum and fails + left <= spare:
        return Ruling.UNDECIDED
    return None


UNDECIDED = "no rule that can fail the gate is applicable"
Results = Mapping[tuple[str, int], CheckResult]

# The worst thing that happened to any check of a rule decides what the rule came to.
_GRAVE_FIRST = (Severity.FAIL, Severity.WARN, Severity.INFO)
_WORST_FIRST = (Outcome.FAIL, Outcome.ERROR, Outcome.NOT_MEASURED)


def outcome_of(checks: Sequence[CheckResult]) -> Outcome:
    """Return what a rule came to: pass iff it has checks and all of them passed.

    It is not applicable iff all of them say so: what only some say was not measured.
    """
    found = {check.outcome for check in checks}
    if len(found) == 1:
        return found.pop()
    return next((outcome for outcome in _WORST_FIRST if outcome in found), Outcome.NOT_MEASURED)


def judge(
    target: Target,
    results: Results,
    *,
    sha256: str,
    unsound: str = "",
    left_out: tuple[SkippedFile, ...] = (),
) -> Evaluation:
    """Return the evaluation that follows from what the checks reported.

    `results` maps (rule id, number of the check in its rule) to a result. The expected checks
    come from the target: one that is not in `results` counts as not measured, never as passed.
    """
    rows = one_of_each_cause(_rule_result(rule, results) for rule in target.rules)
    score = score_of(rows)
    if not unsound and _is_undecided(target.bar, rows):
        unsound = UNDECIDED
    return Evaluation(
        criteria=target.criteria.name,
        version=target.criteria.version,
        level=target.level,
        threshold=target.bar,
        artifact=target.label or str(target.artifact),
        artifact_sha256=sha256,
        results=rows,
        score=score,
        passed=not unsound and gate(score, target.bar, rows),
        unsound=unsound,
        left_out=left_out,
        switched_off=target.criteria.switched_off,
    )


def one_of_each_cause(results: Iterable[RuleResult]) -> tuple[RuleResult, ...]:
    """Return results of which one check fails by each thing that could not be read.

    It is that of the first rule of severity fail that had to read it, or else of the first of the
    next severity. The other checks that had to are not measured, and name that rule.
    """
    rows = tuple(results)
    first: dict[str, tuple[int, int, int]] = {}
    for number, row in enumerate(rows):
        for index, check in enumerate(row.checks):
            if check.cause:
                rank = (_GRAVE_FIRST.index(row.rule.severity), number, index)
                first[check.cause] = min(first.get(check.cause, rank), rank)
    return rows if not first else tuple(_settle_rule(n, rows, first) for n in range(len(rows)))


def _settle_rule(
    number: int, rows: Sequence[RuleResult], first: Mapping[str, tuple[int, int, int]]
) -> RuleResult:
    """Return the result of a rule, given which check is the first that met each cause."""
    if not any(check.cause for check in rows[number].checks):
        return rows[number]
    checks = []
    for index, check in enumerate(rows[number].checks):
        if check.cause:
            _, blamed, place = first[check.cause]
            if (blamed, place) == (number, index):
                check = replace(check, outcome=Outcome.FAIL)
            else:
                check = _same_cause(check, rows[blamed].rule.id)
        checks.append(check)
    return replace(rows[number], checks=tuple(checks), outcome=outcome_of(checks))


def _same_cause(check: CheckResult, rule_id: str) -> CheckResult:
    return CheckResult(
        outcome=Outcome.NOT_MEASURED,
        message=f"same cause as {rule_id}: {check.message}",
        expected=check.expected,
        duration=check.duration,
        cause=check.cause,
        same_cause=rule_id,
    )


def with_results(evaluation: Evaluation, results: tuple[RuleResult, ...]) -> Evaluation:
    """Return the evaluation that follows from other results of the same rules.

    Promises: it passes only where the one that was given did.
    """
    score = score_of(results)
    passed = evaluation.passed and gate(score, evaluation.threshold, results)
    return replace(evaluation, results=results, score=score, passed=passed)


def score_of(results: Iterable[RuleResult]) -> Fraction:
    """Return passed weight / all weight of the rules that are applicable.

    It is 1 where only zero-weight rules are left, and 0 where none is.
    """
    every = tuple(results)
    rows = [row for row in every if row.applicable]
    total = sum((row.rule.weight for row in rows), Fraction(0))
    earned = sum((row.rule.weight for row in rows if row.passed), Fraction(0))
    return earned / total if total else Fraction(bool(rows) or not every)


def gate(score: Fraction, threshold: Fraction, results: Sequence[RuleResult]) -> bool:
    """Return whether the evaluation passes: threshold met, no blocker, something to judge."""
    blocked = any(row.unmet and row.rule.severity is Severity.FAIL for row in results)
    if _is_undecided(threshold, results):
        return False
    return bool(results) and score >= threshold and not blocked


def _is_undecided(threshold: Fraction, results: Sequence[RuleResult]) -> bool:
    """Return whether only rules that are not applicable could have failed the gate."""
    left = [row.rule for row in results if row.applicable]
    return len(left) < len(results) and cannot_fail(left, threshold)


def _rule_result(rule: Rule, results: Results) -> RuleResult:
    missing = CheckResult(outcome=Outcome.NOT_MEASURED, message="this check did not report")
    checks = tuple(results.get((rule.id, n), missing) for n in range(len(rule.checks)))
    return RuleResult(rule=rule, checks=checks, outcome=outcome_of(checks))
