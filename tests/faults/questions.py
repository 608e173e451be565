"""Commands that ask somebody: nobody is there, and they are told so at once."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.model.enums import Outcome
from tests.faults.figure import Figure, of_cases
from tests.faults.targets import target_of

_MOST = 2.0  # seconds on a machine that is not busy
_TIMEOUT = 20
ASKING = {
    "reads its input": "read answer && test -n \"$answer\"",
    "reads the terminal": "read answer < /dev/tty",
    "git asks for a name": "printf 'protocol=https\\nhost=h.invalid\\n\\n' | git credential fill",
    "a password": f"{sys.executable} -W ignore -c 'import getpass; getpass.getpass()'",
    "python's input": f"{sys.executable} -c 'input()'",
}  # fmt: skip


def figure(full: bool) -> Figure:
    """Judge an artifact by each; `note` says how long the slowest took."""
    found, slowest = [], 0.0
    for name, command in ASKING.items():
        began = time.monotonic()
        found.append((name, _judged(command)))
        slowest = max(slowest, time.monotonic() - began)
    if full and slowest > _MOST:
        found.append(("time", [f"the slowest took {slowest:.1f} s"]))
    return of_cases(found, note=f"slowest {slowest:.2f} s")


def _judged(command: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        target = target_of(Path(folder), [command], timeout=_TIMEOUT)
        (row,) = evaluate(target, built_in_registry()).results
    if row.outcome is Outcome.PASS:
        return ["it passed"]
    messages = " ".join(check.message for check in row.checks)
    return [messages] if "longer than" in messages else []
