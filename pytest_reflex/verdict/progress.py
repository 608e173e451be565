"""Whether a loop still gets anywhere: stagnation, blockers that stay, oscillation, flips, the best.

Everything works on `EvaluationMark`s, the short memory of past evaluations, oldest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_reflex.model.enums import Level
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import EvaluationMark

MIN_DELTA = Fraction(2, 100)
STAGNATION_LIMIT = 2


def mark_of(evaluation: Evaluation, iteration: int) -> EvaluationMark:
    """Return the mark that an evaluation leaves."""
    return EvaluationMark(
        iteration=iteration,
        level=evaluation.level,
        score=evaluation.score,
        passed=evaluation.passed,
        blockers=tuple(result.rule.id for result in evaluation.failed),
        failing=tuple(r.rule.id for r in evaluation.results if r.unmet and not r.not_asked),
        not_asked=tuple(r.rule.id for r in evaluation.results if r.not_asked),
        not_applicable=tuple(r.rule.id for r in evaluation.not_applicable),
        sha256=evaluation.artifact_sha256,
    )


def stagnation_after(count: int, marks: Sequence[EvaluationMark]) -> int:
    """Return the stagnation count after the last mark (seed 000 "Stagnation Rule", SPEC 4).

    The first evaluation of a phase sets the baseline; a blocker leaves the count as it is.
    """
    if len(marks) < 2 or marks[-2].level is not marks[-1].level:
        return 0
    if marks[-1].blockers:
        return count
    return count + 1 if marks[-1].score - marks[-2].score < MIN_DELTA else 0


def stagnation_of(marks: Sequence[EvaluationMark]) -> int:
    """Return the stagnation count after some marks, counted from the first of them."""
    count = 0
    for number in range(1, len(marks) + 1):
        count = stagnation_after(count, marks[:number])
    return count


def stuck_on_blockers(marks: Sequence[EvaluationMark], limit: int) -> bool:
    """Return whether the last `limit` evaluations had the same blockers and score (0: never)."""
    last = tuple(marks[-limit:]) if limit else ()
    if not last or len(last) < limit or not last[-1].blockers:
        return False
    return len({(m.level, m.score, m.failing) for m in last}) == 1


def oscillates(marks: Sequence[EvaluationMark]) -> bool:
    """Return whether the loop went back: an artifact returned, or failing sets went A-B-A-B."""
    phase = [mark for mark in marks if mark.level is marks[-1].level] if marks else []
    if len(phase) < 3:
        return False
    last = phase[-1].sha256
    if last != phase[-2].sha256 and any(mark.sha256 == last for mark in phase[:-2]):
        return True
    sets = [mark.failing for mark in phase[-4:]]
    return len(sets) == 4 and sets[0] == sets[2] != sets[1] == sets[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChanges:
    """Rules whose verdict an evaluation changed against the one before, and those still failing.

    A rule that one of the two did not ask about, or that does not apply to one of them, is in none
    but the last.
    """

    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    still: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[str]]:
        return {
            "fixed": list(self.fixed),
            "broken": list(self.broken),
            "still_failing": list(self.still),
        }


def flips_between(marks: Sequence[EvaluationMark]) -> VerdictChanges | None:
    """Return how the last evaluation differs from the one before; None at the start of a phase."""
    if len(marks) < 2 or marks[-2].level is not marks[-1].level:
        return None
    before, after = marks[-2].failing, marks[-1].failing
    unknown = {rule for m in marks[-2:] for rule in (*m.not_asked, *m.not_applicable)}
    return VerdictChanges(
        fixed=tuple(rule for rule in before if rule not in after and rule not in unknown),
        broken=tuple(rule for rule in after if rule not in before and rule not in unknown),
        still=tuple(rule for rule in after if rule in before),
    )


def best(marks: Sequence[EvaluationMark]) -> EvaluationMark | None:
    """Return the best evaluation: B over A, passed, score, fewer blockers, later (SPEC 4)."""
    ranked = sorted(
        enumerate(marks),
        key=lambda pair: (
            pair[1].level is Level.B,
            pair[1].passed,
            pair[1].score,
            -len(pair[1].blockers),
            pair[0],
        ),
    )
    return ranked[-1][1] if ranked else None
