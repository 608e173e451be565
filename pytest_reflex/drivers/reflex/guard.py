"""What a REFINE, or a later PRODUCE, changed outside the critique: told, or taken back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_reflex.drivers.reflex.history import artifact_with
from pytest_reflex.drivers.reflex.scope import last_critique, scope_of
from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.model.events import Event
from pytest_reflex.model.run import RunState
from pytest_reflex.model.words import Step
from pytest_reflex.store.parts import changed_sections, merge, moved, parts_of

OFF, REPORT, STRICT = "off", "report", "strict"
GUARDS = (OFF, REPORT, STRICT)
NO_PARTS = "its parts cannot be told apart"


def guarded(done: Done, state: RunState, events: Sequence[Event]) -> Done:
    """Return a step's new artifact as the guard of the run lets it stand, with what it found.

    The payload gets `scope` and `outside` (names of parts); with the guard strict also `reverted`,
    or `unguarded`, which says why nothing could be taken back. Everything is compared with the
    artifact that was evaluated last.
    """
    mode = state.setup.get("guard", REPORT)
    if mode == OFF or done.artifact is None or not _is_held(done.step, state):
        return done
    found = last_critique(events, state.criteria)
    if found is None:
        return done
    critique, sha256 = found
    old, new = artifact_with(events, sha256), done.artifact
    scope = scope_of(critique, old, new)
    payload: dict[str, Any] = {"scope": scope.to_json(), "outside": []}
    if parts_of(old) is None or parts_of(new) is None:
        payload |= {"unguarded": NO_PARTS} if mode == STRICT else {}
    elif not scope.whole:
        payload["outside"] = outside(old, new, scope.named)
        if mode == STRICT and payload["outside"]:
            new = _reverted(old, new, scope.named, payload)
    return replace(done, payload={**done.payload, **payload}, artifact=new)


def _is_held(step: Step, state: RunState) -> bool:
    return step is Step.REFINE or (step is Step.PRODUCE and state.iteration > 1)


def outside(old: str, new: str, named: frozenset[str]) -> list[str]:
    """Return the parts that were changed or moved and are not named."""
    changed = changed_sections(old, new).all
    return [
        name for name in dict.fromkeys((*changed, *moved(old, new, named))) if name not in named
    ]


def _reverted(old: str, new: str, named: frozenset[str], payload: dict[str, Any]) -> str:
    merged = merge(old, new, named)
    if merged is None:
        payload["unguarded"] = NO_PARTS
        return new
    payload["reverted"] = payload["outside"]
    return merged
