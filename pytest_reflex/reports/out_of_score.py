"""Rules that do not count for an evaluation, in lines for people, each with a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import SwitchedOff

_LONGEST = 400


def out_of_score(
    evaluation: Evaluation, *, listed: int, patterns: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the rules that do not apply, those for the same reason together, and those off.

    With `patterns` they follow that conditions looked for.
    """
    reasons: dict[str, list[str]] = {}
    for row in evaluation.not_applicable:
        reasons.setdefault(one_line(row.message, _LONGEST), []).append(row.rule.id)
    for reason, ids in reasons.items():
        more = f" and {len(ids) - listed} more" if len(ids) > listed else ""
        yield "N/A", f"not applicable ({reason}): {', '.join(ids[:listed])}{more}"
    for row in evaluation.not_applicable if patterns else ():
        for pattern in {check.pattern: None for check in row.checks if check.pattern}:
            yield "", f"pattern of {row.rule.id}: {one_line(pattern, _LONGEST)}"
    if told := switched_off_line(evaluation.switched_off):
        yield "OFF", told


def switched_off_line(found: Sequence[SwitchedOff]) -> str:
    """Return the rules that are switched off, with where they are; empty where none is."""
    return f"switched off: {', '.join(map(str, found))}" if found else ""
