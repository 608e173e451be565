"""What is wrong inside a mapping of a findings check: the very key or value, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_reflex.checks.findings.json_report import FIELDS
from pytest_reflex.checks.findings.report import ALL, IGNORE
from pytest_reflex.checks.options import COUNT
from pytest_reflex.checks.reported.finding import LEVELS
from pytest_reflex.errors import Problem, did_you_mean, nearest_word, suggest
from pytest_reflex.model.plain import as_written, one_line


def slip_in(key: str, value: Any) -> Problem | None:
    """Return the first thing that is wrong in the mapping under a key; None where it is none."""
    if not isinstance(value, Mapping):
        return None
    if key == "max_findings":
        return _in_limits(value)
    if key in ("levels", "rules"):
        return _in_levels(key, value)
    return _in_fields(value) if key == "fields" else None


def _in_limits(limits: Mapping[str, Any]) -> Problem | None:
    for level, most in limits.items():
        if level not in (*LEVELS, ALL):
            return _unknown("max_findings", level, "level", (*LEVELS, ALL))
        if not COUNT.fits(most):
            message = f"max_findings.{level} must be {COUNT.words}, not {_shown(most)}"
            return Problem(message=message, path=("max_findings", level), given=_shown(most))
    return None


def _in_levels(key: str, levels: Mapping[str, Any]) -> Problem | None:
    known = (*LEVELS, IGNORE)
    for name, level in levels.items():
        if level not in known:
            message = f"{key}.{name} must be one of {', '.join(known)}, not {_shown(level)}"
            hint = suggest(nearest_word(level, known)) if isinstance(level, str) else ""
            return Problem(message=message, hint=hint, path=(key, name), given=_shown(level))
    return None


def _in_fields(fields: Mapping[str, Any]) -> Problem | None:
    for name, path in fields.items():
        if name not in FIELDS:
            return _unknown("fields", name, "field", FIELDS)
        if not isinstance(path, str) or not path:
            message = f"fields.{name} must be a path, not {_shown(path)}"
            return Problem(message=message, path=("fields", name), given=_shown(path))
    if "message" in fields:
        return None
    message = "fields: there is no message"
    return Problem(message=message, hint="message: ...", path=("fields",))


def _unknown(key: str, word: Any, what: str, known: Iterable[str]) -> Problem:
    message = f"{key}: {one_line(repr(word), 60)} is not a {what}"
    return Problem(message=message, hint=did_you_mean(word, known), path=(key, word), of_key=True)


def _shown(value: Any) -> str:
    return one_line(as_written(value), 60)
