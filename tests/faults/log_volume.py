"""A check that writes a gigabyte: what is stored and shown of it is little, and it is said."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.figure import Figure, of_cases
from tests.faults.targets import criteria_of

_MOST = 2_000_000  # bytes
_VERBS = {
    "a loop": ["loop", "new", "a task", "--alias", "run", "--input", "draft.md", "--yes", "--json"],
    "evaluate": ["evaluate", "draft.md", "--json"],
}


def figure(full: bool) -> Figure:
    """Judge an artifact by such a check, once and in a loop of four iterations."""
    amount = 1_000_000_000 if full else 20_000_000
    most, found = 0, []
    for name, verb in [*_VERBS.items()][0 if full else 1 :]:
        with tempfile.TemporaryDirectory() as folder:
            stored, wrong = _stored(Path(folder), verb, amount)
        most = max(most, stored)
        found.append((name, wrong))
    return of_cases(found, note=f"{amount:,} bytes written by the check, {most:,} kept")


def _stored(folder: Path, verb: list[str], amount: int) -> tuple[int, list[str]]:
    command = f"yes 'this line is written again and again' | head -c {amount}; exit 1"
    (folder / "draft.md").write_text("some text\n")
    (folder / "words.yaml").write_text(json.dumps(criteria_of([command])))
    argv = [sys.executable, "-m", "pytest_reflex", *verb, "--criteria", "words.yaml"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, timeout=600)
    written = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    stored = max(written, len(done.stdout) + len(done.stderr))
    wrong = [] if stored < _MOST else [f"{stored:,} bytes are kept"]
    if b"output truncated" not in done.stdout:
        wrong.append(f"not reported, left with {done.returncode}: {done.stdout[-300:]!r}")
    return stored, wrong
