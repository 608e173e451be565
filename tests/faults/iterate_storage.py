"""F09 for the iteration loop: what cannot be written is told, and the rounds go on."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator

from pytest_reflex.errors import ExitCode
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.iterating import RESUME, ROUNDS, IterateGround, iterate_ground, named
from tests.faults.project import faults_of

SAMPLE = 3


def figure(full: bool) -> Figure:
    with iterate_ground() as place:
        faults = list(_faults(place))
        if not full:
            faults = random.Random(9).sample(faults, SAMPLE)
        return of_cases(
            (f"{named(place.calls, fault.at)}, {fault}", _failed(place, fault)) for fault in faults
        )


def _faults(place: IterateGround) -> Iterator[Fault]:
    for at in range(1, len(place.calls) + 1):
        for number in (errno.ENOSPC, errno.EIO):
            for sticky in (False, True):
                yield Fault(at=at, kind="error", number=number, sticky=sticky)


def _failed(place: IterateGround, fault: Fault) -> list[str]:
    """Return what does not hold of a run while a call fails, and of its state afterwards."""
    project = place.project()
    ran = place.run(project, fault=fault)
    wrong = faults_of(ran, [ExitCode.OK, ExitCode.NOT_PERSISTED])
    if project.rounds() != ROUNDS:
        wrong.append(f"its rounds were {project.rounds()}")
    if "could not be" not in ran.stderr and "no lock could be taken" not in ran.stderr:
        wrong.append(f"it does not say what could not be written: {ran.stderr.strip()[-200:]}")
    if project.state.exists():
        if ran.status == ExitCode.OK:
            wrong.append("it ended well and left a state")
        # Where the last rounds could not be kept they are run again: nobody knows of them.
        wrong += faults_of(place.warm.one(RESUME, project.folder), [0])
    if project.state.exists():
        wrong.append("a state is left")
    shutil.rmtree(project.folder)
    return wrong
