"""What stands before a message about a pattern: in words, what is wanted.

A message says "pattern not found", and the pattern is a separate field. Only the rule says what the
pattern is for.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult

_LONGEST = 200


def lead_with(result: CheckResult, wanted: str) -> CheckResult:
    """Return a result with `wanted` before each of its messages that is about a pattern."""
    if not patterns_of(result):
        return result
    findings = (
        replace(one, message=_lead(one.message, wanted)) if one.pattern else one
        for one in result.findings
    )
    message = _lead(result.message, wanted) if result.pattern else result.message
    return replace(result, message=message, findings=tuple(findings))


def leads_with(result: CheckResult, wanted: str) -> bool:
    """Return whether the message is about a pattern, and says what is wanted."""
    return bool(result.pattern and wanted) and result.outcome is Outcome.FAIL


def patterns_of(result: CheckResult) -> tuple[str, ...]:
    """Return the patterns that were looked for, as far as messages are about them."""
    every = (result.pattern, *(finding.pattern for finding in result.findings))
    return tuple(dict.fromkeys(filter(None, every)))


def _lead(message: str, wanted: str) -> str:
    words = one_line(" ".join(wanted.split()).rstrip("."), _LONGEST)
    return message if not words or words in message else f"{words}: {message}"
