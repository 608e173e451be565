"""The names of a run's files, and how the small JSON documents among them are read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.runjson import SCHEMA_VERSION
from pytest_reflex.errors import StateError, UnreadableError
from pytest_reflex.store.regular import read_if_regular

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
