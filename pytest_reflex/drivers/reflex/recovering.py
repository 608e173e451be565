"""What run.json says beside the history when a run is taken up: what is ahead of it, or broken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.history import RecordedRun
from pytest_reflex.drivers.reflex.statefile import (
    ARTIFACT,
    HISTORY,
    RUN,
    read_object,
    refuse_newer,
    tells_of,
)
from pytest_reflex.errors import StateError, TamperedError, UsageError
from pytest_reflex.model.stop import RunStatus, StopReason
from pytest_reflex.store.aside import keep_aside
from pytest_reflex.store.regular import read_if_regular


def refuse_what_is_ahead(run: RecordedRun, written: Mapping[str, Any], torn_lines: int) -> None:
    """Raise StateError where run.json is of a newer program, or of more events than there are.

    Nothing is changed then: which of the two files is right is for a person to say.
    """
    state, folder = run.state, run.folder
    if state.alias != run.alias:
        raise UsageError(
            f"{folder} has the history of loop {state.alias!r}: a copy is not driven",
            hint=f"name the folder {state.alias}, or give its {ARTIFACT} to `loop new --input`",
        )
    refuse_newer(written, folder / RUN)
    if not tells_of(written, state.run_id):
        return
    running = state.status is RunStatus.RUNNING
    if running and (written.get("stop") or {}).get("reason") == StopReason.TAMPERED.value:
        raise TamperedError(
            f"{folder / HISTORY} was changed while the run was writing it",
            hint=f"start a new loop, with {ARTIFACT} as --input",
        )
    last = written.get("last_seq", 0)
    if last > state.last_seq + torn_lines:
        raise StateError(
            f"{folder / HISTORY} ends with event {state.last_seq}, but {RUN} knows of "
            f"event {last}: the history has lost events",
            hint=f"put it back; or remove {RUN} to go on from event {state.last_seq}",
        )


def keep_broken_state(folder: Path, run_id: str) -> list[Path]:
    """Keep a run.json that does not tell of a run, and return where; it is written anew."""
    path = folder / RUN
    if tells_of(read_object(path), run_id) or (data := read_if_regular(path)) is None:
        return []
    return [keep_aside(path, data, "corrupt")]
