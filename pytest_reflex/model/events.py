"""One line of history.jsonl (seed 000) as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_reflex.model.enums import Level, Step

INTERRUPTED = "interrupted"


class EventKind(StrEnum):
    """The events of the Reflex loop; the values are the seed's names.

    Added: `feedback_given` (a person's critique), `run_extended` (a run that had ended goes on),
    `vote_cast` (a judge has voted, in an evaluation that is under way), `changes_accepted` (a
    person takes the project as it is now) and `run_adopted` (a run that another program began goes
    on here: it has what `run_started` has, and where that run stood).
    """

    RUN_STARTED = "run_started"
    PLAN_CREATED = "plan_created"
    ARTIFACT_CREATED = "artifact_created"
    CHECKS_PREPARED = "checks_prepared"
    EVALUATION_DONE = "evaluation_done"
    CRITIQUE_DONE = "critique_done"
    REFINEMENT_DONE = "refinement_done"
    PHASE_SWITCHED = "phase_switched"
    ITERATION_ADVANCED = "iteration_advanced"
    PHASE_ERROR = "phase_error"
    STOPPED = "stopped"
    FAILED = "failed"
    FEEDBACK_GIVEN = "feedback_given"
    RUN_EXTENDED = "run_extended"
    VOTE_CAST = "vote_cast"
    CHANGES_ACCEPTED = "changes_accepted"
    RUN_ADOPTED = "run_adopted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened and is on disk.

    `ts` is UTC to the second as the seed has it; order comes from `seq` (from 1, no gaps), never
    from time. `status` is "ok" or "error".
    """

    kind: EventKind
    run_id: str
    iteration: int
    level: Level
    step: Step
    seq: int
    ts: str
    status: str = "ok"
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def was_interrupted(self) -> bool:
        """Whether it says of a step only that it was interrupted, and what that cost."""
        return self.payload.get(INTERRUPTED) is True

    def to_json(self) -> dict[str, Any]:
        return {
            "ts": self.ts,
            "run_id": self.run_id,
            "iteration": self.iteration,
            "phase": self.level.value,
            "step": self.step.value,
            "event": self.kind.value,
            "status": self.status,
            "payload": dict(self.payload),
            "seq": self.seq,
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Event:
        return cls(
            kind=EventKind(wire["event"]),
            run_id=wire["run_id"],
            iteration=wire["iteration"],
            level=Level(wire["phase"]),
            step=Step(wire["step"]),
            seq=wire["seq"],
            ts=wire["ts"],
            status=wire["status"],
            payload=wire["payload"],
        )
