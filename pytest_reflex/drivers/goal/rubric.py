"""How clear a spec is: five dimensions with 0 to 2 points each, and the shape that follows.

Source: the rubric of seed 003. The points come from cues in the text, so that the same spec always
has the same; a person may give points instead, and who gave them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pytest_reflex.drivers.goal.claims import Part, parts_of
from pytest_reflex.drivers.goal.cues import MOST, RULES, Dimension
from pytest_reflex.drivers.goal.model import Shape
from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.model.plain import one_line

TOOL_FROM = 8
COLLEAGUE_FROM = 5


class Source(StrEnum):
    """Who gave the points of a dimension."""

    CUES = "cues"
    FLAG = "flag"


QUESTIONS: Mapping[Dimension, str] = {
    Dimension.OUTCOME: "Which number, output or behaviour is different afterwards?",
    Dimension.SCOPE: "Which files, modules or endpoints may change?",
    Dimension.CONSTRAINTS: "What must stay as it is, and what must not be added?",
    Dimension.SUCCESS: "Which command or observation shows that it works?",
    Dimension.DONE: "Which event ends the work: a merge, a release, a passing check?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The points of one dimension, and why."""

    dimension: Dimension
    points: int
    reason: str
    source: Source = Source.CUES

    def to_json(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension.value,
            "points": self.points,
            "reason": self.reason,
            "source": self.source.value,
        }


@dataclass(frozen=True, slots=True)
class Rubric:
    """The scores of a spec, one for each dimension in their order."""

    scores: tuple[Score, ...]

    @property
    def total(self) -> int:
        return sum(score.points for score in self.scores)

    @property
    def shape(self) -> Shape:
        if self.total >= TOOL_FROM:
            return Shape.TOOL
        return Shape.COLLEAGUE if self.total >= COLLEAGUE_FROM else Shape.INTENT

    @property
    def missing(self) -> tuple[Dimension, ...]:
        """Return the dimensions without points, or where each has one, those below the most."""
        none = tuple(one.dimension for one in self.scores if not one.points)
        return none or tuple(one.dimension for one in self.scores if one.points < MOST)

    def to_json(self) -> dict[str, Any]:
        refused = self.shape is Shape.INTENT
        missing = self.missing if refused else ()
        return {
            "total": self.total,
            "most": MOST * len(self.scores),
            "shape": self.shape.value,
            "scores": [score.to_json() for score in self.scores],
            "missing": [one.value for one in missing],
            "questions": [QUESTIONS[one] for one in missing],
        }


def score_spec(spec: str, given: Mapping[Dimension, int] | None = None) -> Rubric:
    """Return the rubric of a spec; points that a person has given stand in for those by cues."""
    parts = list(parts_of(spec))
    return Rubric(tuple(_score(one, parts, given or {}) for one in Dimension))


def _score(dimension: Dimension, parts: list[Part], given: Mapping[Dimension, int]) -> Score:
    if dimension in given:
        reason = "given on the command line"
        return Score(
            dimension=dimension, points=given[dimension], reason=reason, source=Source.FLAG
        )
    points, reason = RULES[dimension](parts)
    return Score(dimension=dimension, points=points, reason=reason)


def parse_scores(texts: Iterable[str]) -> dict[Dimension, int]:
    """Return the points in texts such as ``outcome=2,done=1``; raises UsageError."""
    found: dict[Dimension, int] = {}
    for word in (word.strip() for text in texts for word in text.split(",")):
        name, _, points = (piece.strip() for piece in word.partition("="))
        if name not in list(Dimension):
            hint = did_you_mean(name, [one.value for one in Dimension])
            raise UsageError(f"--score has no dimension {one_line(name)!r}", hint=hint)
        if points not in ("0", "1", "2"):
            raise UsageError(f"--score {name} must be 0, 1 or 2", hint=f"--score {name}=2")
        if Dimension(name) in found:
            raise UsageError(f"--score gives {name} twice", hint="give each dimension once")
        found[Dimension(name)] = int(points)
    return found
