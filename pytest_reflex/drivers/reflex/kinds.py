"""Kinds of runs: of one text, or of the files of a project, which only pytest itself can drive."""

from __future__ import annotations

from pytest_reflex.errors import UsageError
from pytest_reflex.model.run import RunState

KIND = "kind"
SESSION = "pytest-session"
LOOP, PYTEST_LOOP = "loop", "pytest-loop"
"""The two kinds, as lists and events name their drivers."""


def is_of_session(state: RunState) -> bool:
    """Return whether a run is over a user's own pytest session."""
    return state.setup.get(KIND) == SESSION


def refuse_session(state: RunState, command: str = "") -> None:
    """Raise UsageError for a run over a pytest session; it goes on by `command`, or as it is."""
    if is_of_session(state):
        again = command or f"pytest --reflex-loop --reflex-resume {state.alias}"
        raise UsageError(
            f"the loop {state.alias!r} is over a pytest session", hint=f"go on with `{again}`"
        )
