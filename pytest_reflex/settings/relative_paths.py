"""Relative paths in a person's own configuration file: they start in the folder of that file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Relocate = Callable[[Any, Path], Any]


def of_prompts(value: Any, folder: Path) -> Any:
    """Return a table of steps whose files are those of a folder."""
    return _each(value, lambda name: _placed(name, folder))


def of_procedures(value: Any, folder: Path) -> Any:
    """Return procedures whose fragments are files of a folder."""
    return _each(value, lambda table: _each(table, lambda field: _fragments(field, folder)))


def of_gates(value: Any, folder: Path) -> Any:
    """Return gates whose criteria are files of a folder, where there are such files.

    Criteria may be a name, too. What is judged lies in the project, wherever the gate was declared.
    """

    def placed(table: Any) -> Any:
        name = table.get("criteria") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name or "\0" in name or not (folder / name).is_file():
            return table
        return {**table, "criteria": str(folder / name)}

    return _each(value, placed)


def _fragments(value: Any, folder: Path) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {**one, "path": _placed(one["path"], folder)}
        if isinstance(one, dict) and "path" in one
        else one
        for one in value
    ]


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a table with its values changed; what is not a table is left to those who check it."""
    if not isinstance(value, dict):
        return value
    return {name: change(inner) for name, inner in value.items()}


def _placed(name: Any, folder: Path) -> Any:
    return str(folder / name) if isinstance(name, str) and name else name
