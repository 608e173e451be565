"""F03: a run is killed, and its resume is killed too: recovery may be begun again and again."""

from __future__ import annotations

import random
import shutil

from tests.faults.aftermath import RESUME, Ground, ground, spread
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault

STATES, PER_STATE = 60, 6
SAMPLE = 2


def figure(full: bool) -> Figure:
    """Kill runs at calls all over, and each resume at its first calls and at some others."""
    with ground() as place:
        # Before call 12 there is no run that could be resumed.
        states = spread(range(12, len(place.calls) - 12), STATES if full else SAMPLE)
        dice = random.Random(3)
        return of_cases(
            (f"killed at call {first}, the resume at {second}", wrong)
            for first in states
            for second, wrong in _twice(place, first, PER_STATE if full else 1, dice)
        )


def _twice(
    place: Ground, first: int, most: int, dice: random.Random
) -> list[tuple[int, list[str]]]:
    """Return what was wrong after a kill in `resume`, for some of its calls."""
    killed = place.project()
    fault = Fault(at=first)
    place.warm.one(killed.new(), killed.folder, below=killed.state, fault=fault)
    whole = place.copy(killed)
    resumed = place.warm.one(RESUME, whole.folder, below=whole.state)
    shutil.rmtree(whole.folder)
    last = len(resumed.calls)
    chosen = dice.sample(range(1, last + 1), min(most, last))
    found = []
    for second in chosen:
        project = place.copy(killed)
        fault = Fault(at=second)
        ran = place.warm.one(RESUME, project.folder, below=project.state, fault=fault)
        if not ran.status and len(ran.calls) < second:
            continue  # current.json is written where a second has passed
        wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
        found.append((second, wrong + place.wrong_after(project, most=2)))
        shutil.rmtree(project.folder)
    shutil.rmtree(killed.folder)
    return found
