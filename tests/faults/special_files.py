"""Artifacts that are not files: each is refused at once, by name, and nothing waits for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.faults.figure import Figure, of_cases

_CRITERIA = """\
name: text
rules:
  - {id: a.x.any, description: d, severity: fail, check: {type: content, search: "."}}
"""


def _socket(path: Path) -> None:
    # A path of a socket has 100 characters at most: bound by a short one, from within the folder.
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a named pipe": os.mkfifo,
    "a socket": _socket,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "an empty device": lambda path: path.symlink_to("/dev/null"),
    "a terminal": lambda path: path.symlink_to("/dev/tty"),
    "a pipe in /proc": lambda path: path.symlink_to("/proc/self/fd/0"),
}


def figure(full: bool) -> Figure:
    """Judge each with `evaluate`, and start a loop from it: nothing takes longer than a start."""
    kinds = [*SPECIAL][: None if full else 1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.yaml").write_text(_CRITERIA)
        return of_cases([(kind, _refused(folder, kind)) for kind in kinds])


def _refused(folder: Path, kind: str) -> list[str]:
    path = folder / f"{kind.replace(' ', '-').replace('/', '')}.md"
    SPECIAL[kind](path)
    judged = ["evaluate", str(path), "--criteria", "text.yaml"]
    driven = ["loop", "new", "a task", "--input", str(path), "--criteria", "text.yaml", "--yes"]
    wrong = []
    for verb in (judged, driven):
        done = _run(folder, verb)
        if isinstance(done, str):
            wrong.append(f"{verb[0]} {done}")
        elif done.returncode != 4 or path.name not in done.stderr or "Traceback" in done.stderr:
            wrong.append(f"{verb[0]} left with {done.returncode}: {done.stderr[-200:]}")
    if (folder / ".ai-factory").exists():
        wrong.append("a run was made")
    return wrong


def _run(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str] | str:
    argv = [sys.executable, "-m", "pytest_reflex", *words]
    # Standard input is a pipe that never ends: whoever opens it, waits.
    reader, writer = os.pipe()
    try:
        return subprocess.run(
            argv, cwd=folder, stdin=reader, capture_output=True, text=True, timeout=20
        )
    except subprocess.TimeoutExpired:
        return "waited for it"
    finally:
        os.close(reader)
        os.close(writer)
