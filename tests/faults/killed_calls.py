"""A run of a driver, killed at each call that changes a folder, and gone on with afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from tests.faults.aftermath import spread
from tests.faults.intercepted import Fault
from tests.faults.warm import Ran

# What becomes visible to others; the writes before it go into files that nobody reads yet.
_SEEN = ("replace ", "mkdir ", "unlink ", "link ", "rename ", "rmdir ")


class KilledGround(Protocol):
    """Where runs of one driver are killed; `calls` are those of one that nobody kills."""

    @property
    def calls(self) -> Sequence[str]: ...

    def project(self) -> Any: ...

    @property
    def run(self) -> Callable[..., Ran]: ...

    @property
    def wrong_after(self) -> Callable[[Any], list[str]]: ...


def killed_at_calls(
    place: KilledGround, sample: int, full: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield each call with what was wrong after a kill there; `sample` of them unless `full`."""
    points = [at for at, call in enumerate(place.calls, 1) if call.startswith(_SEEN)]
    for at in points if full else spread(points, sample):
        project = place.project()
        ran = place.run(project, fault=Fault(at=at))
        wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
        yield f"call {at} ({place.calls[at - 1]})", wrong + place.wrong_after(project)
        shutil.rmtree(project.folder)
