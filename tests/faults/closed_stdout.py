"""A standard output that nobody reads, is closed, or full: the verdict is kept, and told by 12."""

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
  - {id: a.x.any, description: d, severity: fail, check: {type: content, search: "."}}
"""
# The status of the command line is what it wrote to `status`: a pipe would hide it.
REDIRECTS = {
    "| head -c 1": '{ "$@"; echo $? > status; } | head -c 1 >/dev/null',
    "a reader that has gone": '{ sleep 0.2; "$@"; echo $? > status; } | true',
    "closed": '"$@" >&-; echo $? > status',
    "a full device": '"$@" >/dev/full; echo $? > status',
}
_NEW = ["loop", "new", "a task", "--alias", "run", "--input", "draft.md", "--evaluator", "core"]
_NOT_TOLD = 12


def figure(full: bool) -> Figure:
    """Drive a loop, and judge an artifact, with each: nobody may take it for a success."""
    names = [*REDIRECTS][: 4 if full else 1]
    with tempfile.TemporaryDirectory() as folder:
        return of_cases([(name, _played(Path(folder) / str(len(name)), name)) for name in names])


def _played(folder: Path, name: str) -> list[str]:
    folder.mkdir()
    (folder / "text.yaml").write_text(_CRITERIA)
    # More than a pipe holds, so that whoever writes it notices.
    (folder / "draft.md").write_text("some text\n" * 10_000)
    wrong = _told(folder, name, [*_NEW, "--yes"])
    if "head" not in name:  # what it has to say fits into a pipe
        wrong += _told(folder, name, ["evaluate", "draft.md"])
    state = json.loads((folder / ".ai-factory/evolution/run/run.json").read_text("utf-8"))
    if (state["status"], state["evaluation"]["passed"]) != ("completed", True):
        wrong.append(f"the verdict is not kept: {state['status']}")
    return wrong


def _told(folder: Path, name: str, verb: list[str]) -> list[str]:
    argv = [sys.executable, "-m", "pytest_reflex", *verb, "--criteria", "text.yaml"]
    done = subprocess.run(
        ["sh", "-c", REDIRECTS[name], "sh", *argv], cwd=folder, capture_output=True, timeout=60
    )
    status = int((folder / "status").read_text())
    wrong = [] if status == _NOT_TOLD else [f"{verb[0]} left with {status}"]
    return wrong + ([f"{verb[0]}: {done.stderr[-200:]!r}"] if b"Traceback" in done.stderr else [])
