"""What the events of a run say of it: its state, and every artifact that it had.

Promises: pure; an event that cannot be read is named by file and number, never guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.fold import apply
from pytest_reflex.errors import StateError
from pytest_reflex.model.events import Event
from pytest_reflex.model.run import Mark, RunState
from pytest_reflex.store.delta import apply_delta


def read_events(path: Path, records: Iterable[Mapping[str, Any]]) -> tuple[list[Event], RunState]:
    """Return the events in the records of a journal, and the state they lead to.

    Raises StateError where there is none, or one that is not as this program writes them.
    """
    events: list[Event] = []
    state = None
    for number, record in enumerate(records, 1):
        try:
            events.append(Event.from_json(record))
            state = apply(state, events[-1])
        except StateError as error:
            raise StateError(f"{path}: {error.problems[0].message}", hint=_ADVICE) from None
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise StateError(
                f"{path}: event {number} cannot be used: {type(error).__name__}: {error}",
                hint=_ADVICE,
            ) from error
    if state is None:
        raise StateError(f"{path} is empty", hint="start a new loop")
    return events, state


_ADVICE = "another program or version wrote it; start a new loop from the artifact"


def text_after(events: Iterable[Event]) -> str:
    """Return the artifact after some events, rebuilt from their deltas and verified.

    Raises StateError where a delta does not lead to the hash that its event recorded.
    """
    text = ""
    for event in events:
        if "delta" not in event.payload:
            continue
        text = apply_delta(text, event.payload["delta"])
        if digest(text) != event.payload["after"]:
            raise StateError(
                f"history event {event.seq}: its delta does not give the artifact it recorded",
                hint="the history was changed; start a new loop",
            )
    return text


def digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def hash_before_last_change(events: Sequence[Event]) -> str | None:
    """Return the hash that artifact.md has where its last change was not written any more.

    None where an event followed the change: by then the artifact had been written.
    """
    last = events[-1] if events else None
    return last.payload["before"] if last and "delta" in last.payload else None


def artifact_with(events: Sequence[Event], sha256: str) -> str:
    """Return the text of an artifact that the run had; raises StateError."""
    for number, event in enumerate(events, 1):
        if event.payload.get("after") == sha256:
            return text_after(events[:number])
    raise StateError(f"the history has no artifact with hash {sha256[:8]}")


def evaluation_of(events: Sequence[Event], mark: Mark) -> dict[str, Any]:
    """Return the evaluation that left a mark, on the wire; raises StateError."""
    for event in reversed(events):
        found = event.payload.get("evaluation")
        if not found or found["artifact_sha256"] != mark.sha256:
            continue
        if event.level is mark.level and event.iteration == mark.iteration:
            return dict(found)
    raise StateError(f"the history has no evaluation of {mark.sha256[:8]}")
