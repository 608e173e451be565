"""The small JSON documents of a run: their names, what stands in them, how they are read and written.

run.json and current.json have the seed's shapes (seed 000) and are written from the state alone.
Keys that the seed does not have are added beside its own and never change their meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError, UnreadableError
from pytest_reflex.model.rules import floored
from pytest_reflex.model.run import RunState
from pytest_reflex.store.regular import read_if_regular

SCHEMA_VERSION = 1


def run_json(state: RunState) -> dict[str, Any]:
    """Return run.json for a state."""
    criteria = state.criteria.to_json()
    last = state.marks[-1].score if state.marks else None
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": state.run_id,
        "task_alias": state.alias,
        "status": state.status.value,
        "iteration": state.iteration,
        "max_iterations": state.limits.max_iterations,
        "phase": state.level.value,
        "current_step": state.step.value,
        "task": {"prompt": state.task, "ideal_result": state.ideal_result},
        "criteria": criteria,
        "plan": list(state.plan),
        "prepared_checks": None if state.checks is None else {"checks": list(state.checks)},
        "evaluation": state.evaluation.to_json() if state.evaluation else None,
        "critique": None if state.issues is None else {"issues": list(state.issues)},
        "stop": state.stop.to_json(),
        "last_score": floored(last) if last is not None else 0,
        "last_score_exact": f"{last.numerator}/{last.denominator}" if last is not None else "0/1",
        "stagnation_count": state.stagnation_count,
        "artifact": {"sha256": state.artifact_sha256, "status": state.artifact_status},
        "proofs": list(state.proofs),
        "feedback": {"waiting": list(state.feedback), "heeded": list(state.heeded)},
        "limits": state.limits.to_json(),
        "setup": dict(state.setup),
        "spend": state.spend.to_json(),
        "seal": state.seal,
        "created_at": state.created_at,
        "updated_at": state.updated_at,
        "last_seq": state.last_seq,
    }


def current_json(state: RunState) -> dict[str, Any]:
    """Return current.json, the pointer to the loop that runs."""
    return {
        "active_run_id": state.run_id,
        "task_alias": state.alias,
        "status": state.status.value,
        "updated_at": state.updated_at,
    }


HISTORY, RUN, ARTIFACT, CURRENT = "history.jsonl", "run.json", "artifact.md", "current.json"

_MOST_BYTES = 500_000_000


def dump(document: dict[str, Any]) -> bytes:
    """Return a document as one line; raises ValueError for what JSON does not have."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair (a path that is no UTF-8) has an escape
        return json.dumps(document, allow_nan=False).encode() + b"\n"


def read_object(path: Path) -> dict[str, Any]:
    """Return a JSON object, or an empty one where there is no regular file that holds one.

    Raises UnreadableError.
    """
    try:
        found = json.loads(read_if_regular(path, _MOST_BYTES) or b"{}")
    except UnreadableError:  # it may hold one
        raise
    except (OSError, ValueError, RecursionError, StateError):
        return {}
    return found if isinstance(found, dict) else {}


def tells_of(written: Mapping[str, Any], run_id: str) -> bool:
    """Return whether a run.json is one of that run; another program may leave out `last_seq`."""
    last = written.get("last_seq", 0)
    is_number = isinstance(last, int) and not isinstance(last, bool)
    return written.get("run_id") == run_id and is_number


def refuse_newer(written: Mapping[str, Any], path: Path) -> None:
    """Raise StateError for a document that a newer version of this program wrote."""
    version = written.get("schema_version", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StateError(
            f"a newer version wrote {path} (schema {version}, this one reads {SCHEMA_VERSION})",
            hint="go on with that version",
        )
