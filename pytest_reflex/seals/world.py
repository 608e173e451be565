"""Where code and options enter a Python test run from outside: pytest's files, the interpreter's.

These are patterns for `manifest.take`. Limits: they are those of the interpreter that runs this
program; a command may start another one.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pytest_reflex.seals.patterns import all_escaped

CONFIGURATIONS = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
"""Files in which pytest looks for its options."""

_CUSTOM = (
    "sitecustomize.py",
    "usercustomize.py",
    "sitecustomize/__init__.py",
    "usercustomize/__init__.py",
)
_SITE = ("*.pth", "*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")


def pytest_files(folders: Iterable[Path]) -> list[str]:
    """Return patterns of what a pytest session in one of the folders would read or import."""
    bases = all_escaped(folders)
    return [f"{base}/{name}" for base in bases for name in ("conftest.py", *CONFIGURATIONS)]


def configured_options(project: Path) -> Iterator[str]:
    """Yield the texts in which a project configures pytest, as far as they can be read."""
    for name in CONFIGURATIONS:
        with suppress(OSError, ValueError):
            yield (project / name).read_text(encoding="utf-8")


def interpreter_files() -> list[str]:
    """Return patterns of what every start of this interpreter runs, and of its pytest plugins."""
    user = site.getusersitepackages()
    sites = [*site.getsitepackages(), *([user] if user else [])]
    entries = [os.path.abspath(one) for one in dict.fromkeys(filter(os.path.isdir, sys.path))]
    *bases, prefix = all_escaped([*sites, *entries, sys.prefix])
    found = [f"{base}/{name}" for base in bases[: len(sites)] for name in _SITE]
    found += [f"{base}/{name}" for base in bases[len(sites) :] for name in _CUSTOM]
    return [*found, f"{prefix}/pyvenv.cfg"]


def up_to(project: Path, path: Path) -> Iterator[Path]:
    """Yield the folder that a path is in and those above it, up to the project's.

    Outside the project only the folder itself.
    """
    base = Path(os.path.abspath(project))
    folder = Path(os.path.abspath(path)).parent
    yield folder
    while folder != base and folder.is_relative_to(base):
        folder = folder.parent
        yield folder
