"""Commands that a shell cannot read: `bash -n` parses a text and runs nothing of it."""

from __future__ import annotations

import os
import re
import shutil
from functools import lru_cache
from pathlib import Path

from pytest_reflex.model.plain import one_line
from pytest_reflex.process.run import run
from pytest_reflex.process.spawn import SpawnError

SECONDS = 5.0
LONGEST = 100_000

_PARSERS = ("", "bash", "bash-strict")
_PREFIX = re.compile(r"^.*?: (?:-c: )?line \d+: ")


def syntax_fault(command: str, shell: str) -> str:
    """Return what bash says against a command that it cannot parse; empty where it says nothing.

    Other shells are not asked: what they understand is another language.
    """
    bash = shutil.which("bash")
    if shell not in _PARSERS or not bash or "\0" in command or len(command) > LONGEST:
        return ""
    return _fault(command, bash)


@lru_cache(maxsize=1000)
def _fault(command: str, bash: str) -> str:
    # No variable of ours: BASH_ENV names a file that would be read first.
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    try:
        finished = run(
            [bash, "-n", "-c", command],
            cwd=Path.cwd(),
            env=environment,
            timeout=SECONDS,
            grace=0.5,
            hard_cap=1_000_000,
        )
    except (SpawnError, OSError):
        return ""
    if finished.stopped or finished.returncode in (0, None):
        return ""
    lines = finished.stderr.decode("utf-8", "replace").splitlines()
    return one_line(_PREFIX.sub("", lines[0]), 120) if lines else ""
