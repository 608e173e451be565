"""A run of a driver, killed at each call that changes a folder, and gone on with afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from tests.faults.aftermath import spread
from tests.faults.flow_runs import FlowGround
from tests.faults.goal_runs import GoalGround
from tests.faults.intercepted import Fault

# What becomes visible to others; the writes before it go into files that nobody reads yet.
_SEEN = ("replace ", "mkdir ", "unlink ", "link ", "rename ", "rmdir ")


def killed_at_calls(
    place: FlowGround | GoalGround, sample: int, full: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield each call with what was wrong after a kill there; `sample` of them unless `full`."""
    points = [at for at, call in enumerate(place.calls, 1) if call.startswith(_SEEN)]
    for at in points if full else spread(points, sample):
        project = place.project()
        ran = place.run(project, fault=Fault(at=at))
        wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
        yield f"call {at} ({place.calls[at - 1]})", wrong + place.wrong_after(project)
        shutil.rmtree(project.folder)
