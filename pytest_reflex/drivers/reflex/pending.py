"""The calls of agents that no event tells of yet: of steps, and of votes that a judge is asked for.

They stand in run.json, for a process that is killed leaves no event of them: they were paid all the
same. Promises: pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_reflex.drivers.reflex.statefile import CALLS, tells_of
from pytest_reflex.drivers.reflex.steps import Done, interrupted
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState, Spend, unknown_cost
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.model.words import Step

# Of people, whatever the step is: what became of a call says another event.
_OF_PEOPLE = (EventKind.FEEDBACK_GIVEN, EventKind.CHANGES_ACCEPTED, EventKind.RUN_EXTENDED)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that began behind event `after`; of a vote, `vote` is the question to the judge."""

    step: Step
    after: int
    vote: str = ""

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"step": self.step.value, "after": self.after}
        return wire | ({"vote": self.vote} if self.vote else {})

    def is_told_by(self, event: Event) -> bool:
        """Return whether an event says what became of it: of a vote also the end of EVALUATE."""
        if event.kind is EventKind.VOTE_CAST:
            return bool(self.vote) and event.payload.get("question") == self.vote
        return event.step is self.step and event.kind not in _OF_PEOPLE


def calls_json(calls: Iterable[Call]) -> dict[str, Any]:
    """Return the key of run.json with the calls that are under way; none where there are none."""
    wire = [call.to_json() for call in calls]
    return {CALLS: wire} if wire else {}


def lost_calls(run: Mapping[str, Any], events: Sequence[Event]) -> list[Call]:
    """Return the calls that run.json has as under way and of which no event tells."""
    wire = run.get(CALLS) if tells_of(run, events[0].run_id) else None
    calls = [call for one in (wire if isinstance(wire, list) else ()) for call in _calls(one)]
    return [
        call
        for call in calls
        if not any(call.is_told_by(event) for event in events if event.seq > call.after)
    ]


def _calls(wire: Any) -> Iterator[Call]:
    if not isinstance(wire, Mapping):
        return
    step, after, vote = wire.get("step"), wire.get("after"), wire.get("vote", "")
    if step in list(Step) and isinstance(after, int) and isinstance(vote, str):
        yield Call(Step(step), after, vote)


def paid_calls(calls: Iterable[Call]) -> Iterator[tuple[Done, str]]:
    """Yield an event for the calls of each step, which were paid, with what is said of it."""
    for step, number in Counter(call.step for call in calls).items():
        cost = {**unknown_cost(0.0), "calls": number}
        many = "its call counts" if number == 1 else f"its {number} calls count"
        yield (
            interrupted(step, cost),
            f"{step.value} was under way when the run was killed; {many} as paid",
        )


def with_lost_calls(state: RunState, run: Mapping[str, Any], events: Sequence[Event]) -> RunState:
    """Return the state of an interrupted run as it will be when somebody goes on with it."""
    if state.status is not RunStatus.RUNNING:
        return state
    spend: Spend = state.spend.with_calls(unknown_cost(0.0) for _ in lost_calls(run, events))
    return replace(state, spend=spend)
