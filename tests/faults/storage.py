"""F09: the disk is full or broken at every write-side call, once or from there on."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator

from pytest_reflex.errors import ExitCode
from tests.faults.aftermath import Ground, ground
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.project import CALLS, faults_of

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
SAMPLE = 3


def figure(full: bool) -> Figure:
    with ground() as place:
        faults = list(_faults(place))
        if not full:
            faults = random.Random(9).sample(faults, SAMPLE)
        return of_cases(
            (f"call {fault.at} ({place.calls[fault.at - 1]}), {fault}", _failed(place, fault))
            for fault in faults
        )


def _faults(place: Ground) -> Iterator[Fault]:
    for at, call in enumerate(place.calls, 1):
        for number in ERRORS:
            for sticky in (False, True):
                yield Fault(at=at, kind="error", number=number, sticky=sticky)
        if call.startswith("write "):
            yield Fault(at=at, kind="short", number=errno.ENOSPC)


def _failed(place: Ground, fault: Fault) -> list[str] | None:
    """Return what does not hold while a call fails, and after the cause was fixed.

    None where this run had fewer calls: current.json is written where a second has passed.
    """
    project = place.project()
    ran = place.warm.one(project.new(), project.folder, below=project.state, fault=fault)
    if not ran.status and len(ran.calls) < fault.at:
        return None
    wrong = faults_of(ran)
    if ran.status != ExitCode.NOT_PERSISTED:
        wrong.append(f"exit {ran.status}: {ran.stderr.strip()[-200:]}")
    if "could be made" not in ran.stderr and "could not be" not in ran.stderr:
        wrong.append(f"it does not say what could not be written: {ran.stderr.strip()[-200:]}")
    if len(project.calls()) > len(CALLS):
        wrong.append("it went on paying")
    wrong += place.wrong_after(project, kept=fault.kind == "short")
    shutil.rmtree(project.folder)
    return wrong
