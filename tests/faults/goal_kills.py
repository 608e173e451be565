"""F36: a goal is killed at every change on disk, and continued."""

from __future__ import annotations

from tests.faults.figure import Figure, of_cases
from tests.faults.goal_runs import goal_ground
from tests.faults.killed_calls import killed_at_calls

SAMPLE = 5


def figure(full: bool) -> Figure:
    """Kill at every point; the sample takes a few."""
    with goal_ground() as place:
        return of_cases(killed_at_calls(place, SAMPLE, full))
