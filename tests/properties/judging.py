"""Verdicts of texts that follow one another at one place, in this process and in fresh ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pytest_reflex.checks.registry import Registry, built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import Target

Files = Mapping[str, bytes]
"""The files of one artifact by name; of one that is a file, that file."""

Verdict = Mapping[str, Any]
"""An evaluation as JSON, without durations."""

CRITERIA = Path(__file__).parent / "criteria"
ROOT = Path(__file__).parents[2]
STAMP = 1_700_000_000_123_456_789
_PURE = (
    *("pytest_reflex.search", "pytest_reflex.model"),
    "pytest_reflex.checks.structure.data.json_schema",
    *("pytest_reflex.criteria", "pytest_reflex.process", "pytest_reflex.settings"),
)
"""What is kept there is made of rules, never of an artifact; and it is dear to make."""


@cache
def criteria(name: str) -> Criteria:
    """Return the criteria of a file beside this module, or else of the stock template."""
    own = CRITERIA / f"{name}.yaml"
    return load_criteria(str(own) if own.exists() else name, registry=built_in_registry())


def fresh_registry() -> Registry:
    """Return the registry of a host that has judged nothing, in a process that keeps nothing."""
    for one in _kept(len(sys.modules)):
        one.cache_clear()
    return built_in_registry()


@cache
def _kept(modules: int) -> list[Any]:
    """Return the caches of our modules, of which there are so many, that may know an artifact."""
    return [
        value
        for name, module in sorted(sys.modules.items())
        if name.startswith("pytest_reflex.") and not name.startswith(_PURE)
        for value in vars(module).values()
        if isinstance(value, type(_kept)) and value.__module__ == name and not _is_of_a_tool(value)
    ]


def _is_of_a_tool(kept: Any) -> bool:
    """Return whether it is made once, of nothing: a validator, the detectors of secrets."""
    return kept.__name__ in ("_detectors", "_validator", "kind_of")


def write(folder: Path, files: Files, *, stamp: int = 0) -> Path:
    """Write an artifact in place of what is there; return its path. A `stamp` is its time."""
    place = folder / "artifact"
    is_folder = len(files) > 1
    if is_folder:
        shutil.rmtree(place, ignore_errors=True)
    for name, data in files.items():
        path = (place if is_folder else folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if stamp:
            os.utime(path, ns=(stamp, stamp))
    return place if is_folder else path


def verdict(name: str, artifact: Path, registry: Registry) -> Verdict:
    """Judge an artifact by criteria at level B."""
    root = artifact.parent
    target = Target(criteria=criteria(name), level=Level.B, artifact=artifact, root=root)
    found: Verdict = without_durations(evaluate(target, registry, workers=2).to_json())
    return found


def without_durations(wire: Any) -> Any:
    if isinstance(wire, dict):
        return {k: without_durations(v) for k, v in wire.items() if k != "duration"}
    return [without_durations(one) for one in wire] if isinstance(wire, list) else wire


def in_a_row(name: str, folder: Path, artifacts: Iterable[Files], stamp: int) -> list[Verdict]:
    """Return the verdicts of artifacts that take each other's place, by one host."""
    registry = fresh_registry()
    return [verdict(name, write(folder, one, stamp=stamp), registry) for one in artifacts]


def assert_same_side_by_side(name: str, artifacts: Sequence[Files], stamp: int) -> None:
    """Judge artifacts in threads, by one host, and then each by a host that has judged nothing."""
    with TemporaryDirectory() as there:
        folders = [Path(there) / str(number) for number in range(len(artifacts))]
        places = []
        for folder, files in zip(folders, artifacts, strict=True):
            folder.mkdir()
            places.append(write(folder, files, stamp=stamp))
        registry = fresh_registry()
        with ThreadPoolExecutor(len(places)) as pool:
            verdicts = list(pool.map(lambda artifact: verdict(name, artifact, registry), places))
        for folder, files, found in zip(folders, artifacts, verdicts, strict=True):
            assert alone(name, folder, files, stamp) == found


def alone(name: str, folder: Path, files: Files, stamp: int) -> Verdict:
    """Return the verdict of a host that has judged nothing, in a folder with nothing else."""
    empty(folder)
    return verdict(name, write(folder, files, stamp=stamp), fresh_registry())


def in_own_process(name: str, folder: Path, files: Files, stamp: int) -> Verdict:
    """Return the verdict of a process that does nothing else."""
    empty(folder)
    artifact = write(folder, files, stamp=stamp)
    argv = [sys.executable, "-m", "tests.properties.fresh", name, str(artifact)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    found: Verdict = json.loads(done.stdout)
    return found


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
