"""What an evaluation lacks to pass, in a sentence."""

from __future__ import annotations

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import Evaluation
from pytest_reflex.verdict.formatting import gap


def distance(evaluation: Evaluation) -> str:
    """Return what is missing, and the progress, in one sentence (seed 000, distance to success)."""
    rows, others = evaluation.applicable, len(evaluation.not_applicable)
    passed = sum(row.passed for row in rows)
    unasked = sum(row.not_asked for row in evaluation.results)
    blockers = evaluation.blockers
    failing = sum(row.outcome is not Outcome.NOT_MEASURED for row in blockers)
    unmeasured = sum(row.outcome is Outcome.NOT_MEASURED and not row.not_asked for row in blockers)
    return (
        f"+{gap(evaluation)} and {failing} failing rule{'' if failing == 1 else 's'}, "
        + (f"{unmeasured} not measured, " if unmeasured else "")
        + f"{passed} of {len(rows)} rules pass"
        + (f", {unasked} not asked" if unasked else "")
        + (f", {others} not applicable" if others else "")
    )
