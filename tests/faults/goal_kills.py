"""F36: a goal is killed at every change on disk, and continued."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from tests.faults.aftermath import spread
from tests.faults.figure import Figure, of_cases
from tests.faults.goal_runs import GoalGround, goal_ground
from tests.faults.intercepted import Fault

SAMPLE = 5
# What becomes visible to others; the writes before it go into files that nobody reads yet.
_SEEN = ("replace ", "mkdir ", "unlink ", "link ", "rename ", "rmdir ")


def figure(full: bool) -> Figure:
    """Kill at every point; the sample takes a few."""
    with goal_ground() as place:
        return of_cases(_cases(place, full))


def _cases(place: GoalGround, full: bool) -> Iterator[tuple[str, list[str]]]:
    points = [at for at, call in enumerate(place.calls, 1) if call.startswith(_SEEN)]
    for at in points if full else spread(points, SAMPLE):
        project = place.project()
        ran = place.run(project, fault=Fault(at=at))
        wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
        yield f"call {at} ({place.calls[at - 1]})", wrong + place.wrong_after(project)
        shutil.rmtree(project.folder)
