"""What a goal is made of, as frozen values: criteria, how each is verified, and the state file.

Source: seed 003 (the state file, the rubric, the circuit breakers) and section 6 of the
specification. Keys that another program wrote are kept as they are in `GoalState.rest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

MOST_STUCK = 5
"""Iterations in a row with the same criteria unmet, behind which the circuit is open."""


class Verification(StrEnum):
    """How a criterion was proven, from the strongest to the weakest.

    A claim is what another program says without a proof; an assumption blocks the exit.
    """

    EXECUTION_OUTPUT = "execution output"
    OBSERVATION = "observation"
    MEASUREMENT = "measurement"
    CODE_REVIEW = "code review"
    CLAIM = "claim"
    ASSUMPTION = "assumption"

    @property
    def is_weak(self) -> bool:
        return self in (Verification.CODE_REVIEW, Verification.CLAIM, Verification.ASSUMPTION)


class Shape(StrEnum):
    """How much a person is asked: not at all, at each gate, or before anything is begun."""

    TOOL = "tool"
    COLLEAGUE = "colleague"
    INTENT = "intent"


class Workflow(StrEnum):
    """What kind of work it is; each kind has a gate of its own."""

    BUILD = "A"
    DEBUG = "B"
    REFACTOR = "C"


class Reversibility(StrEnum):
    """How fast the work can be rolled back: a minute, five minutes, or hours."""

    FAST = "2A"
    CHECKPOINTED = "2B"
    ONE_WAY = "1"


class GoalStatus(StrEnum):
    """The `status` of a state file."""

    IN_PROGRESS = "in_progress"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationPlan:
    """How a criterion is to be verified; where nothing is given, only evidence can show it.

    `command` is a text for a shell: exit status 0 passes, or, with `compare` (such as
    ``p95 < 100 ms``), the number that it prints. `criteria` and `artifact` are a criteria file and
    what it is held against, `rule` one rule of it; they come before a command. `required` is the
    kind of evidence that is asked for.
    """

    command: str = ""
    compare: str = ""
    criteria: str = ""
    artifact: str = ""
    rule: str = ""
    required: Verification | None = None

    @property
    def runs(self) -> bool:
        """Return whether the program itself can verify it."""
        return bool(self.command or self.criteria)

    @property
    def started(self) -> VerificationPlan:
        """Return what is started for it: the same for plans that look at its outcome otherwise."""
        if self.criteria:
            return VerificationPlan(criteria=self.criteria, artifact=self.artifact)
        return VerificationPlan(command=self.command)

    @property
    def shown(self) -> str:
        """Return what the program verifies it by, in words; empty where it cannot."""
        if self.criteria:
            return ", ".join(filter(None, (self.criteria, self.rule, self.artifact)))
        if self.command:
            return f"`{self.command}`" + (f", {self.compare}" if self.compare else "")
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that must hold before the goal is reached, and what is known of it.

    `rest` are the keys of its `criteriaStatus` that only another program knows.
    """

    text: str
    plan: VerificationPlan = VerificationPlan()
    met: bool = False
    verification: Verification | None = None
    evidence: str = ""
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def holds(self) -> bool:
        """Return whether it is met, and more than assumed."""
        return self.met and self.verification is not Verification.ASSUMPTION


@dataclass(frozen=True, slots=True, kw_only=True)
class MustNot:
    """What may never become true; without a command or criteria only a report can show it."""

    text: str
    plan: VerificationPlan = VerificationPlan()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalState:
    """`.loop/state.json`.

    `stuck_count` counts the iterations in a row in which the same criteria stayed `unmet`. `id` is
    that of the session that it is bound to, empty for none. `hook` is what the Stop hook keeps,
    `own` what the goal loop adds to the keys of the seed, and `rest` every key that neither knows.
    """

    spec: str
    criteria: tuple[Criterion, ...] = ()
    exit_signal: bool = False
    steps: tuple[str, ...] = ()
    completed_steps: tuple[str, ...] = ()
    remaining_steps: tuple[str, ...] = ()
    iteration: int = 0
    status: GoalStatus = GoalStatus.IN_PROGRESS
    stuck_count: int = 0
    unmet: tuple[str, ...] = ()
    pause_reason: str = ""
    must_not: tuple[MustNot, ...] = ()
    id: str = ""
    hook: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all_met(self) -> bool:
        """Return whether there are criteria, and each is met and none of them assumed."""
        return bool(self.criteria) and all(one.holds for one in self.criteria)

    @property
    def started(self) -> tuple[VerificationPlan, ...]:
        """Return what is started to verify its criteria and what must not be, each once."""
        plans = [one.plan for one in self.criteria] + [one.plan for one in self.must_not]
        return tuple(dict.fromkeys(plan.started for plan in plans if plan.runs))
