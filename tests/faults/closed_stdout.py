"""A standard output that nobody reads, is closed, or full: the verdict and its status are kept."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.figure import Figure, of_cases

_CRITERIA = """\
name: text
rules:
  - {id: a.x.any, description: d, severity: fail, check: {type: content, search: "^some"}}
"""
# The status of the command line is what it wrote to `status`: a pipe would hide it.
REDIRECTS = {
    "| head -c 1": '{ "$@"; echo $? > status; } | head -c 1 >/dev/null',
    "a reader that has gone": '{ sleep 0.2; "$@"; echo $? > status; } | true',
    "closed": '"$@" >&-; echo $? > status',
    "a full device": '"$@" >/dev/full; echo $? > status',
}
_NEW = ["loop", "new", "a task", "--alias", "run", "--input", "draft.md", "--evaluator", "core"]
# A draft, and the status of its verdict.
_DRAFTS = {"some text\n": 0, "other text\n": 1}
_NOT_WRITTEN = 12


def figure(full: bool) -> Figure:
    """Drive a loop, judge an artifact, and print it, with each: the verdicts keep their status."""
    names = [*REDIRECTS][: 4 if full else 1]
    with tempfile.TemporaryDirectory() as folder:
        return of_cases(
            (f"{name}, verdict {status}", _played(Path(folder) / f"{number}-{status}", name, draft))
            for number, name in enumerate(names)
            for draft, status in _DRAFTS.items()
        )


def _played(folder: Path, name: str, draft: str) -> list[str]:
    folder.mkdir()
    (folder / "text.yaml").write_text(_CRITERIA)
    # More than a pipe holds, so that whoever writes it notices.
    (folder / "draft.md").write_text(draft * 10_000)
    passed = _DRAFTS[draft] == 0
    judged = ("--criteria", "text.yaml")
    wrong = _told(
        folder, name, [*_NEW, "--max-iterations", "1", "--yes", *judged], 0 if passed else 6
    )
    wrong += _told(folder, name, ["evaluate", "draft.md", *judged], _DRAFTS[draft])
    wrong += _told(folder, name, ["loop", "show", "run"], _NOT_WRITTEN)
    state = json.loads((folder / ".ai-factory/evolution/run/run.json").read_text("utf-8"))
    ended = ("completed", True) if passed else ("stopped", False)
    if (state["status"], state["evaluation"]["passed"]) != ended:
        wrong.append(f"the verdict is not kept: {state['status']}")
    return wrong


def _told(folder: Path, name: str, verb: list[str], wanted: int) -> list[str]:
    argv = [sys.executable, "-m", "pytest_reflex", *verb]
    done = subprocess.run(
        ["sh", "-c", REDIRECTS[name], "sh", *argv], cwd=folder, capture_output=True, timeout=60
    )
    status = int((folder / "status").read_text())
    wrong = [] if status == wanted else [f"{verb[0]} left with {status}, not {wanted}"]
    return wrong + ([f"{verb[0]}: {done.stderr[-200:]!r}"] if b"Traceback" in done.stderr else [])
