"""Runs as they are shown: their artifacts, and a history without clock and machine.

Two replays of one recording have equal ones, in whatever folder and at whatever time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_reflex.agents.replay import normalize
from pytest_reflex.drivers.reflex.history import artifact_with, read_events, text_after
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, HISTORY
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import EMPTY_SHA256
from pytest_reflex.model.stop import BY_EVALUATION
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.storage.journal import damage_error, read_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactView:
    """The bytes of an artifact; `note` says where they are not those of the file.

    `proofs` are those of its last evaluation: whether the checks that an agent made can fail.
    """

    data: bytes
    iteration: int | None = None
    note: str = ""
    proofs: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        wire = {"iteration": self.iteration, "sha256": hashlib.sha256(self.data).hexdigest()}
        return wire | ({"proofs": list(self.proofs)} if self.proofs else {})


def as_it_stands(folder: Path) -> ArtifactView:
    """Return artifact.md, or what the history has in its place; raises ReflexError."""
    data = read_if_regular(folder / ARTIFACT)
    if data is not None:
        with suppress(ReflexError):  # the file is shown, whatever became of its history
            return ArtifactView(data=data, proofs=_proofs(_events(folder), data))
        return ArtifactView(data=data)
    text = text_after(_events(folder))
    if hashlib.sha256(text.encode()).hexdigest() == EMPTY_SHA256:
        raise UsageError(f"loop {folder.name!r} has no artifact yet")
    note = f"{folder / ARTIFACT} is missing; this is what the history has."
    return ArtifactView(data=text.encode(), note=note)


def find_evaluated(folder: Path, iteration: int) -> ArtifactView:
    """Return the artifact that was evaluated last in an iteration; raises ReflexError.

    It is rebuilt from the history, and has the hash that its evaluation recorded. Where nothing
    was evaluated in the iteration it is its last artifact, and `note` says so.
    """
    events = _events(folder)
    judged = {
        event.iteration: event.payload["evaluation"]["artifact_sha256"]
        for event in events
        if event.kind in _JUDGES and "evaluation" in event.payload
    }
    makes = (event for event in events if event.kind in _MAKES and "after" in event.payload)
    made = {event.iteration: event.payload["after"] for event in makes}
    if iteration not in judged and iteration not in made:
        there = ", ".join(map(str, sorted({*made, *judged})))
        raise UsageError(
            f"iteration {iteration} of {folder.name!r} has no artifact",
            hint=f"there are: {there}" if there else "nothing was produced yet",
        )
    data = artifact_with(events, judged.get(iteration) or made[iteration]).encode()
    note = (
        "" if iteration in judged else f"The artifact of iteration {iteration} was not evaluated."
    )
    return ArtifactView(data=data, iteration=iteration, note=note, proofs=_proofs(events, data))


_JUDGES = (EventKind.EVALUATION_DONE, EventKind.RUN_ADOPTED)
_MAKES = (EventKind.ARTIFACT_CREATED, EventKind.REFINEMENT_DONE, EventKind.RUN_ADOPTED)


def _proofs(events: Sequence[Event], data: bytes) -> tuple[Mapping[str, Any], ...]:
    """Return the proofs that came of the last evaluation of an artifact."""
    sha256 = hashlib.sha256(data).hexdigest()
    for event in reversed(events):
        judged = event.payload.get("evaluation") if event.kind in _JUDGES else None
        if judged and judged["artifact_sha256"] == sha256:
            return tuple(event.payload.get("proofs", ()))
    return ()


def _events(folder: Path) -> Sequence[Event]:
    content = read_journal(folder / HISTORY)
    if not content.whole:
        raise damage_error(folder / HISTORY, content)
    return read_events(folder / HISTORY, content.records)[0]


_CLOCK = frozenset(("ts", "duration"))
_OF_THE_MACHINE = ("sealed", "project", "project_changes")
_PAIR = (Step.PRODUCE, Step.PREPARE)


def stable_events(events: Iterable[Event], project: Path) -> list[dict[str, Any]]:
    """Return events on the wire, as they are in every run that went the same way.

    Left out are times (`ts`, `duration`, when it was confirmed) and the files of this machine
    (`sealed`, `project`), and that a step was interrupted; the run's id and the folder of the
    `project` are words; PRODUCE stands before the PREPARE that ran beside it, and `seq` follows.
    The price of a call stays: it is the agent's, also in a replay.
    """
    folders = (str(project), str(project.resolve()))
    ordered: list[Event] = []
    steps = (event for event in events if not event.was_interrupted)
    for beside, group in groupby(steps, key=lambda event: event.step in _PAIR):
        run = list(group)
        ordered += sorted(run, key=lambda e: _PAIR.index(e.step)) if beside else _by_rule(run)
    found = []
    for seq, event in enumerate(ordered, 1):
        wire = _without_clock(event.to_json(), event.run_id, folders)
        for of_the_machine in _OF_THE_MACHINE:
            wire["payload"].pop(of_the_machine, None)
        wire["payload"].get("setup", {}).get("confirmation", {}).pop("at", None)
        _as_today(event, wire)
        found.append({**wire, "seq": seq})
    return found


def _as_today(event: Event, wire: dict[str, Any]) -> None:
    """Say what an earlier version said elsewhere: score and verdict, and the step of an end."""
    if event.kind is EventKind.EVALUATION_DONE:
        judged = wire["payload"]["evaluation"]
        wire["payload"] |= {"score": judged["score"], "passed": judged["passed"]}
    elif event.payload.get("reason") in BY_EVALUATION and event.kind is EventKind.STOPPED:
        wire["step"] = Step.EVALUATE.value


def _by_rule(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events, with votes that came side by side in the order of their rules."""
    for is_vote, group in groupby(events, key=lambda event: event.kind is EventKind.VOTE_CAST):
        run = list(group)
        yield from sorted(run, key=_place) if is_vote else run


def _place(vote: Event) -> tuple[str, int]:
    return vote.payload["rule_id"], vote.payload["number"]


def _without_clock(value: Any, run_id: str, folders: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return normalize(value, run_ids=(run_id,), folders=folders)
    if isinstance(value, dict):
        return {k: _without_clock(v, run_id, folders) for k, v in value.items() if k not in _CLOCK}
    if isinstance(value, list | tuple):
        return [_without_clock(inner, run_id, folders) for inner in value]
    return value
