"""The procedures that come with the package: one TOML file each, beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.iterate.model import Fragment, Phase

_FOLDER = Path(__file__).parent
_ORIGIN = "built-in"


@lru_cache(maxsize=1)
def built_in_names() -> tuple[str, ...]:
    """Return the names of all built-in procedures, in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@lru_cache(maxsize=32)
def load_builtin(name: str) -> Mapping[str, Any]:
    """Return the fields of a procedure by key, its phases as fragments with absolute paths."""
    table = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    phases = {phase.value: tuple(_fragment(one) for one in table[phase.value]) for phase in Phase}
    return {**table, **phases}


def _fragment(table: Mapping[str, Any]) -> Fragment:
    path = str(_FOLDER / table["path"]) if "path" in table else None
    return Fragment(
        content=table.get("content"),
        path=path,
        parameters=table.get("parameters", {}),
        origin=_ORIGIN,
    )
