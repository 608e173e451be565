"""A run as its history has it: where its files lie, its events, its state and its artifacts.

Promises: nothing is written; an event that cannot be read is named by file and number, never
guessed. Limits: what a file says that this process did not write is a claim, and a claim of a pass
counts only once the artifact was evaluated again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.fold import apply, fold
from pytest_reflex.drivers.reflex.foreign import adoption, is_foreign, own_events
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, HISTORY
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Level
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import EvaluationMark, RunState
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.storage.delta import apply_delta, make_delta
from pytest_reflex.storage.parts import find_changes


def read_events(path: Path, records: Iterable[Mapping[str, Any]]) -> tuple[list[Event], RunState]:
    """Return the events in the records of a journal, and the state they lead to.

    Of a run that another program began the first is its adoption: what is in the journal, or what
    it would be (its `seq` is that of the next line then). Raises StateError where there is none, or
    one that is not as this program writes them.
    """
    events: list[Event] = []
    state, records, begin = None, list(records), 0
    if found := own_events(records):
        begin = found
    elif is_foreign(path.parent, records):
        event = adoption(path.parent, records)
        return [event], apply(None, event)
    for number, record in enumerate(records[begin:], begin + 1):
        try:
            events.append(Event.from_json(record))
            state = apply(state, events[-1])
        except StateError as error:
            raise StateError(f"{path}: {error.problems[0].message}", hint=_ADVICE) from None
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise StateError(
                f"{path}: event {number} cannot be used: {type(error).__name__}: {error}",
                hint=_ADVICE,
            ) from error
    if state is None:
        raise StateError(f"{path} is empty", hint="start a new loop")
    return events, state


_ADVICE = "another program or version wrote it; start a new loop from the artifact"


def text_after(events: Iterable[Event]) -> str:
    """Return the artifact after some events, rebuilt from their deltas and verified.

    Raises StateError where a delta does not lead to the hash that its event recorded.
    """
    text = ""
    for event in events:
        if "delta" not in event.payload:
            continue
        text = apply_delta(text, event.payload["delta"])
        if digest(text) != event.payload["after"]:
            raise StateError(
                f"history event {event.seq}: its delta does not give the artifact it recorded",
                hint="the history was changed; start a new loop",
            )
    return text


def digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def hash_before_last_change(events: Sequence[Event]) -> str | None:
    """Return the hash that artifact.md has where its last change was not written any more.

    None where an event followed the change: by then the artifact had been written.
    """
    last = events[-1] if events else None
    return last.payload["before"] if last and "delta" in last.payload else None


def artifact_with(events: Sequence[Event], sha256: str) -> str:
    """Return the text of an artifact that the run had; raises StateError."""
    for number, event in enumerate(events, 1):
        if event.payload.get("after") == sha256:
            return text_after(events[:number])
    raise StateError(f"the history has no artifact with hash {sha256[:8]}")


def evaluation_of(events: Sequence[Event], mark: EvaluationMark) -> dict[str, Any]:
    """Return the evaluation that left a mark, on the wire; raises StateError."""
    for event in reversed(events):
        found = event.payload.get("evaluation")
        if not found or found["artifact_sha256"] != mark.sha256:
            continue
        if event.level is mark.level and event.iteration == mark.iteration:
            return dict(found)
    raise StateError(f"the history has no evaluation of {mark.sha256[:8]}")


class RecordedRun:
    """One run on disk, as its history has it."""

    def __init__(self, folder: Path, events: Sequence[Event], state: RunState | None) -> None:
        self.folder = folder
        self._events, self._state = list(events), state
        self._text = text_after(events)

    @property
    def state(self) -> RunState:
        if self._state is None:
            raise StateError(f"{self.folder / HISTORY} is empty", hint="start a new loop")
        return self._state

    @property
    def alias(self) -> str:
        return self.folder.name

    @property
    def artifact_path(self) -> Path:
        return self.folder / ARTIFACT

    @property
    def artifact_label(self) -> str:
        """The artifact's path as reports show it: relative to the working directory."""
        here = Path.cwd()
        path = self.artifact_path.absolute()
        return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

    def artifact_text(self) -> str:
        """Return the artifact as the history has it."""
        return self._text

    def latest_events(self) -> Sequence[Event]:
        return self._events


