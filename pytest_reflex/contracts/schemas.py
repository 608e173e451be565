"""The JSON Schemas (draft 2020-12) that are shipped with the package, by name."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_reflex.errors import UsageError, did_you_mean

_FOLDER = Path(__file__).parent / "schemas"
_ENDING = ".schema.json"


def names() -> list[str]:
    """Return the names of all schemas, sorted."""
    return sorted(path.name.removesuffix(_ENDING) for path in _FOLDER.glob(f"*{_ENDING}"))


def schema(name: str) -> dict[str, Any]:
    """Return a schema as a new object; raises UsageError for a name that there is not."""
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


@lru_cache
def schema_text(name: str) -> str:
    """Return a schema as it is shipped; raises UsageError for a name that there is not."""
    if name not in names():
        raise UsageError(f"there is no schema {name!r}", hint=did_you_mean(name, names()))
    return (_FOLDER / f"{name}{_ENDING}").read_text(encoding="utf-8")
