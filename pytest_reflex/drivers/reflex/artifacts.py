"""The artifacts of a run, read without its lock: as the file stands, or as an iteration had it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.history import artifact_with, read_events, text_after
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, HISTORY
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import EMPTY_SHA256
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.storage.journal import damaged, read_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
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


def as_it_stands(folder: Path) -> Shown:
    """Return artifact.md, or what the history has in its place; raises ReflexError."""
    data = read_if_regular(folder / ARTIFACT)
    if data is not None:
        with suppress(ReflexError):  # the file is shown, whatever became of its history
            return Shown(data=data, proofs=_proofs(_events(folder), data))
        return Shown(data=data)
    text = text_after(_events(folder))
    if hashlib.sha256(text.encode()).hexdigest() == EMPTY_SHA256:
        raise UsageError(f"loop {folder.name!r} has no artifact yet")
    note = f"{folder / ARTIFACT} is missing; this is what the history has."
    return Shown(data=text.encode(), note=note)


def evaluated_in(folder: Path, iteration: int) -> Shown:
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
    return Shown(data=data, iteration=iteration, note=note, proofs=_proofs(events, data))


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
        raise damaged(folder / HISTORY, content)
    return read_events(folder / HISTORY, content.records)[0]
