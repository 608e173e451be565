"""9.9: seeded faults of our own code, of which each must turn a test red.

Each mutation is applied to a copy in a folder of its own, never to the working tree.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.faults.figure import Figure, of_cases
from tests.faults.memory import memory_folder
from tests.faults.warm import ROOT

TABLE = Path(__file__).with_name("mutations.toml")
SAMPLE = 1
_COPIED = ("pytest_reflex", "tests", "criteria_templates", "examples", "docs")
_FILES = ("pyproject.toml", "conftest.py", "README.md", "ARCHITECTURE.md")
_PASSED, _FAILED = 0, 1  # exit statuses of pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One change of a file of the package, and the tests of which one has to fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def problem(self, package: Path) -> str:
        """Return why it cannot be applied to a package, empty where it can."""
        path = package / self.file
        if not path.is_file():
            return f"there is no {self.file}"
        count = path.read_text("utf-8").count(self.old) if self.old else 0
        if count != 1:
            return f"its old text stands {count} times in {self.file}"
        missing = [test for test in self.tests if not (ROOT / test.partition("::")[0]).is_file()]
        return f"there is no {missing[0]}" if missing or not self.tests else ""


def mutations() -> tuple[Mutation, ...]:
    rows = tomllib.loads(TABLE.read_text("utf-8"))["mutation"]
    return tuple(Mutation(**{**row, "tests": tuple(row["tests"])}) for row in rows)


def figure(full: bool) -> Figure:
    """Apply each mutation and run its tests; the unchanged copy has to pass all of them first."""
    chosen: Iterable[Mutation] = mutations()
    if not full:
        chosen = random.Random(1).sample(
            [m for m in mutations() if m.file == "verdict/score.py"], SAMPLE
        )
    with memory_folder() as folder:
        copy = _copied(folder / "checkout")
        tests = dict.fromkeys(test for mutation in chosen for test in mutation.tests)
        if full and (status := _run(copy, tests)) != _PASSED:
            why = f"pytest ended with {status}"
            return Figure(good=0, total=1, failures=(f"without any mutation: {why}",))
        return of_cases((mutation.name, _tried(copy, mutation)) for mutation in chosen)


def _copied(copy: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    copy.mkdir()
    for name in _COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in _FILES:
        shutil.copy(ROOT / name, copy / name)
    return copy


def _tried(copy: Path, mutation: Mutation) -> list[str]:
    """Return why a mutant is not killed: it cannot be made, or its tests see nothing."""
    if problem := mutation.problem(copy / "pytest_reflex"):
        return [problem]
    path = copy / "pytest_reflex" / mutation.file
    text = path.read_text("utf-8")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        status = _run(copy, mutation.tests)
    finally:
        path.write_text(text, encoding="utf-8")
    if status == _FAILED:
        return []
    return ["it survived" if status == _PASSED else f"pytest ended with {status}"]


def _run(copy: Path, tests: Iterable[str]) -> int:
    """Return the exit status of pytest over some tests of the copy."""
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    argv += ["-p", "no:randomly"]
    return subprocess.run(
        [*argv, *tests], cwd=copy, env=_environment(copy), capture_output=True, timeout=600
    ).returncode


def _environment(copy: Path) -> Mapping[str, str]:
    """Return an environment in which the copy is imported, and none of its bytecode is kept.

    A file that is changed twice in a second could be taken for the one before.
    """
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE_", "COV_", "PYTEST"))
    }
    return {**kept, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
