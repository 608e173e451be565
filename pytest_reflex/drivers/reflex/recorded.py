"""A run as its history has it: where its files lie, its events, and the state that they lead to.

Promises: nothing is written. Limits: what a file says that this process did not write is a claim,
and a claim of a pass counts only once the artifact was evaluated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_reflex.drivers.reflex.fold import fold
from pytest_reflex.drivers.reflex.history import text_after
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, HISTORY
from pytest_reflex.errors import StateError
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.judged import Cast
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.model.words import Level


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


def at_evaluation(run: RecordedRun) -> RecordedRun | None:
    """Return a run as it was when it evaluated what its state shows; None where nothing was."""
    shown, events = run.state.evaluation, run.latest_events()
    for number in range(len(events) - 1, 0, -1):
        if shown is not None and _evaluates(events[number], shown):
            before = events[:number]
            return RecordedRun(run.folder, before, fold(before))
    return None


def _evaluates(event: Event, evaluation: Evaluation) -> bool:
    return event.kind is EventKind.EVALUATION_DONE and _judged_at(event) == judged_at(evaluation)


def _judged_at(event: Event) -> tuple[str, Level]:
    return event.payload["evaluation"]["artifact_sha256"], event.level


def judged_at(evaluation: Evaluation) -> tuple[str, Level]:
    """Return what an evaluation judged, and how strictly."""
    return evaluation.artifact_sha256, evaluation.level


def recorded_votes(events: Sequence[Event], judged: tuple[str, Level]) -> tuple[Cast, ...]:
    """Return the votes in evaluations of one artifact, those of the newest evaluation first.

    Of a question that has an answer, votes that were void are left out.
    """
    found: list[list[Cast]] = []
    votes: list[Cast] = []
    for event in events:
        if event.kind is EventKind.VOTE_CAST:
            votes.append(Cast.from_json(event.payload))
        elif event.kind is EventKind.EVALUATION_DONE:
            if _judged_at(event) == judged:
                found.insert(0, votes)
            votes = []
    casts = [cast for window in (votes, *found) for cast in window]
    answered = {cast.question for cast in casts if cast.is_of_use}
    return tuple(cast for cast in casts if cast.is_of_use or cast.question not in answered)


def claims_pass(state: RunState) -> bool:
    """Return whether a state says that something passed."""
    judged = state.evaluation if state.artifact_status == "evaluated" else None
    completed = state.status is RunStatus.COMPLETED or state.stop.passed
    return completed or bool(judged and judged.passed)
