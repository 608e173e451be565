"""What the tables of procedures and gates must be; whether their files are there is asked later."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_reflex.errors import did_you_mean
from pytest_reflex.settings.readers import (
    MisreadError,
    flag,
    names,
    one_of,
    positive,
    tables,
    text,
    whole,
)

PHASES = ("observe", "orient", "decide", "act")
NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")

KINDS_OF_GATE = ("command", "criteria", "diff")
DIFF_KEYS = ("max_files", "max_lines", "deny")

_KINDS = ("content", "path", "built_in")
_FRAGMENT_KEYS = (*_KINDS, "parameters")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def procedures(value: Any) -> dict[str, Any]:
    """Read procedures by name, each with some of the `PROCEDURE_KEYS`."""
    return _tables(value, _PROCEDURE)


def gates(value: Any) -> dict[str, Any]:
    """Read gates by name, each with some of the `GATE_KEYS`.

    A gate that limits changes may not have other keys: a limit with a misspelled name is none.
    """
    for name, table in tables(value).items():
        if table.get("kind") == "diff" or (
            table.keys() & DIFF_KEYS and not table.keys() & {"kind", "command", "criteria"}
        ):
            _check_keys(name, table)
    return _tables(value, _GATE)


def _check_keys(name: str, table: Mapping[str, Any]) -> None:
    keys = ("kind", *DIFF_KEYS, "protect", "required")
    for key, value in table.items():
        if key not in keys:
            expected = f"a key of a gate of kind diff ({did_you_mean(key, keys)})"
            raise MisreadError((name, key), value, expected)


def _tables(value: Any, readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Read tables by name; keys without a reader are dropped: they were warned of."""
    found = {}
    for name, table in tables(value).items():
        if not NAME.fullmatch(name):
            raise MisreadError(
                (name,), table, "a name of lower-case letters, digits, hyphens and underscores"
            )
        found[name] = {
            key: _field(name, key, readers[key], given)
            for key, given in table.items()
            if key in readers
        }
    return found


def _field(name: str, key: str, read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except MisreadError as error:
        raise MisreadError((name, key, *error.path), error.value, str(error)) from None
    except ValueError as error:
        raise MisreadError((name, key), value, str(error)) from None


def _fragments(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value:
        raise ValueError("a list of fragments, each with content, path or built_in")
    for number, one in enumerate(value):
        try:
            _check_fragment(one)
        except ValueError as error:
            raise MisreadError((number,), one, str(error)) from None
    return value


def _check_fragment(value: Any) -> None:
    if not isinstance(value, dict) or len(kinds := [one for one in _KINDS if one in value]) != 1:
        raise ValueError("a table with one of content, path and built_in")
    for key in value:
        if key not in _FRAGMENT_KEYS:
            raise ValueError(f"the keys {', '.join(_FRAGMENT_KEYS)}, not {key!r}")
    text(value[kinds[0]])
    if kinds == ["built_in"] and "parameters" in value:
        raise ValueError("no parameters for what is built in")
    parameters = value.get("parameters", {})
    if not isinstance(parameters, dict):
        raise ValueError("a table of parameters")
    for name, given in parameters.items():
        if not _PARAMETER.fullmatch(name):
            raise ValueError(f"parameters named like {'{name}'}, not {name!r}")
        if not isinstance(given, str) or "\0" in given:
            raise ValueError(f"text for the parameter {name!r}")


def _command(value: Any) -> str | list[str]:
    """Read text for a shell, or an argv."""
    if isinstance(value, list):
        if not value or not all(isinstance(one, str) and "\0" not in one for one in value):
            raise ValueError("text for a shell, or a list of texts")
        return value
    return text(value)


def _patterns(value: Any) -> tuple[str, ...]:
    """Read a list of patterns of paths."""
    if not isinstance(value, list) or not value:
        raise ValueError('a list of patterns, as in ["tests/**"]')
    if not all(isinstance(one, str) and one.strip() and "\0" not in one for one in value):
        raise ValueError('a list of patterns, as in ["tests/**"]')
    return tuple(value)


def _pattern(value: Any) -> str:
    """Read a regular expression."""
    try:
        re.compile(text(value))
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    return str(value)


def _seconds(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value < 1e7:
        raise ValueError("a number of seconds above 0")
    return float(value)


def _share(value: Any) -> str:
    """Read a threshold from 0 to 1; it is kept as its text, to be exact."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return str(value)


_PROCEDURE: Mapping[str, Callable[[Any], Any]] = {
    "description": text,
    **dict.fromkeys(PHASES, _fragments),
    "max_iterations": whole,
    "failure_threshold": positive,
    "agent": text,
    "gates": names,
    "success": flag,
    "failure": flag,
    "progress": flag,
}
_GATE: Mapping[str, Callable[[Any], Any]] = {
    "command": _command,
    "criteria": text,
    "artifacts": names,
    "phase": one_of("A", "B"),
    "threshold": _share,
    "timeout": _seconds,
    "required": flag,
    "kind": one_of(*KINDS_OF_GATE),
    "protect": _patterns,
    "max_files": whole,
    "max_lines": whole,
    "deny": _patterns,
    "progress": flag,
    "failures": _pattern,
}
PROCEDURE_KEYS = tuple(_PROCEDURE)
GATE_KEYS = tuple(_GATE)
