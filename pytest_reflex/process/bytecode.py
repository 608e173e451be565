"""Byte code of modules that this process has loaded, for a folder that PYTHONPYCACHEPREFIX names.

A process with such a prefix reads no byte code that lies about elsewhere, and would compile
everything that it imports. What is taken here at the start, and kept in memory, saves that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path


def loaded_bytecode(project: Path) -> dict[str, bytes]:
    """Return the byte code of all loaded modules outside the project, by path."""
    base = os.path.realpath(project) + os.sep
    found = {}
    for module in tuple(sys.modules.values()):
        source = getattr(module, "__file__", None)
        if not isinstance(source, str) or not source.endswith(".py"):
            continue
        if os.path.realpath(source).startswith(base):
            continue
        with suppress(OSError, NotImplementedError):
            name = os.path.basename(cache_from_source(source))
            with open(cache_from_source(source), "rb") as file:
                found[os.path.join(os.path.dirname(os.path.abspath(source)), name)] = file.read()
    return found


def write_bytecode(prefix: Path, found: Mapping[str, bytes]) -> None:
    """Write byte code to where Python looks for it below a prefix."""
    made: set[str] = set()
    for path, data in found.items():
        target = f"{prefix}{path}"
        folder = os.path.dirname(target)
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        with open(target, "wb") as file:
            file.write(data)
