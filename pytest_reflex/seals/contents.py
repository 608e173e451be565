"""What a file says to pytest: the part of its bytes that a seal holds.

A pyproject.toml changes for many reasons; only its tables for pytest and for its plugins bear on a
verdict. The same goes for setup.cfg and tox.ini, and for the entry points of a distribution.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any


def sealed_part(path: str, data: bytes) -> bytes | None:
    """Return the bytes of a file that count, None where it says nothing that does.

    Where the file cannot be read as what it should be, all of it counts.
    """
    reader = _READERS.get(PurePath(path).name)
    if reader is None:
        return data
    try:
        found = reader(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # no UTF-8, or not of that format
        return data
    return json.dumps(found, sort_keys=True, default=str).encode() if found else None


def _pyproject(text: str) -> Mapping[str, Any]:
    import tomllib

    tools = tomllib.loads(text).get("tool", {})
    if not isinstance(tools, dict):
        return {}
    return {name: table for name, table in tools.items() if name == "pytest"}


def _sections(*wanted: str) -> Callable[[str], Mapping[str, Any]]:
    def read(text: str) -> Mapping[str, Any]:
        from configparser import Error, RawConfigParser

        parser = RawConfigParser(strict=False, delimiters=("=", ":"), allow_no_value=True)
        try:
            parser.read_string(text)
        except Error as error:
            raise ValueError(str(error)) from None
        return {name: dict(parser[name]) for name in wanted if parser.has_section(name)}

    return read


_READERS: Mapping[str, Callable[[str], Mapping[str, Any]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _sections("tool:pytest"),
    "tox.ini": _sections("pytest", "tool:pytest"),
    "entry_points.txt": _sections("pytest11"),
}
