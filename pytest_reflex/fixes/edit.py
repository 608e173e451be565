"""One change of a text, and values grown along a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_reflex.fixes.kind import FixError


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `new` in place of the characters from `start` to `end`."""

    start: int
    end: int
    new: str


def nested(steps: tuple[Any, ...], value: Any) -> Any:
    """Return `value` under new maps, one for each step."""
    for step in reversed(steps):
        if isinstance(step, int):
            raise FixError(f"set: there is no list to put item {step} into")
        value = [value] if step == "-" else {str(step): value}
    return value
