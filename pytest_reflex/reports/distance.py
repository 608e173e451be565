"""What an evaluation lacks to pass, in a sentence."""

from __future__ import annotations

from pytest_reflex.model.results import Evaluation
from pytest_reflex.verdict.figures import gap


def distance(evaluation: Evaluation) -> str:
    """Return gap, blockers and progress in one sentence (seed 000, distance to success)."""
    rows, others = evaluation.applicable, len(evaluation.not_applicable)
    passed = sum(row.passed for row in rows)
    unasked = sum(row.not_asked for row in evaluation.results)
    blockers = len(evaluation.blockers)
    return (
        f"gap {gap(evaluation)}, {blockers} blocking rule{'' if blockers == 1 else 's'}, "
        f"{passed} of {len(rows)} rules pass"
        + (f", {unasked} not asked" if unasked else "")
        + (f", {others} not applicable" if others else "")
    )
