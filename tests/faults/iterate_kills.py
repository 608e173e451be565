"""F01 for the iteration loop: killed at every write-side call, and resumed.

Killed are whole runs, runs whose budget is used up, runs that were asked to stop and told
something, and the resume of a killed run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from tests.faults.aftermath import spread
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.iterate_plays import PLAYS, Play
from tests.faults.iterating import IterateGround, iterate_ground, named

SAMPLE = 2


def figure(full: bool) -> Figure:
    """Kill before each call and, where it writes, in its middle; the sample takes a few."""
    with iterate_ground() as place:
        return of_cases(case for play in PLAYS for case in _cases(place, play, full))


def _cases(place: IterateGround, play: Play, full: bool) -> Iterator[tuple[str, list[str]]]:
    calls = play.calls(place)
    faults = [
        Fault(at=at, kind=kind)
        for at, call in enumerate(calls, 1)
        for kind in (("kill", "torn") if call.startswith("write ") else ("kill",))
    ]
    for fault in faults if full else spread(faults[1:-1], SAMPLE):
        yield f"{play.name}: {named(calls, fault.at)}, {fault}", _killed(place, play, fault)


def _killed(place: IterateGround, play: Play, fault: Fault) -> list[str]:
    project = play.project(place)
    ran = play.run(place, project, fault=fault)
    wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
    wrong += play.wrong_after(place, project)
    shutil.rmtree(project.folder)
    return wrong
