"""What to do after a loop that ended without success: the very command that lets it go on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pytest_reflex.model.plain import visible
from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.stop import StopReason, is_extendable

_MORE_ITERATIONS = "--max-iterations +2"


def extend_command(state: RunState, *, of_session: bool = False) -> str:
    """Return the command by which a stopped run goes on: more of what is used up, no more.

    A loop `of_session` is taken up by pytest, whose options have names of their own.
    """
    options = [f"--allow {shlex.quote(path)}" for path in state.stop.offered]
    judged = state.evaluated or state.stop.restored_from is not None
    if judged and state.iteration >= state.limits.max_iterations:
        options.append(_MORE_ITERATIONS)
    options += _more_budget(state)
    if not of_session:
        return " ".join(["pytest-reflex loop extend", state.alias, *options])
    own = (f"--reflex-{option.removeprefix('--')}" for option in options or [_MORE_ITERATIONS])
    return " ".join(["pytest --reflex-loop --reflex-resume", state.alias, *own])


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


def allowing(state: RunState, *, of_session: bool = False) -> str:
    """Return what to do where an agent added modules, and nothing else was modified."""
    names = ", ".join(map(visible, state.stop.offered))
    command = extend_command(state, of_session=of_session)
    return f"review {names}, which the agent added; to keep it and go on: `{command}`"


def next_line(state: RunState) -> str:
    """Return how to go on, for a summary; empty after a success."""
    there = state.artifact_sha256 != EMPTY_SHA256
    if state.stop.offered:
        return allowing(state)
    if state.stop.reason is StopReason.TAMPERED:
        again = "start a new loop" + (", with artifact.md as --input" if there else "")
        return f"review what was modified; then {again}"
    if not is_extendable(state.stop.reason):
        return ""
    first = "fix artifact.md by hand first, if you like; " if there else ""
    return f"{extend_command(state)} ({first}--agent NAME takes another agent)"
