"""Fixes of rules that fail, pass after pass until a pass changes nothing.

Promises: the text that comes out is not changed by a second go, and is no worse than what came in;
where fixes undo each other, there is an error and no text. Judging and fixing are the caller's,
so that nothing here is I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from pytest_reflex.errors import UsageError
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria, Rule

MOST_ROUNDS = 8
"""A fix may bring to light what another one fixes, but not without an end."""

Judge = Callable[[str], Evaluation]
ApplyFixes = Callable[[str, tuple[str, ...]], tuple[str, tuple[str, ...], Mapping[str, str]]]
"""Takes a text and ids of rules; returns the text, the rules that changed it, why others did
not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixResult:
    """A text after fixes: its first and its last evaluation, the rules whose fixes changed it.

    `not_fixed` says why the fixes of a failing rule changed nothing, or were left out.
    """

    text: str
    before: Evaluation
    after: Evaluation
    fixed: tuple[str, ...]
    not_fixed: Mapping[str, str]

    @property
    def helpless(self) -> tuple[str, ...]:
        """The rules whose fixes changed the text, and that do not pass for all that."""
        failing = {row.rule.id for row in self.after.results if row.unmet}
        return tuple(rule_id for rule_id in self.fixed if rule_id in failing)

    @property
    def unsafe(self) -> tuple[str, ...]:
        """The rules that still do not pass, and have a fix that is not applied unasked."""
        failing = (row.rule for row in self.after.results if row.unmet)
        return tuple(rule.id for rule in failing if any(not fix.safe for fix in rule.fixes))

    @property
    def new_blockers(self) -> tuple[str, ...]:
        """The rules that block, and did not before."""
        old = _blockers(self.before)
        return tuple(rule_id for rule_id in _blockers(self.after) if rule_id not in old)

    @property
    def broken(self) -> tuple[str, ...]:
        """The rules that do not pass, and passed before."""
        old = {row.rule.id for row in self.before.results if row.passed}
        failing = (row.rule.id for row in self.after.results if row.unmet)
        return tuple(rule_id for rule_id in failing if rule_id in old)

    @property
    def is_worse(self) -> bool:
        return bool(self.new_blockers) or self.after.score < self.before.score


def allow_unsafe(criteria: Criteria) -> Criteria:
    """Return the criteria with every fix taken as a safe one."""
    return replace(criteria, rules=tuple(_all_safe(rule) for rule in criteria.rules))


def fix_all(text: str, judge: Judge, apply: ApplyFixes) -> FixResult:
    """Apply the safe fixes of the rules that fail, until they change nothing.

    A fix is left out where the outcome is as good without it, and where with it a rule fails that
    did not fail before, unless what it fixes counts for more; a rule that blocks counts for more
    than any other. Raises UsageError where fixes undo each other, or
    have not come to an end in MOST_ROUNDS.
    """
    known: dict[str, Evaluation] = {}

    def evaluate_once(one: str) -> Evaluation:
        return known[one] if one in known else known.setdefault(one, judge(one))

    left_out: dict[str, str] = {}
    done = _fix_until_stable(text, evaluate_once, apply, left_out)
    while found := _choose_next_exclusion(
        done, lambda rule: _without(rule, text, evaluate_once, apply, left_out)
    ):
        rule_id, why, done = found
        left_out[rule_id] = why
    reasons = {**done.not_fixed, **left_out}
    return replace(done, not_fixed={rule: why for rule, why in reasons.items() if why})


def _fix_until_stable(
    text: str, judge: Judge, apply: ApplyFixes, left_out: Collection[str]
) -> FixResult:
    """Return what fixes come to, pass after pass, without those of some rules."""
    seen, fixed = {text}, dict[str, None]()
    before = after = judge(text)
    for _ in range(MOST_ROUNDS):
        wanted = tuple(rule_id for rule_id in _fixable(after) if rule_id not in left_out)
        new, changed, not_fixed = apply(text, wanted)
        if new == text:
            others = {rule: why for rule, why in not_fixed.items() if rule not in fixed}
            return FixResult(
                text=text, before=before, after=after, fixed=tuple(fixed), not_fixed=others
            )
        fixed |= dict.fromkeys(changed)
        if new in seen:
            break
        seen.add(new)
        text, after = new, judge(new)
    raise UsageError(
        f"the fixes of {', '.join(fixed)} undo each other", hint="nothing was written: fix one"
    )


def _without(
    rule_id: str, text: str, judge: Judge, apply: ApplyFixes, left_out: Collection[str]
) -> FixResult | None:
    try:
        return _fix_until_stable(text, judge, apply, {*left_out, rule_id})
    except UsageError:
        return None


def _choose_next_exclusion(
    done: FixResult, without: Callable[[str], FixResult | None]
) -> tuple[str, str, FixResult] | None:
    """Return the rule whose fixes are to be left out next, why, and what it comes to then."""
    for rule_id in done.helpless:
        other = without(rule_id)
        if other is not None and _merit(other) >= _merit(done):
            return rule_id, "its fix does not help: it still fails with it", other
    if not done.broken:
        return None
    tried = ((rule_id, without(rule_id)) for rule_id in done.fixed)
    found = [(rule_id, other) for rule_id, other in tried if other is not None]
    if not found:
        return None
    rule_id, other = max(found, key=lambda each: _merit(each[1]))
    if _merit(other) <= _merit(done) and not done.is_worse:
        return None
    return rule_id, _harm(done, other), other


def _merit(done: FixResult) -> tuple[int, int, Fraction, int]:
    failing = sum(row.unmet for row in done.after.results)
    return -len(done.new_blockers), -len(_blockers(done.after)), done.after.score, -failing


def _harm(done: FixResult, other: FixResult) -> str:
    broken = [rule for rule in done.broken if rule not in other.broken] or done.broken
    return f"its fix makes {', '.join(broken)} fail"


def _blockers(evaluation: Evaluation) -> tuple[str, ...]:
    return tuple(row.rule.id for row in evaluation.failed)


def _fixable(evaluation: Evaluation) -> tuple[str, ...]:
    rows = (row for row in evaluation.results if row.unmet)
    return tuple(row.rule.id for row in rows if any(fix.safe for fix in row.rule.fixes))


def _all_safe(rule: Rule) -> Rule:
    return replace(rule, fixes=tuple(replace(fix, safe=True) for fix in rule.fixes))
