"""A goal as it stands in the record of its run: frozen, JSON on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_reflex.drivers.goal import statefile
from pytest_reflex.drivers.goal.model import GoalState, Reversibility, Shape, Workflow
from pytest_reflex.model.stop import StopReason


class GoalStep(StrEnum):
    """The steps of a goal; G1 to G3 are the gates at which a person is asked."""

    G1 = "G1"
    CHECKPOINT = "checkpoint"
    WORK = "work"
    VERIFY = "verify"
    G2 = "G2"
    G3 = "G3"

    @property
    def is_gate(self) -> bool:
        return self in (GoalStep.G1, GoalStep.G2, GoalStep.G3)


class GateAnswer(StrEnum):
    """What came of a gate; `all` answers each gate that follows too, `none`: no one was there."""

    YES = "yes"
    NO = "no"
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Pause:
    """Why a goal is not worked on further, until it is continued."""

    reason: StopReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an agent claims of a criterion: `kind` is the proof that it names."""

    met: bool
    kind: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What a call of the agent came to; the fields are the keys on the wire.

    `claims` has the criteria of which it says something new. `undone` are keys of the state file
    that it had no business to change, `mismatch` the criteria of which its status block says
    something else than the file. `edits` counts changes by file, None where they are unknown;
    `broken` are statements that it reports as having become true although they must not.
    """

    claims: Mapping[str, Claim] = field(default_factory=dict)
    exit_signal: bool = False
    completed: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    mismatch: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    error: str = ""
    edits: Mapping[str, int] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "claims": {text: _claim_json(one) for text, one in self.claims.items()},
            "exit_signal": self.exit_signal,
            "completed": list(self.completed),
            "remaining": list(self.remaining),
            "undone": list(self.undone),
            "mismatch": list(self.mismatch),
            "restored": list(self.restored),
            "broken": list(self.broken),
            "error": self.error,
            "edits": None if self.edits is None else dict(self.edits),
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> CallResult:
        claims = {text: Claim(**one) for text, one in wire["claims"].items()}
        lists = ("completed", "remaining", "undone", "mismatch", "restored", "broken")
        return cls(**{**wire, "claims": claims, **{key: tuple(wire[key]) for key in lists}})


def _claim_json(claim: Claim) -> dict[str, Any]:
    return {"met": claim.met, "kind": claim.kind, "evidence": claim.evidence}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """All that a run of a goal remembers: its state, how it was begun, and what comes next.

    `at` is the next step. `is_confirmed`: no gate asks any more. `deletes`: a person wants the
    state file gone when the goal is reached. `error` is the last error and `errors` how often in a
    row it came; `last` is what is reported of the last iteration.
    """

    state: GoalState
    shape: Shape
    workflow: Workflow
    reversibility: Reversibility
    rubric: Mapping[str, Any]
    at: GoalStep
    is_confirmed: bool = False
    deletes: bool = False
    precheck: str = ""
    work: CallResult = CallResult()
    error: str = ""
    errors: int = 0
    pause: Pause | None = None
    verdict: str = ""
    last: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_gates(self) -> bool:
        return self.shape is Shape.COLLEAGUE and not self.is_confirmed

    @property
    def step(self) -> str:
        """Return what is worked on next: the first step that remains, or criterion unmet."""
        open_ones = [one.text for one in self.state.criteria if not one.holds]
        left = [*self.state.remaining_steps, *open_ones, "signal the end"]
        return left[0]

    def to_json(self) -> dict[str, Any]:
        return {
            "state": statefile.to_json(self.state),
            "shape": self.shape.value,
            "workflow": self.workflow.value,
            "reversibility": self.reversibility.value,
            "rubric": dict(self.rubric),
            "at": self.at.value,
            "is_confirmed": self.is_confirmed,
            "deletes": self.deletes,
            "precheck": self.precheck,
            "work": self.work.to_json(),
            "error": self.error,
            "errors": self.errors,
            "pause": self.pause and {"reason": self.pause.reason, "detail": self.pause.detail},
            "verdict": self.verdict,
            "last": dict(self.last),
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Goal:
        pause = wire["pause"]
        found = {
            "state": statefile.from_json(wire["state"]),
            "shape": Shape(wire["shape"]),
            "workflow": Workflow(wire["workflow"]),
            "reversibility": Reversibility(wire["reversibility"]),
            "at": GoalStep(wire["at"]),
            "work": CallResult.from_json(wire["work"]),
            "pause": pause and Pause(StopReason(pause["reason"]), pause["detail"]),
        }
        return cls(**{**wire, **found})
