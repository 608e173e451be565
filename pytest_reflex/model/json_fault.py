"""What is wrong with a JSON text, in the same words and at the same place with every Python."""

from __future__ import annotations

import json

_ENDS = {"}": "object", "]": "array"}


def json_fault(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return message and offset of a problem; a comma too many is one as of Python 3.13."""
    text, at = error.doc, error.pos
    before = text[:at].rstrip(" \t\r\n")
    if at < len(text) and text[at] in _ENDS and before.endswith(","):
        message = f"Illegal trailing comma before end of {_ENDS[text[at]]}"
        return message, len(before) - 1
    return error.msg, at
