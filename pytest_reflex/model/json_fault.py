"""JSON texts: the object that one is, and what is wrong with one, in the same words always."""

from __future__ import annotations

import json
from typing import Any

_ENDS = {"}": "object", "]": "array"}


def json_fault(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return message and offset of a problem; a comma too many is one as of Python 3.13."""
    text, at = error.doc, error.pos
    before = text[:at].rstrip(" \t\r\n")
    if at < len(text) and text[at] in _ENDS and before.endswith(","):
        message = f"Illegal trailing comma before end of {_ENDS[text[at]]}"
        return message, len(before) - 1
    return error.msg, at


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the object that a JSON text is; None where it is anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
