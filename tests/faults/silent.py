"""F28: an agent without a usable answer: two tries, a phase_error, the artifact as it was."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from pytest_reflex.cli.main import main
from tests.faults.figure import Figure, of_cases

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
TOOL = """\
import json, os, pathlib, signal, sys, time
sys.stdin.buffer.read()
step = os.environ["PYTEST_REFLEX_STEP"]
answer = pathlib.Path(sys.argv[1])
issue = {"rule_id": "a.x.alpha", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
good = {
    "PLAN": json.dumps({"plan": ["a", "b", "c"]}),
    "PRODUCE": "the artifact as it was",
    "CRITIQUE": json.dumps({"issues": [issue]}),
}
if step in good:
    answer.write_text(good[step])
    sys.exit(0)
pathlib.Path("tries.txt").open("a").write("x")
"""
# What REFINE does, after the other steps were answered well.
MODES = {
    "dies mid-write": "answer.write_text('half an art'); os.kill(os.getpid(), signal.SIGKILL)",
    "writes nothing": "pass",
    "writes 0 bytes": "answer.touch()",
    "writes blanks": "answer.write_text(' \\n\\n')",
    "says that a limit was hit, with status 0": (
        "answer.write_text('You have hit your limit, resets 5pm')"
    ),
    "fails with half an answer": "answer.write_text('half'); sys.exit(1)",
    "hangs": "answer.write_text('half'); time.sleep(60)",
    "writes bytes that are not text": "answer.write_bytes(b'caf\\xe9 \\xff')",
    "writes a NUL": "answer.write_bytes(b'a\\0b')",
    "makes a folder of the answer": "answer.mkdir()",
    "is ended by SIGTERM": "answer.write_text('half'); os.kill(os.getpid(), signal.SIGTERM)",
    "writes elsewhere": "print('the answer')",
}
SAMPLE = ("dies mid-write", "writes 0 bytes")


def figure(full: bool) -> Figure:
    """Drive a loop for each way of silence."""
    chosen = MODES if full else {name: MODES[name] for name in SAMPLE}
    return of_cases((name, _wrong(body)) for name, body in chosen.items())


def _wrong(body: str) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="reflex-silent-") as folder:
        project = Path(folder)
        _prepare(project, body)
        silence = io.StringIO()
        with (
            contextlib.chdir(project),
            contextlib.redirect_stdout(silence),
            contextlib.redirect_stderr(silence),
        ):
            status = main(["loop", "new", "say", "--criteria", "words.yaml", "--yes"])
        return list(_differences(project, status, limited="hit your limit" in body))


def _prepare(project: Path, body: str) -> None:
    (project / "words.yaml").write_text(CRITERIA)
    (project / "tool.py").write_text(TOOL + body + "\n")
    command = json.dumps([sys.executable, "tool.py", "{answer_file}"])
    (project / "pytest-reflex.toml").write_text(
        'agent = "tool"\n[loop]\nevaluator = "core"\nroot = "runs"\nmay_change = ["tries.txt"]\n'
        f'[agents.tool]\ncommand = {command}\nanswer = "file"\ntimeout = 2\ngrace = 0.2\n'
        "tries = 1\n"
    )


def _differences(project: Path, status: int, *, limited: bool) -> Any:
    """Yield what is wrong; at a limit the run goes on later, and nothing is tried again."""
    folder = next((project / "runs").glob("*/"))
    run = json.loads((folder / "run.json").read_text())
    expected = hashlib.sha256(b"the artifact as it was").hexdigest()
    if status != 9:
        yield f"exit status {status}"
    if run["stop"]["reason"] != ("" if limited else "phase_error"):
        yield f"stopped by {run['stop']['reason']}"
    if (tries := (project / "tries.txt").read_text()) != ("x" if limited else "xx"):
        yield f"{len(tries)} tries"
    if hashlib.sha256((folder / "artifact.md").read_bytes()).hexdigest() != expected:
        yield "the artifact is not as it was"
