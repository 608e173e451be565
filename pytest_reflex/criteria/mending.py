"""Whether the safe fixes of a rule fix a bad sample of it."""

from __future__ import annotations

from collections.abc import Callable

from pytest_reflex import fixes
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.samples import Sample


def can_be_tried(rule: Rule, sample: Sample) -> bool:
    """Return whether a fix can be tried: a fix fixes one text."""
    return any(fix.safe for fix in rule.fixes) and bool(rule.checks) and not sample.is_folder


def mends(
    criteria: Criteria,
    rule: Rule,
    sample: Sample,
    passes: Callable[[Sample], bool | None],
    formatter: fixes.Formatter,
) -> bool:
    """Return whether the rule passes after its safe fixes, as `criteria fix` applies them."""
    ((name, text),) = sample.files.items()
    mended = fixes.mend(criteria, (rule.id,), text, formatter).text
    return mended != text and passes(Sample.of_text(mended, name)) is True
