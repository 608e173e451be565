"""What is wrong inside a mapping of a findings check: the very key or value, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_reflex.checks.options import COUNT
from pytest_reflex.checks.reported.counting import ALL, IGNORE
from pytest_reflex.checks.reported.finding import LEVELS
from pytest_reflex.checks.reported.json_report import FIELDS
from pytest_reflex.errors import did_you_mean
from pytest_reflex.model.plain import as_written, one_line

Slip = tuple[str, str]
"""A message, and a hint or nothing."""


def slip_in(key: str, value: Any) -> Slip | None:
    """Return the first thing that is wrong in the mapping under a key; None where it is none."""
    if not isinstance(value, Mapping):
        return None
    if key == "max_findings":
        return _in_limits(value)
    if key in ("levels", "rules"):
        return _in_levels(key, value)
    return _in_fields(value) if key == "fields" else None


def _in_limits(limits: Mapping[str, Any]) -> Slip | None:
    for level, most in limits.items():
        if level not in (*LEVELS, ALL):
            return _unknown("max_findings", level, "level", (*LEVELS, ALL))
        if not COUNT.fits(most):
            return f"max_findings.{level} must be {COUNT.words}, not {_shown(most)}", ""
    return None


def _in_levels(key: str, levels: Mapping[str, Any]) -> Slip | None:
    known = (*LEVELS, IGNORE)
    for name, level in levels.items():
        if level not in known:
            message = f"{key}.{name} must be one of {', '.join(known)}, not {_shown(level)}"
            hint = did_you_mean(level, known) if isinstance(level, str) else ""
            return message, hint if hint.startswith("did") else ""
    return None


def _in_fields(fields: Mapping[str, Any]) -> Slip | None:
    for name, path in fields.items():
        if name not in FIELDS:
            return _unknown("fields", name, "field", FIELDS)
        if not isinstance(path, str) or not path:
            return f"fields.{name} must be a path, not {_shown(path)}", ""
    return None if "message" in fields else ("fields: there is no message", "message: ...")


def _unknown(key: str, word: Any, what: str, known: Iterable[str]) -> Slip:
    return f"{key}: {one_line(repr(word), 60)} is no {what}", did_you_mean(word, known)


def _shown(value: Any) -> str:
    return one_line(as_written(value), 60)
