"""What run.json says beside the history when a run is taken up, and partial answers.

Calls of agents that are under way stand in run.json, also those for votes of a judge: a process
that is killed leaves no event of them, and they were paid all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.history import RecordedRun
from pytest_reflex.drivers.reflex.statefile import (
    ARTIFACT,
    CALLS,
    HISTORY,
    RUN,
    mentions,
    refuse_newer,
)
from pytest_reflex.drivers.reflex.steps import StepOutcome, interrupt_outcome
from pytest_reflex.errors import StateError, TamperedError, UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import RunState, Spend, unknown_cost
from pytest_reflex.model.stop import RunStatus, StopReason
from pytest_reflex.storage.atomic import keep_copy
from pytest_reflex.storage.files import read_if_regular, read_object


def keep_partial(place: Path, text: str, beside: str) -> tuple[str, str]:
    """Keep partial output in `<place>.partial-<n>`; return that file's name and a sentence.

    `beside` is the file that people know in the same folder. A disk that takes no more stops
    nothing here: the name is empty then, and the sentence says so.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        kept = keep_copy(place, data, "partial")
    except StateError as error:
        return "", f"what it had written could not be kept: {error.problems[0].message}"
    return kept.name, f"what it had written is kept in {one_line(kept.name)} beside {beside}"


def keep_in_run(folder: Path, step: Step, text: str) -> tuple[str, str]:
    """Keep the partial output of a step in the folder of its run, as `keep_partial` does."""
    return keep_partial(folder / step.value.lower(), text, ARTIFACT)


def keep_beside(artifact: Path, step: Step, text: str) -> tuple[str, str]:
    """Keep the partial output of a step of no run beside its artifact, as `keep_partial` does."""
    name = artifact.name
    return keep_partial(artifact.with_name(f"{name}.{step.value.lower()}"), text, one_line(name))


def with_partial(payload: Mapping[str, Any], kept: tuple[str, str]) -> dict[str, Any]:
    """Return the payload of a phase_error that says where partial output is kept."""
    name, sentence = kept
    extended = {**payload, "message": f"{payload['message']}; {sentence}"}
    return {**extended, "partial": name} if name else extended


# Of people, whatever the step is: what became of a call says another event.
_OF_PEOPLE = (EventKind.FEEDBACK_GIVEN, EventKind.CHANGES_ACCEPTED, EventKind.RUN_EXTENDED)


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that began behind event `after`; of a vote, `vote` is the question to the judge."""

    step: Step
    after: int
    vote: str = ""

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"step": self.step.value, "after": self.after}
        return wire | ({"vote": self.vote} if self.vote else {})

    def is_settled_by(self, event: Event) -> bool:
        """Return whether an event says what became of it: of a vote also the end of EVALUATE."""
        if event.kind is EventKind.VOTE_CAST:
            return bool(self.vote) and event.payload.get("question") == self.vote
        return event.step is self.step and event.kind not in _OF_PEOPLE


def find_lost_calls(run: Mapping[str, Any], events: Sequence[Event]) -> list[PendingCall]:
    """Return the calls that run.json has as under way and that are in no event."""
    wire = run.get(CALLS) if mentions(run, events[0].run_id) else None
    calls = [call for one in (wire if isinstance(wire, list) else ()) for call in _calls(one)]
    return [
        call
        for call in calls
        if not any(call.is_settled_by(event) for event in events if event.seq > call.after)
    ]


def _calls(wire: Any) -> Iterator[PendingCall]:
    if not isinstance(wire, Mapping):
        return
    step, after, vote = wire.get("step"), wire.get("after"), wire.get("vote", "")
    if step in list(Step) and isinstance(after, int) and isinstance(vote, str):
        yield PendingCall(Step(step), after, vote)


def record_lost_calls(calls: Iterable[PendingCall]) -> Iterator[tuple[StepOutcome, str]]:
    """Yield an event for the calls of each step, which were paid, with what is said of it."""
    for step, number in Counter(call.step for call in calls).items():
        cost = {**unknown_cost(0.0), "calls": number}
        many = "its call counts" if number == 1 else f"its {number} calls count"
        yield (
            interrupt_outcome(step, cost),
            f"{step.value} was under way when the run was killed; {many} as paid",
        )


def with_lost_calls(state: RunState, run: Mapping[str, Any], events: Sequence[Event]) -> RunState:
    """Return the state of an interrupted run as it will be when it is resumed."""
    if state.status is not RunStatus.RUNNING:
        return state
    spend: Spend = state.spend.with_calls(unknown_cost(0.0) for _ in find_lost_calls(run, events))
    return replace(state, spend=spend)


def refuse_what_is_ahead(run: RecordedRun, written: Mapping[str, Any], torn_lines: int) -> None:
    """Raise StateError where run.json is of a newer program, or of more events than there are.

    Nothing is changed then: which of the two files is right is for a person to say.
    """
    state, folder = run.state, run.folder
    if state.alias != run.alias:
        raise UsageError(
            f"{folder} has the history of loop {state.alias!r}: cannot run a copied loop",
            hint=f"name the folder {state.alias}, or give its {ARTIFACT} to `loop new --input`",
        )
    refuse_newer(written, folder / RUN)
    if not mentions(written, state.run_id):
        return
    running = state.status is RunStatus.RUNNING
    if running and (written.get("stop") or {}).get("reason") == StopReason.TAMPERED.value:
        raise TamperedError(
            f"{folder / HISTORY} was changed while the run was writing it",
            hint=f"start a new loop, with {ARTIFACT} as --input",
        )
    last = written.get("last_seq", 0)
    if last > state.last_seq + torn_lines:
        raise StateError(
            f"{folder / HISTORY} ends with event {state.last_seq}, but {RUN} knows of "
            f"event {last}: the history has lost events",
            hint=f"put it back; or remove {RUN} to go on from event {state.last_seq}",
        )


def keep_broken_state(folder: Path, run_id: str) -> list[Path]:
    """Keep a run.json that does not describe a run, and return where; it is written anew."""
    path = folder / RUN
    if mentions(read_object(path), run_id) or (data := read_if_regular(path)) is None:
        return []
    return [keep_copy(path, data, "corrupt")]
