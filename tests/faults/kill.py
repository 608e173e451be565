"""F01: a run is killed at every write-side system call that concerns its state, and resumed."""

from __future__ import annotations

import shutil

from tests.faults import traced
from tests.faults.aftermath import Ground, ground, spread
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault

SAMPLE = 4


def figure(full: bool) -> Figure:
    """Kill by strace at every call; the sample kills from within, at some of them."""
    with ground() as place:
        if not full:
            points = spread(range(1, len(place.calls) + 1), SAMPLE)
            return of_cases(
                (f"call {at} ({place.calls[at - 1]})", _killed(place, at)) for at in points
            )
        if not shutil.which("strace"):
            return Figure(good=0, total=0, failures=(traced.MISSING,))
        return of_cases(traced.kills(place), note="by strace, unprivileged")


def _killed(place: Ground, number: int) -> list[str] | None:
    """Kill from within; None where this run had fewer calls.

    current.json is written where a second has passed.
    """
    project = place.project()
    torn = "write history" in place.calls[number - 1]
    fault = Fault(at=number, kind="torn" if torn else "kill")
    ran = place.warm.one(project.new(), project.folder, below=project.state, fault=fault)
    if not ran.status and len(ran.calls) < number:
        return None
    wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
    wrong += place.wrong_after(project, kept=torn)
    shutil.rmtree(project.folder)
    return wrong
