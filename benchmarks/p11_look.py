"""P11: one look at a project for changes against `find` that prints the same times."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from pytest_reflex.integrity.project import ProjectTree

ROUNDS = 7
SIZES = (1_000, 10_000, 100_000)
_FILES_OF_ONE = 100


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the ratios of medians of interleaved looks, by the number of files."""
    return [_row(files, rounds) for files in SIZES]


def _row(files: int, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _fill(root, files)
        tree = ProjectTree(root).take()
        tree.changes()
        looks, finds = [], []
        for _ in range(rounds):
            finds.append(_find(root))
            looks.append(_look(tree))
    ratio = statistics.median(looks) / statistics.median(finds)
    what = f"a look at {files:,} files / find -printf %C@"
    return {"id": "P11", "what": what, "goal": 2.5, "ratio": ratio}


def _fill(root: Path, files: int) -> None:
    for number in range(files // _FILES_OF_ONE):
        folder = root / f"{number % 50}" / f"{number}"
        folder.mkdir(parents=True)
        for name in range(_FILES_OF_ONE):
            (folder / f"file_{name}.txt").write_text(f"{number} {name}\n")


def _look(tree: ProjectTree) -> float:
    started = time.perf_counter()
    assert tree.changes() == {}
    return time.perf_counter() - started


def _find(root: Path) -> float:
    started = time.perf_counter()
    command = ["find", str(root), "-type", "f", "-printf", "%C@"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started
