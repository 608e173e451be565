"""What is said of one rule that did not pass: what was found, what to do, why it is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.extras import install
from pytest_reflex.model.leads import leads_with
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.verdict.formatting import not_installed

MESSAGE = 400


def told(row: RuleResult) -> str:
    """Return the rule with what its first check found that did not pass."""
    check = row.decisive
    return f"{row.rule.id}: {found(check) if check else row.message}"


def found(check: CheckResult) -> str:
    """Return what a check found, and where."""
    could_not = "check error: " if check.outcome is Outcome.ERROR else ""
    place = f" ({check.location})" if check.location else ""
    return f"{could_not}{one_line(check.message, MESSAGE)}{place}"


def remedy(row: RuleResult) -> str:
    """Return the rule's hint, or else what it wants; nothing where the message says that."""
    if row.decisive and row.decisive.cause:
        return ""
    if row.rule.hint and not (row.decisive and row.decisive.is_unjudged):
        return f"hint: {one_line(row.rule.hint, MESSAGE)}"
    wanted = (row.decisive.expected if row.decisive else "") or row.rule.description
    is_told = row.decisive is not None and leads_with(row.decisive, wanted)
    return "" if is_told else f"expected: {one_line(wanted, MESSAGE)}"


def not_installed_lines(evaluations: Iterable[Evaluation]) -> Iterator[str]:
    """Yield a line for each thing that is not installed and without which rules are not measured.

    It is said once, however many artifacts and rules there are.
    """
    rows = (row for one in evaluations for row in one.results)
    for name, ids in not_installed(rows).items():
        count = len(set(ids))
        rules = f"{count} rule{' is' if count == 1 else 's are'}"
        yield f"{name} is not installed, so {rules} not measured: {install(name)}"


def why_not(row: RuleResult) -> str:
    """Return why a rule was not measured."""
    if row.needs:
        return f"without {row.needs}"
    missing = (c.message for c in row.checks if c.outcome is Outcome.NOT_MEASURED)
    return next(missing, row.message)
