"""Reading fails at each position, for causes that may pass: nothing is said to be tampered with."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from pytest_reflex.errors import ExitCode
from tests.faults.aftermath import RESUME, Ground, ground
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.project import faults_of

ERRORS = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
SAMPLE = 6
# What told most in the past comes first, as the whole takes hours.
_OFTEN: tuple[dict[str, Any], ...] = ({"times": 2}, {"sticky": True}, {})
_TOLD = tuple(os_error for os_error in ("Input/output error", "Too many open files", "memory"))


def figure(full: bool) -> Figure:
    """Begin, and resume, a run with such a fault: once, twice in a row, and from there on."""
    with ground() as place:
        cases = [*_cases({verb: _reads(place, verb) for verb in ("new", "resume")})]
        if not full:
            cases = random.Random(7).sample(cases, SAMPLE)
        return of_cases(
            (f"{verb}, read {fault.at}, {fault}", _failed(place, verb, fault))
            for verb, fault in cases
        )


def _cases(reads: Mapping[str, int]) -> Iterator[tuple[str, Fault]]:
    for number, often, (verb, most) in product(ERRORS, _OFTEN, reads.items()):
        for at in range(1, most + 1):
            yield verb, Fault(at=at, kind="error", number=number, **often)


def _reads(place: Ground, verb: str) -> int:
    """Return how often a run without a fault reads."""
    project = place.killed() if verb == "resume" else place.project()
    argv = RESUME if verb == "resume" else project.new()
    ran = place.warm.one(argv, project.folder, below=project.folder, reads=True)
    assert ran.status == 0, ran.stderr
    return len(ran.calls)


def _failed(place: Ground, verb: str, fault: Fault) -> list[str] | None:
    """Return what does not hold while reading fails, and after the cause has gone."""
    project = place.killed() if verb == "resume" else place.project()
    argv = RESUME if verb == "resume" else project.new()
    ran = place.warm.one(argv, project.folder, below=project.folder, fault=fault, reads=True)
    wrong = faults_of(ran)
    if ran.status not in (ExitCode.OK, ExitCode.NOT_PERSISTED):
        wrong.append(f"exit {ran.status}: {ran.stderr.strip()[-200:]}")
    elif ran.status and not any(words in ran.stderr for words in _TOLD):
        wrong.append(f"it does not say what could not be read: {ran.stderr.strip()[-200:]}")
    if "tampered" in ran.stdout + ran.stderr:
        wrong.append("it is called tampering")
    wrong += place.wrong_after(project, most=2)
    shutil.rmtree(project.folder)
    return wrong
