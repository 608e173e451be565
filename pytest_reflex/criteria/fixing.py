"""Fixes of rules that fail, round after round until a round changes nothing.

Promises: the text that comes out is not changed by a second go; where fixes undo each other, there
is an error and no text. Judging and mending are the caller's, so that nothing here is I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pytest_reflex.errors import UsageError
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria, Rule

MOST_ROUNDS = 8
"""A fix may bring to light what another one mends, but not without an end."""

Judge = Callable[[str], Evaluation]
Mend = Callable[[str, tuple[str, ...]], tuple[str, tuple[str, ...], Mapping[str, str]]]
"""Takes a text and ids of rules; returns the text, the rules that changed it, why others did
not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A text after fixes: its first and its last evaluation, the rules whose fixes changed it.

    `not_fixed` says why the fixes of a failing rule changed nothing.
    """

    text: str
    before: Evaluation
    after: Evaluation
    fixed: tuple[str, ...]
    not_fixed: Mapping[str, str]

    @property
    def helpless(self) -> tuple[str, ...]:
        """The rules whose fixes changed the text, and that do not pass for all that."""
        failing = {row.rule.id for row in self.after.results if not row.passed}
        return tuple(rule_id for rule_id in self.fixed if rule_id in failing)


def allow_unsafe(criteria: Criteria) -> Criteria:
    """Return the criteria with every fix taken as a safe one."""
    return replace(criteria, rules=tuple(_all_safe(rule) for rule in criteria.rules))


def fix_all(text: str, judge: Judge, mend: Mend) -> Fixed:
    """Apply the safe fixes of the rules that fail, until they change nothing.

    Raises UsageError where they undo each other, or have not come to an end in MOST_ROUNDS.
    """
    seen, fixed = {text}, dict[str, None]()
    before = after = judge(text)
    for _ in range(MOST_ROUNDS):
        new, changed, not_fixed = mend(text, _mendable(after))
        if new == text:
            others = {rule: why for rule, why in not_fixed.items() if rule not in fixed}
            return Fixed(
                text=text, before=before, after=after, fixed=tuple(fixed), not_fixed=others
            )
        fixed |= dict.fromkeys(changed)
        if new in seen:
            break
        seen.add(new)
        text, after = new, judge(new)
    raise UsageError(
        f"the fixes of {', '.join(fixed)} undo each other", hint="nothing was written: mend one"
    )


def _mendable(evaluation: Evaluation) -> tuple[str, ...]:
    rows = (row for row in evaluation.results if not row.passed)
    return tuple(row.rule.id for row in rows if any(fix.safe for fix in row.rule.fixes))


def _all_safe(rule: Rule) -> Rule:
    return replace(rule, fixes=tuple(replace(fix, safe=True) for fix in rule.fixes))
