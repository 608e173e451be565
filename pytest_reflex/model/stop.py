"""Why a run of any driver ended, and what that means: one reason, one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pytest_reflex.errors import ExitCode


class RunStatus(StrEnum):
    """State of a run."""

    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class StopReason(StrEnum):
    """Why a run ended; the values are the seeds' words where a seed has one."""

    THRESHOLD_REACHED = "threshold_reached"
    NO_MAJOR_ISSUES = "no_major_issues"
    USER_STOP = "user_stop"
    STAGNATION = "stagnation"
    BUDGET_EXCEEDED = "budget_exceeded"
    ITERATION_LIMIT = "iteration_limit"
    PHASE_ERROR = "phase_error"
    TAMPERED = "tampered"
    SUCCESS = "success"
    LIMIT = "limit"
    FAILURES = "failures"
    WALL_TIME = "wall time"
    UNCHANGED = "unchanged"
    PERSON_NEEDED = "person_needed"
    RATE_LIMIT = "rate_limit"
    DENIED = "denied"
    INTERRUPTED = "interrupted"
    TARGET_MET = "target-met"
    ABANDONED = "abandoned"
    CIRCUIT_BREAKER = "circuit_breaker"
    UNPROVEN = "unproven"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class End:
    """What a reason means: the status of the run, the exit code, and the reason in words.

    A run that ended can go on under other limits where it is `extendable`.
    """

    status: RunStatus
    exit_code: ExitCode
    sentence: str
    extendable: bool = False


_COMPLETED, _STOPPED, _FAILED = RunStatus.COMPLETED, RunStatus.STOPPED, RunStatus.FAILED

ENDS: Mapping[StopReason, End] = {
    StopReason.THRESHOLD_REACHED: End(_COMPLETED, ExitCode.OK, "the threshold is reached"),
    StopReason.NO_MAJOR_ISSUES: End(_COMPLETED, ExitCode.OK, "only warnings remain"),
    StopReason.USER_STOP: End(_STOPPED, ExitCode.USER_STOP, "stopped by the user", True),
    StopReason.STAGNATION: End(_STOPPED, ExitCode.STAGNATION, "no progress", True),
    StopReason.BUDGET_EXCEEDED: End(
        _STOPPED, ExitCode.BUDGET_EXCEEDED, "the budget is used up", True
    ),
    StopReason.ITERATION_LIMIT: End(
        _STOPPED, ExitCode.ITERATION_LIMIT, "all iterations are used up", True
    ),
    StopReason.PHASE_ERROR: End(_FAILED, ExitCode.PHASE_ERROR, "a step failed twice", True),
    StopReason.TAMPERED: End(_FAILED, ExitCode.TAMPERED, "protected files were modified"),
    StopReason.SUCCESS: End(_COMPLETED, ExitCode.OK, "the agent gave the success signal"),
    StopReason.LIMIT: End(_COMPLETED, ExitCode.OK, "all iterations are done"),
    StopReason.FAILURES: End(_FAILED, ExitCode.ABORTED, "too many failures in a row", True),
    StopReason.WALL_TIME: End(_STOPPED, ExitCode.BUDGET_EXCEEDED, "the wall time is over", True),
    StopReason.UNCHANGED: End(_STOPPED, ExitCode.STAGNATION, "nothing changes any more", True),
    StopReason.PERSON_NEEDED: End(_STOPPED, ExitCode.WAITING, "a person is needed", True),
    StopReason.RATE_LIMIT: End(_STOPPED, ExitCode.PHASE_ERROR, "a limit of the tool", True),
    StopReason.DENIED: End(
        _STOPPED, ExitCode.PHASE_ERROR, "the agent was not allowed to do its work", True
    ),
    StopReason.ABANDONED: End(_STOPPED, ExitCode.USER_STOP, "another run was begun instead"),
    StopReason.TARGET_MET: End(_COMPLETED, ExitCode.OK, "the target is met"),
    StopReason.CIRCUIT_BREAKER: End(
        _STOPPED, ExitCode.CIRCUIT_BREAKER, "a circuit breaker has opened", True
    ),
    StopReason.UNPROVEN: End(_STOPPED, ExitCode.GATE_FAILED, "too little is proven", True),
    StopReason.CANCELLED: End(_STOPPED, ExitCode.USER_STOP, "cancelled by the user"),
    StopReason.INTERRUPTED: End(_STOPPED, ExitCode.INTERRUPTED, "interrupted", True),
}

BY_EVALUATION = frozenset(
    (
        StopReason.THRESHOLD_REACHED,
        StopReason.NO_MAJOR_ISSUES,
        StopReason.STAGNATION,
        StopReason.ITERATION_LIMIT,
    )
)
"""The reasons of a Reflex loop that an evaluation gives: no step is due behind it."""


def is_extendable(reason: StopReason | None) -> bool:
    """Return whether a run that ended for a reason can go on under other limits."""
    return reason is not None and ENDS[reason].extendable
