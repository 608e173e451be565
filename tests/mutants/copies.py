"""Copies of the project in which mutants run: the working tree is only read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from tests.mutants import core
from tests.mutants.core import CACHE, MODULES, ROOT

_PARTS = (
    "pytest_reflex", "tests", "criteria_templates", "examples", "docs", "benchmarks", "changelog.d",
    "pyproject.toml", "conftest.py", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Makefile",
    "readme.reflex.yaml",
)  # fmt: skip
_LEFT_OUT = {"__pycache__", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}


def renew(name: str) -> Path:
    """Return the copy of this name, as the working tree is now; what is the same stays there."""
    folder = CACHE / "copies" / name
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {path.relative_to(ROOT) for part in _PARTS for path in _files(ROOT / part)}
    for path in {path.relative_to(folder) for path in _files(folder)} - wanted:
        (folder / path).unlink()
    changed = {path for path in wanted if _differs(ROOT / path, folder / path)}
    for path in changed:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).unlink(missing_ok=True)
        shutil.copy2(ROOT / path, folder / path, follow_symlinks=False)
    _compile(folder, [path.as_posix() for path in sorted(changed)])
    return folder


def _files(place: Path) -> Iterator[Path]:
    if place.is_symlink() or not place.is_dir():
        yield from [place] if place.is_symlink() or place.exists() else []
        return
    for path in place.iterdir():
        if path.name not in _LEFT_OUT:
            yield from _files(path)


def _differs(one: Path, other: Path) -> bool:
    if not (other.is_symlink() or other.exists()):
        return True
    stamps = [path.lstat() for path in (one, other)]
    return len({(stamp.st_mode, stamp.st_size, stamp.st_mtime_ns) for stamp in stamps}) > 1


def _compile(folder: Path, changed: list[str]) -> None:
    """Write bytecode for all that is not mutated; nothing is written while mutants run."""
    environment = environment_of(folder) | {"PYTHONDONTWRITEBYTECODE": ""}
    known = {path.relative_to(ROOT).as_posix() for path in core.test_files()}
    tests = sorted(known.intersection(changed))
    compiled = [[sys.executable, "-m", "compileall", "-q", "pytest_reflex"]]
    if tests:  # pytest compiles them in its own way, when it collects them
        options = ["--collect-only", "-qq", "-p", "no:cacheprovider"]
        compiled.append([sys.executable, "-m", "pytest", *options, *tests])
    for command in compiled:
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    for module in MODULES:
        path = folder / module
        for old in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            old.unlink()


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment in which Python imports the package from a copy."""
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("COV")},
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def digest(paths: Iterable[Path]) -> str:
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