def change_of(run: RecordedRun, new: str) -> dict[str, Any]:
    """Return what an event says of the change of a run's artifact to a new text."""
    old = run.artifact_text()
    return _since_evaluation(run, new) | {
        "delta": make_delta(old, new),
        "before": digest(old),
        "after": digest(new),
        "size": len(new.encode("utf-8")),
        "changed": {**find_changes(old, new).to_json(), "initial": old == ""},
    }


def _since_evaluation(run: RecordedRun, new: str) -> dict[str, Any]:
    """Return how a text differs from what was evaluated, where that is not the last one."""
    judged, events = run.state.evaluation if run.latest_events() else None, run.latest_events()
    if judged is None or judged.artifact_sha256 in ("", digest(run.artifact_text())):
        return {}
    old = artifact_with(events, judged.artifact_sha256)
    return {"since_evaluation": find_changes(old, new).to_json()}


def at_evaluation(run: RecordedRun) -> RecordedRun | None:
    """Return a run as it was when it evaluated what its state shows; None where nothing was."""
    shown, events = run.state.evaluation, run.latest_events()
    for number in range(len(events) - 1, -1, -1):
        if shown is not None and _evaluates(events[number], shown):
            before = events[: max(number, 1)]
            return RecordedRun(run.folder, before, fold(before))
    return None


def _evaluates(event: Event, evaluation: Evaluation) -> bool:
    judges = event.kind in (EventKind.EVALUATION_DONE, EventKind.RUN_ADOPTED)
    return (
        judges
        and "evaluation" in event.payload
        and _evaluation_key(event) == evaluation_key(evaluation)
    )


def _evaluation_key(event: Event) -> tuple[str, Level]:
    return event.payload["evaluation"]["artifact_sha256"], event.level


def evaluation_key(evaluation: Evaluation) -> tuple[str, Level]:
    """Return what an evaluation judged, and how strictly."""
    return evaluation.artifact_sha256, evaluation.level


def find_votes(
    events: Sequence[Event], judged: tuple[str, Level] | None = None, *, cached: bool = True
) -> tuple[CastVote, ...]:
    """Return the votes of a run: those of an evaluation that has not ended yet come first.

    Those in evaluations of what was `judged` follow, the newest first, and then those of others,
    which count as cached unless that is off: what is asked in the same words has its answer. Of a
    question that has one, votes that were void are left out.
    """
    found: list[list[CastVote]] = []
    others: list[CastVote] = []
    votes: list[CastVote] = []
    for event in events:
        if event.kind is EventKind.VOTE_CAST:
            votes.append(CastVote.from_json(event.payload))
        elif event.kind is EventKind.EVALUATION_DONE:
            if _evaluation_key(event) == judged:
                found.insert(0, votes)
            elif cached:
                others += (replace(cast, vote=cast.vote.again()) for cast in votes)
            votes = []
    casts = [cast for window in (votes, *found) for cast in window]
    casts += (cast for cast in others if cast.is_of_use)
    answered = {cast.question for cast in casts if cast.is_of_use}
    return tuple(cast for cast in casts if cast.is_of_use or cast.question not in answered)


def claims_pass(state: RunState) -> bool:
    """Return whether a state says that something passed."""
    judged = state.evaluation if state.artifact_status == "evaluated" else None
    completed = state.status is RunStatus.COMPLETED or state.stop.passed
    return completed or bool(judged and judged.passed)


def is_unverified(state: RunState, verified: Collection[tuple[str, Level]]) -> bool:
    """Return whether the evaluation that stands was found on the disk."""
    return state.evaluation is not None and evaluation_key(state.evaluation) not in verified
