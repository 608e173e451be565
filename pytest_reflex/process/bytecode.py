"""Byte code: of modules that this process has loaded, and what lies beside a text that changed.

What is loaded is for a folder that PYTHONPYCACHEPREFIX names.

A process with such a prefix reads no byte code that lies about elsewhere, and would compile
everything that it imports. What is taken here at the start, and kept in memory, saves that; the
code of plugins, too, whose assertions pytest has rewritten.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path


def loaded_sources() -> set[str]:
    """Return the paths of the sources of all modules that this process has loaded."""
    found = (getattr(module, "__file__", None) for module in tuple(sys.modules.values()))
    return {path for path in found if isinstance(path, str) and path.endswith(".py")}


def bytecode_of(sources: Iterable[str], project: Path) -> dict[str, bytes]:
    """Return the byte code of modules that lies beside their sources, without the project's own.

    Packages that are installed below the project are none of its own.
    """
    base = os.path.realpath(project) + os.sep
    installed = tuple(os.path.realpath(one) + os.sep for one in site.getsitepackages())
    found: dict[str, bytes] = {}
    folders = _Folders()
    for source in sources:
        real = folders.realpath(source)
        if real.startswith(base) and not real.startswith(installed):
            continue
        folder = os.path.dirname(os.path.abspath(source))
        with suppress(OSError, NotImplementedError):
            for path in folders.bytecode_paths(cache_from_source(source)):
                with open(path, "rb") as file:
                    found[os.path.join(folder, os.path.basename(path))] = file.read()
    return found


class _Folders:
    """What is asked of folders for each of their modules, found out once for each folder."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}
        self._names: dict[str, dict[str, list[str]]] = {}

    def realpath(self, path: str) -> str:
        """Return what `os.path.realpath` does."""
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return os.path.join(self._real[folder], name)

    def bytecode_paths(self, path: str) -> list[str]:
        """Return the path of a module's byte code, and that of what pytest made of it, if any."""
        folder, name = os.path.split(path)
        if folder not in self._names:
            names = self._names[folder] = {}
            for found in os.listdir(folder):
                stem, _, tail = found.rpartition(".")
                if tail == "pyc":
                    names.setdefault(stem.partition("-pytest-")[0], []).append(found)
        known = self._names[folder].get(name.removesuffix(".pyc"), ())
        return [os.path.join(folder, found) for found in known]


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


def remove_stale(sources: Iterable[Path]) -> None:
    """Remove byte code that is no younger than its source: it was made of an earlier text.

    Python itself compares size and second only, and would run it in place of a text that was
    written within one second. What cannot be removed is left.
    """
    for source in sources:
        with suppress(OSError, NotImplementedError):
            changed = os.stat(source).st_ctime_ns
            folder = os.path.dirname(cache_from_source(os.fspath(source)))
            for entry in os.scandir(folder):
                is_its = entry.name.startswith(f"{source.stem}.") and entry.name.endswith(".pyc")
                if is_its and entry.stat().st_ctime_ns <= changed:
                    os.unlink(entry)
