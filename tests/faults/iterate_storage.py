"""F09 for the iteration loop: what cannot be written is reported, and the iterations go on.

So it is where a person has asked to stop and said something; and who says something that cannot be
kept is told so.
"""

from __future__ import annotations

import errno
import json
import random
import shutil
from collections.abc import Iterator

from pytest_reflex.errors import ExitCode
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.iterate_plays import PLAYS, SAID, Play
from tests.faults.iterating import RESUME, ROUNDS, IterateGround, Iterating, iterate_ground, named
from tests.faults.project import faults_of

SAMPLE = 2
_SAY = ("iterate", "feedback", "build", SAID)
_PLAYS = {play.name: play for play in PLAYS}


def figure(full: bool) -> Figure:
    with iterate_ground() as place:
        return of_cases((*_of_runs(place, full), *_of_feedback(place, full)))


def _of_runs(place: IterateGround, full: bool) -> Iterator[tuple[str, list[str]]]:
    for name in ("plain", "requests"):
        play = _PLAYS[name]
        calls = play.calls(place)
        for fault in _chosen(calls, full):
            yield f"{name}: {named(calls, fault.at)}, {fault}", _failed(place, play, fault)


def _of_feedback(place: IterateGround, full: bool) -> Iterator[tuple[str, list[str]]]:
    project = _left(place)
    calls = place.warm.one(_SAY, project.folder, below=project.root).calls
    for fault in _chosen(calls, full):
        yield f"feedback: {named(calls, fault.at)}, {fault}", _unsaid(place, fault)


def _chosen(calls: tuple[str, ...], full: bool) -> list[Fault]:
    faults = [
        Fault(at=at, kind="error", number=number, sticky=sticky)
        for at in range(1, len(calls) + 1)
        for number in (errno.ENOSPC, errno.EIO)
        for sticky in (False, True)
    ]
    return faults if full else random.Random(9).sample(faults, SAMPLE)


def _failed(place: IterateGround, play: Play, fault: Fault) -> list[str]:
    """Return what does not hold of a run while a call fails, and of its state afterwards."""
    project = play.project(place)
    ran = play.run(place, project, fault=fault)
    wrong = faults_of(ran)
    # Where there is no folder for requests none is made.
    asked = play.name == "requests" and project.state.parent.exists()
    rounds = ROUNDS[:2] if asked else ROUNDS
    status = play.status if asked else ExitCode.OK
    if ran.status not in (status, ExitCode.NOT_PERSISTED):
        wrong.append(f"exit {ran.status}")
    if project.rounds() != rounds:
        wrong.append(f"its iterations were {project.rounds()}")
    if "could not be" not in ran.stderr and "no lock could be taken" not in ran.stderr:
        wrong.append(f"it does not say what could not be written: {ran.stderr.strip()[-200:]}")
    if project.state.exists():
        if ran.status == ExitCode.OK:
            wrong.append("it ended well and left a state")
        # Where the last iterations could not be kept they are run again: nobody knows of them.
        wrong += faults_of(place.warm.one(RESUME, project.folder), [0])
        if asked and not set(_heard(project)) & {"1", "3"}:
            wrong.append(f"what was said was heard in {_heard(project)}")
    if project.state.exists():
        wrong.append("a state is left")
    shutil.rmtree(project.folder)
    return wrong


def _unsaid(place: IterateGround, fault: Fault) -> list[str]:
    """Return what does not hold where feedback cannot be kept: it is there, or that is reported."""
    project = _left(place)
    before = project.state.read_bytes()
    ran = place.warm.one(_SAY, project.folder, below=project.root, fault=fault)
    wrong = faults_of(ran, [ExitCode.OK, ExitCode.NOT_PERSISTED])
    path = project.state.with_name("build.control.json")
    kept = json.loads(path.read_bytes())["feedback"] if path.exists() else []
    if ran.status == ExitCode.OK and [one["text"] for one in kept] != [SAID]:
        wrong.append("it says that it is recorded, and it is not")
    if ran.status and "could not be" not in ran.stderr:
        wrong.append(f"it does not say what could not be written: {ran.stderr.strip()[-200:]}")
    if project.state.read_bytes() != before:
        wrong.append("the state was changed")
    wrong += faults_of(place.warm.one(RESUME, project.folder), [0])
    left = sorted(one.name for one in project.state.parent.iterdir())
    if left != ["build.lock"]:
        wrong.append(f"it left {left}")
    shutil.rmtree(project.folder)
    return wrong


def _left(place: IterateGround) -> Iterating:
    project = place.project()
    project.leave()
    return project


def _heard(project: Iterating) -> list[str]:
    path = project.folder / "heard.log"
    return path.read_text().split() if path.exists() else []
