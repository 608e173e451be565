"""What a gate relies on: its command, what pytest and Python read at their start, and `protect`.

Limits: code under test is not held, however it is run; a gate that runs another interpreter than
those its command names has that one's start-up files unheld.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_reflex.drivers.common.gate_commands import CommandFiles
from pytest_reflex.drivers.common.protection import (
    MODULE_SUFFIXES,
    ReliedFiles,
    Sections,
    within,
)
from pytest_reflex.drivers.common.shell_words import contents
from pytest_reflex.integrity.patterns import escape_path, is_meant
from pytest_reflex.integrity.tool_inputs import interpreter_files

PYTEST_READS: Mapping[str, Sections] = {
    "conftest.py": (),
    "pytest.toml": (),
    ".pytest.toml": (),
    "pytest.ini": (),
    ".pytest.ini": (),
    "pyproject.toml": ("tool.pytest",),
    "setup.cfg": ("tool:pytest",),
    "tox.ini": ("pytest", "tool:pytest"),
}
# Folders that hold packages of projects, not of Python: some distributions install such by mistake.
_PROJECT_NAMES = frozenset(
    {"test", "tests", "docs", "doc", "examples", "example", "scripts", "benchmarks", "tools", "src"}
)
_ENTRY_POINTS: Sections = ("pytest11",)
_SITE = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages")
_CUSTOM = ("sitecustomize.py", "usercustomize.py", "sitecustomize/__init__.py")
# Distributions, whose plugins pytest loads wherever Python finds them.
_PLUGINS = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")


def find_relied_files(
    protect: Iterable[str],
    commands: Sequence[str | Sequence[str]],
    *,
    project: Path,
    environment: Mapping[str, str],
    files: Iterable[Path] = (),
    judged: Iterable[str] = (),
) -> ReliedFiles:
    """Return what a gate relies on that runs some commands and reads some files.

    What `judged` patterns mean is what the gate judges: a command may name it. So it may name what
    it writes. What the patterns of `protect` find is held in any case.
    """
    protected = {pattern: () for one in protect for pattern in within(one)}
    held: dict[str, Sections] = {os.path.abspath(path): () for path in files}
    if not commands:
        return ReliedFiles(files=held, patterns=protected)
    found = CommandFiles(project, environment)
    for command in commands:
        found.add(command)
    for module in _pytest_plugins(project, environment):
        found.module(module)
    base, patterns = os.path.abspath(project), tuple(judged)

    def may_change(path: str) -> bool:
        return path in found.written or is_meant(os.path.relpath(path, base), patterns)

    held |= {path: () for path in found.named if not may_change(path)}
    for path, sections in found.files.items():
        held[path] = () if path in held else sections
    for folder in Path(base).parents:
        for name, sections in PYTEST_READS.items():
            if name != "conftest.py":
                held.setdefault(str(folder / name), sections)
    return ReliedFiles(
        files=held,
        programs=frozenset(path for path in found.programs if not may_change(path)),
        patterns={
            **dict(_start_up_files(found)),
            **dict.fromkeys(found.patterns, ()),
            **protected,
        },
        named=_files_anywhere(found.anywhere),
        module_folders=frozenset(found.module_folders),
        module_names=_module_names(found),
    )


def _files_anywhere(more: Mapping[str, Sections]) -> dict[str, Sections]:
    """Return the files that count wherever they lie in the project, each with its sections."""
    named = dict(PYTEST_READS)
    for name, sections in more.items():
        held = named.get(name, sections)
        named[name] = tuple(dict.fromkeys((*held, *sections))) if held and sections else ()
    return named


def _pytest_plugins(project: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the modules that a project names as plugins of pytest."""
    yield from filter(None, environment.get("PYTEST_PLUGINS", "").split(","))
    options = [environment.get("PYTEST_ADDOPTS", "")]
    options += [contents(str(project / name)) for name in PYTEST_READS if name != "conftest.py"]
    for text in options:
        yield from re.findall(r"(?<![\w-])-p[\s\"',=]*(?!no:)([A-Za-z_][\w.]*)", text)
    for folder in ("", "tests", "test"):
        text = contents(str(project / folder / "conftest.py"))
        for value in re.findall(r"^pytest_plugins\b[^=\n]*=\s*([\[(][^\])]*|[^\n]*)", text, re.M):
            yield from re.findall(r"[\"']([\w.]+)[\"']", value)


def _start_up_files(found: CommandFiles) -> Iterator[tuple[str, Sections]]:
    """Yield patterns of what Python runs at its start, and of the plugins that pytest finds."""
    for pattern in interpreter_files():
        yield pattern, _ENTRY_POINTS if pattern.endswith("entry_points.txt") else ()
    folders = [escape_path(folder) for folder in found.module_folders]
    for prefix in _prefixes(found.pythons):
        yield f"{escape_path(prefix)}/pyvenv.cfg", ()
        folders += [f"{escape_path(prefix)}/{site}" for site in _SITE]
    folders.append(f"{escape_path(os.path.expanduser('~'))}/.local/{_SITE[0]}")
    for folder in folders:
        yield from ((f"{folder}/{name}", ()) for name in (*_CUSTOM, "*.pth"))
        yield from ((f"{folder}/{name}", _ENTRY_POINTS) for name in _PLUGINS)


def _prefixes(pythons: Iterable[str]) -> Iterator[str]:
    """Yield the folders of interpreters: of an environment, and of the one that it was made from.

    Our own is known by other ways.
    """
    own = {os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
    for path in (*pythons, *map(os.path.realpath, pythons)):
        prefix = os.path.dirname(os.path.dirname(path))
        if os.path.realpath(prefix) not in own:
            own.add(os.path.realpath(prefix))
            yield prefix


def _module_names(found: CommandFiles) -> frozenset[str]:
    """Return the names of modules that something of the same name would come before."""
    return frozenset((sys.stdlib_module_names | set(_installed_modules(found))) - _PROJECT_NAMES)


def _installed_modules(found: CommandFiles) -> Iterator[str]:
    """Yield the names of the modules that are installed for the interpreters of a command."""
    sites = [entry for entry in sys.path if os.path.basename(entry).endswith("-packages")]
    for prefix in _prefixes(found.pythons):
        sites += [str(path) for site in _SITE for path in Path(prefix).glob(site)]
    for site in sites:
        for name in _names(site):
            stem, _, rest = name.partition(".")
            if stem.isidentifier() and (not rest or name.endswith(MODULE_SUFFIXES)):
                yield stem


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
