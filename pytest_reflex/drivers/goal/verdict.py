"""What a goal came to: the verdict on its criteria, and the box that shows it.

SHIP: everything is met, by execution output, observation or measurement, and can be rolled back.
MONITOR: something rests on a review or a claim, or cannot be rolled back fast. RESEARCH: something
is unmet or assumed, or more than 30 % of the criteria are weak.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from enum import StrEnum
from fractions import Fraction

from pytest_reflex.drivers.goal.model import Criterion, GoalState, Reversibility, Verification
from pytest_reflex.drivers.goal.spec import points_of
from pytest_reflex.model.plain import boundary, columns, visible

MOST_WEAK = Fraction(3, 10)
NARROWEST, WIDEST = 34, 74
"""Columns of the text in a box."""


class Verdict(StrEnum):
    """What a goal came to, from the best to the worst."""

    SHIP = "SHIP"
    MONITOR = "MONITOR"
    RESEARCH = "RESEARCH"

    @property
    def passed(self) -> bool:
        return self is not Verdict.RESEARCH


_SIGNS = {Verdict.SHIP: "🟢", Verdict.MONITOR: "🟡", Verdict.RESEARCH: "🔴"}
_NO_PROOF = (Verification.CLAIM, Verification.ASSUMPTION)


def proof_of(criterion: Criterion) -> Verification:
    """Return how a criterion was proven; one that is met without a word on how is a claim."""
    return criterion.verification or Verification.CLAIM


def weak_share(criteria: Sequence[Criterion]) -> Fraction:
    """Return the share of the criteria that are unmet, or met by a weak proof."""
    weak = sum(not one.met or proof_of(one).is_weak for one in criteria)
    return Fraction(weak, len(criteria)) if criteria else Fraction(1)


def verdict_of(state: GoalState, reversibility: Reversibility) -> Verdict:
    """Return what the criteria of a state come to."""
    if not state.all_met or weak_share(state.criteria) > MOST_WEAK:
        return Verdict.RESEARCH
    weak = any(proof_of(one).is_weak for one in state.criteria)
    if weak or reversibility is Reversibility.ONE_WAY:
        return Verdict.MONITOR
    return Verdict.SHIP


def verdict_box(
    state: GoalState,
    reversibility: Reversibility,
    *,
    alternative: str,
    risk: str,
    is_over: bool = True,
) -> list[str]:
    """Return the lines of the box, all of one width; `alternative` and `risk` are its last.

    A goal that is not over is no better than RESEARCH, whatever is met.
    """
    verdict = verdict_of(state, reversibility) if is_over else Verdict.RESEARCH
    above = list(_facts(state, reversibility))
    below = [f"↳ Alt: {alternative}", f"↳ Risk: {risk}"]
    rows = [[row for text in part for row in _rows(text)] for part in (above, below)]
    title = f"─ {_SIGNS[verdict]} {verdict.value} "
    width = max(NARROWEST, *(columns(row) for part in rows for row in part))
    edge = "─" * (width + 2)
    return [
        f"╭{title}{'─' * (width + 2 - columns(title))}╮",
        *(_framed(row, width) for row in rows[0]),
        f"├{edge}┤",
        *(_framed(row, width) for row in rows[1]),
        f"╰{edge}╯",
    ]


def _facts(state: GoalState, reversibility: Reversibility) -> Iterator[str]:
    met = [proof_of(one) for one in state.criteria if one.met]
    kinds = [kind.value for kind in Verification if kind in met]
    proven = sum(kind not in _NO_PROOF for kind in met)
    percent = round(weak_share(state.criteria) * 100)
    yield f"Verified: {', '.join(kinds) or 'nothing'}"
    yield f"Checklist: {proven}/{len(state.criteria)} criteria verified"
    points = points_of(len(state.steps))
    yield f"Subjective: ~{percent}% · Type {reversibility.value} · {points}pt"


def _framed(row: str, width: int) -> str:
    return f"│ {row}{' ' * (width - columns(row))} │"


def _rows(text: str) -> Iterator[str]:
    """Yield a text as rows that fit into a box; what goes on is indented."""
    flat = " ".join(visible(text).split())
    for index, row in enumerate(textwrap.wrap(flat, WIDEST - 2) or [""]):
        yield from _cut(row if not index else f"  {row}")


def _cut(row: str) -> Iterator[str]:
    """Yield a row in pieces that fit: wide characters take two columns."""
    while columns(row) > WIDEST:
        end = WIDEST // 2
        while columns(row[: end + 1]) <= WIDEST:
            end += 1
        end = boundary(row, end) or end
        yield row[:end]
        row = f"  {row[end:]}"
    yield row
