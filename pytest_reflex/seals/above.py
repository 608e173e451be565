"""What tools read that search upwards from a project: configuration in the folders above it.

pytest, mypy, ruff and git do; git also follows a `.git` that is a file to where it leads. Patterns
for `manifest.take`. Limit: of files that several tools share, what they say to pytest counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.seals.patterns import escaped
from pytest_reflex.seals.world import pytest_files

_OF_TOOLS = ("mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", ".gitignore", ".gitattributes")
_OF_GIT = ("config", "config.worktree", "hooks/*", "info/*")
_LONGEST = 4096


def files_above(project: Path) -> Iterator[str]:
    """Yield patterns of configuration that lies outside a project and is read for it."""
    base = Path(os.path.abspath(project))
    yield from pytest_files(base.parents)
    for folder in base.parents:
        above = escaped(folder)
        yield from (f"{above}/{name}" for name in (*_OF_TOOLS, ".git"))
        yield from (f"{above}/.git/{name}" for name in _OF_GIT)
    for folder in (base, *base.parents):
        for place in _repositories(folder):
            yield from (f"{escaped(place)}/{name}" for name in _OF_GIT)


def _repositories(folder: Path) -> Iterator[Path]:
    """Yield where the `.git` of a folder leads if it is a file: a working tree, a submodule."""
    if target := _text(folder / ".git").removeprefix("gitdir:").strip():
        place = Path(os.path.abspath(folder / target))
        yield place
        if common := _text(place / "commondir").strip():
            yield Path(os.path.abspath(place / common))


def _text(path: Path) -> str:
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_LONGEST))
    except OSError:
        return ""
