"""One list of the runs of all drivers: each driver has a function that yields a row per run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from pytest_reflex.model.rules import floored
from pytest_reflex.model.run import Spend
from pytest_reflex.settings import Settings

DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run of a driver, as its files have it.

    `status` is the word that the driver's own list has for it; `interrupted` is whether its process
    is gone, `driven` whether one is at work. Times are UTC as the files have them, empty where
    nothing is known: `changed_at` is that of the last thing that is durable. `max_iterations` is 0
    where there is no limit. `about` says in words what the run is about, `problem` what is wrong
    with one whose status is `damaged`.
    """

    driver: str
    name: str
    status: str
    interrupted: bool = False
    driven: bool = False
    started_at: str = ""
    changed_at: str = ""
    iteration: int | None = None
    max_iterations: int = 0
    spend: Spend | None = None
    score: Fraction | None = None
    about: str = ""
    problem: str = ""

    @property
    def seconds(self) -> float | None:
        """The time from the start to the last thing that is durable; None where that is unknown."""
        try:
            began, last = map(datetime.fromisoformat, (self.started_at, self.changed_at))
            return max((last - began).total_seconds(), 0.0)
        except (ValueError, TypeError):
            return None

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: null for what is not known."""
        score = self.score
        wire: dict[str, Any] = {
            "driver": self.driver,
            "name": self.name,
            "status": self.status,
            "interrupted": self.interrupted,
            "driven": self.driven,
            "started_at": self.started_at or None,
            "changed_at": self.changed_at or None,
            "seconds": self.seconds,
            "iteration": self.iteration,
            "max_iterations": None if self.iteration is None else self.max_iterations,
            "spend": self.spend.to_json() if self.spend else None,
            "score": None if score is None else float(floored(score)),
            "score_exact": "" if score is None else f"{score.numerator}/{score.denominator}",
            "about": self.about,
        }
        return wire | ({"problem": self.problem} if self.problem else {})


class ListRuns(Protocol):
    """What a driver gives to be in the list; it reads only, and raises for no single run."""

    def __call__(self, project: Path, settings: Settings) -> Iterable[RunRow]: ...
