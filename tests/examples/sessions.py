"""Run the examples in a copy, away from the configuration of this project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WITH_A_GATE = ("guide", "api", "marked", "linters")

# What these tests do not look at costs seconds to load.
_QUICK = tuple(f"-pno:{name}" for name in ("hypothesispytest", "pytest_cov", "anyio"))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit status and everything it printed."""

    status: int
    output: str


def copy_examples(folder: Path) -> Path:
    """Copy the examples that have a gate; return the folder that holds them."""
    for name in WITH_A_GATE:
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache")
        shutil.copytree(EXAMPLES / name, folder / name, ignore=ignored)
    return folder


def run_pytest(folder: Path, *arguments: str) -> Ended:
    """Run pytest in a process of its own."""
    command = [sys.executable, "-m", "pytest", *_QUICK, *arguments]
    dropped = ("PYTEST_", "CI", "PYTHONPATH")
    env = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    # As in an environment that was activated: the examples call tools by name.
    env["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), env.get("PATH", "")))
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    return Ended(done.returncode, done.stdout + done.stderr)


def pytest_json(folder: Path, *arguments: str) -> dict[str, Any]:
    """Return the document that ``pytest --reflex-json`` writes."""
    path = folder / "report.json"
    run_pytest(folder, f"--reflex-json={path}", *arguments)
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def timeless(document: Any) -> Any:
    """Return a document without its durations."""
    if isinstance(document, dict):
        return {key: timeless(value) for key, value in document.items() if key != "duration"}
    return [timeless(item) for item in document] if isinstance(document, list) else document
