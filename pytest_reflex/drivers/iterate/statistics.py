"""Figures of how long iterations took, in one pass (Welford 1962): pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pytest_reflex.model.plain import counted
from pytest_reflex.verdict.formatting import lasted


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Count, smallest, largest and mean of some seconds, and their standard deviation.

    The deviation is that of the population: the iterations are all there are. All but `count` are 0
    where there are none.
    """

    count: int = 0
    minimum: float = 0.0
    maximum: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0

    def __str__(self) -> str:
        figures = (("min", self.minimum), ("max", self.maximum), ("mean", self.mean))
        told = ", ".join(f"{name} {lasted(value)}" for name, value in figures)
        return f"{counted(self.count, 'iteration')}, {told}, stddev {lasted(self.deviation)}"

    def to_json(self) -> dict[str, Any]:
        """Return the wire form, in seconds."""
        return {
            "count": self.count,
            "min": round(self.minimum, 3),
            "max": round(self.maximum, 3),
            "mean": round(self.mean, 3),
            "stddev": round(self.deviation, 3),
        }


def statistics_of(seconds: Iterable[float]) -> Statistics:
    """Return the figures of some durations, each looked at once."""
    count, mean, squares = 0, 0.0, 0.0
    least, most = math.inf, -math.inf
    for value in seconds:
        count += 1
        before = value - mean
        mean += before / count
        squares += before * (value - mean)
        least, most = min(least, value), max(most, value)
    if not count:
        return Statistics()
    deviation = math.sqrt(squares / count)
    return Statistics(count=count, minimum=least, maximum=most, mean=mean, deviation=deviation)
