"""Copies of the project in which mutants run: the working tree is only read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from tests.mutants.core import CACHE, MODULES, ROOT, TESTS

_PARTS = (
    "pytest_reflex", "tests", "criteria_templates", "examples", "docs", "benchmarks", "changelog.d",
    "pyproject.toml", "conftest.py", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Makefile",
    "readme.reflex.yaml",
)  # fmt: skip
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*_cache", ".hypothesis", "results")


def renew(name: str) -> Path:
    """Return the copy of this name, as the working tree is now."""
    folder = CACHE / "copies" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for part in _PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=_LEFT_OUT, symlinks=True)
        elif (ROOT / part).exists():
            shutil.copy2(ROOT / part, folder / part)
    _compile(folder)
    return folder


def _compile(folder: Path) -> None:
    """Write bytecode for all that is not mutated; nothing is written while mutants run."""
    environment = environment_of(folder) | {"PYTHONDONTWRITEBYTECODE": ""}
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider"]
    subprocess.run(
        [*collect, *TESTS], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True
    )
    for module in MODULES:
        path = folder / module
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment in which Python imports the package from a copy."""
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("COV")},
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def digest(paths: Iterator[Path] | list[Path]) -> str:
    """Return a digest of the content of files, by their names inside the project."""
    total = sha256()
    for path in sorted(paths):
        total.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()


@contextmanager
def only_one() -> Iterator[None]:
    """Hold the cache for this process alone."""
    import fcntl

    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"mutants are already being tried with {CACHE}") from None
        yield
