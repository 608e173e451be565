"""The words of the domain as enums; their values are the seeds' wire words."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How much a failed rule matters: `fail` blocks, `warn` lowers the score, `info` is tracked."""

    FAIL = "fail"
    WARN = "warn"
    INFO = "info"


DEFAULT_WEIGHT: dict[Severity, int] = {Severity.FAIL: 2, Severity.WARN: 1, Severity.INFO: 0}


class Level(StrEnum):
    """Strictness of an evaluation (wire key `phase`): A is basic, B adds the stricter rules."""

    A = "A"
    B = "B"

    @property
    def active(self) -> tuple[Level, ...]:
        """The levels whose rules are active at this level."""
        return (Level.A,) if self is Level.A else (Level.A, Level.B)


class Outcome(StrEnum):
    """What became of one check. Only `pass` earns weight; `error` means it could not judge."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    NOT_MEASURED = "not_measured"


class Step(StrEnum):
    """A step of an iteration (wire key `current_step`)."""

    PLAN = "PLAN"
    PRODUCE = "PRODUCE"
    PREPARE = "PREPARE"
    PRODUCE_PREPARE = "PRODUCE_PREPARE"
    EVALUATE = "EVALUATE"
    CRITIQUE = "CRITIQUE"
    REFINE = "REFINE"


class RunStatus(StrEnum):
    """State of a loop."""

    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class StopReason(StrEnum):
    """Why a loop ended."""

    THRESHOLD_REACHED = "threshold_reached"
    NO_MAJOR_ISSUES = "no_major_issues"
    USER_STOP = "user_stop"
    STAGNATION = "stagnation"
    BUDGET_EXCEEDED = "budget_exceeded"
    ITERATION_LIMIT = "iteration_limit"
    PHASE_ERROR = "phase_error"
    TAMPERED = "tampered"


STATUS_OF_REASON: dict[StopReason, RunStatus] = {
    StopReason.THRESHOLD_REACHED: RunStatus.COMPLETED,
    StopReason.NO_MAJOR_ISSUES: RunStatus.COMPLETED,
    StopReason.USER_STOP: RunStatus.STOPPED,
    StopReason.STAGNATION: RunStatus.STOPPED,
    StopReason.BUDGET_EXCEEDED: RunStatus.STOPPED,
    StopReason.ITERATION_LIMIT: RunStatus.STOPPED,
    StopReason.PHASE_ERROR: RunStatus.FAILED,
    StopReason.TAMPERED: RunStatus.FAILED,
}

# A run that ended for one of these can go on under other limits.
EXTENDABLE = frozenset(
    (
        StopReason.USER_STOP,
        StopReason.STAGNATION,
        StopReason.BUDGET_EXCEEDED,
        StopReason.ITERATION_LIMIT,
        StopReason.PHASE_ERROR,
    )
)
