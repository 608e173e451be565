"""How a run ends: the best artifact stands, and the last event says which one that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.reflex.decide import is_last
from pytest_reflex.drivers.reflex.history import artifact_with, evaluation_of, judged_at
from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import BY_EVALUATION, ENDS, RunStatus, StopReason
from pytest_reflex.verdict.progress import best


def stopped(
    state: RunState,
    stop: Stop,
    past: Sequence[Event],
    verified: Collection[tuple[str, Level]] = (),
) -> Done:
    """Return the last event of a run; where it was not success, the best artifact is restored.

    `verified` has the hash and the level of each artifact that this process evaluated: nothing else
    has passed. Where something was tampered with no evaluation is to be relied on, and all stays
    as it is.
    """
    status = ENDS[stop.reason].status
    current = state.evaluation if state.artifact_status == "evaluated" else None
    sound = stop.reason is not StopReason.TAMPERED
    own = bool(current and judged_at(current) in verified)
    payload: dict[str, Any] = {
        "reason": stop.reason.value,
        "detail": stop.detail,
        "passed": sound
        and bool(own and current and current.passed and is_last(state, current.level)),
    }
    kind = EventKind.FAILED if status is RunStatus.FAILED else EventKind.STOPPED
    step = Step.EVALUATE if stop.reason in BY_EVALUATION else state.step
    top = best(state.marks)
    restores = status is not RunStatus.COMPLETED and sound
    if not restores or top is None or top.sha256 == state.artifact_sha256:
        return Done(kind=kind, step=step, payload=payload)
    payload |= {
        "passed": (top.sha256, top.level) in verified and top.passed and is_last(state, top.level),
        "restored_from": {"iteration": top.iteration, "phase": top.level.value},
        "sha256": top.sha256,
        "evaluation": evaluation_of(past, top),
        "by": "restore",
    }
    text = artifact_with(past, top.sha256)
    return Done(kind=kind, step=step, payload=payload, artifact=text)
