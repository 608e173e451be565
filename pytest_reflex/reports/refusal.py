"""Why an answer was refused, and how it begins: what a person needs to see what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.model.plain import one_line

_START = 2_000


def refusal(message: str, answer: str) -> str:
    """Return a message with the first line of the refused answer, if there is one to show."""
    lines = (line.strip() for line in answer[:_START].splitlines())
    first = next((line for line in lines if line), "")
    if not first or first in message:
        return message
    return f"{message}; it said: {one_line(first)}"


def refusal_of(payload: Mapping[str, Any]) -> str:
    """Return the same of the payload of a phase_error."""
    return refusal(str(payload["message"]), str(payload.get("answer", "")))
