"""F01 for the iteration loop: killed at every write-side call, and resumed."""

from __future__ import annotations

import shutil

from tests.faults.aftermath import spread
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.iterating import IterateGround, iterate_ground, named

SAMPLE = 4


def figure(full: bool) -> Figure:
    """Kill before each call and, where it writes, in its middle; the sample takes a few."""
    with iterate_ground() as place:
        faults = [
            Fault(at=at, kind=kind)
            for at, call in enumerate(place.calls, 1)
            for kind in (("kill", "torn") if call.startswith("write ") else ("kill",))
        ]
        chosen = faults if full else spread(faults, SAMPLE)
        return of_cases(
            (f"{named(place.calls, fault.at)}, {fault}", _killed(place, fault)) for fault in chosen
        )


def _killed(place: IterateGround, fault: Fault) -> list[str]:
    project = place.project()
    ran = place.run(project, fault=fault)
    wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
    wrong += place.wrong_after(project)
    shutil.rmtree(project.folder)
    return wrong
