"""What to do after a loop that ended without success: the very command that lets it go on."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.stop import StopReason, is_extendable

_MORE_ITERATIONS = "--max-iterations +2"


def extend_command(state: RunState) -> str:
    """Return the `loop extend` that a stopped run takes: more of what is used up, no more."""
    words = ["pytest-reflex loop extend", state.alias]
    judged = state.evaluated or state.stop.restored_from is not None
    if judged and state.iteration >= state.limits.max_iterations:
        words.append(_MORE_ITERATIONS)
    return " ".join([*words, *_more_budget(state)])


def _more_budget(state: RunState) -> Iterator[str]:
    """Yield an option for each limit that is reached: as much again, until it is enough."""
    for key, limit in state.limits.budget.items():
        used = getattr(state.spend, key)
        if used >= limit:
            more = limit * max(used // limit, 1)
            more += limit if limit + more <= used else 0
            yield f"--budget {key}=+{_decimal(more)}"


def _decimal(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def next_line(state: RunState) -> str:
    """Return how to go on, for a summary; empty after a success."""
    there = state.artifact_sha256 != EMPTY_SHA256
    if state.stop.reason is StopReason.TAMPERED:
        again = "start a new loop" + (", with artifact.md as --input" if there else "")
        return f"review what was modified; then {again}"
    if not is_extendable(state.stop.reason):
        return ""
    first = "mend artifact.md by hand first, if you like; " if there else ""
    return f"{extend_command(state)} ({first}--agent NAME takes another agent)"
