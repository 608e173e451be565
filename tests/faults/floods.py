"""Commands that write without end: what we hold of it stays small, and all come to an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product

from tests.faults.figure import Figure, of_cases

FULL, SAMPLE = 10_000_000_000, 60_000_000  # bytes of one case
MOST_MEMORY = 150_000_000  # bytes
_KEPT = 2 * 2 * (256 * 1024 + 1000)

# Writes lines, or one line without an end, to either stream, as long as it is let.
_WRITERS = {
    "lines": "yes 'a line of the usual length, as tools write them by the thousand'",
    "one line": "cat /dev/zero",
    "random bytes": "while head -c 4000000 /dev/urandom; do :; done",
    "both streams": "yes & yes >&2",
    "a deaf one": "trap '' TERM PIPE; cat /dev/zero",
}
_CHILD = """
import json, os, re, sys
from pathlib import Path
from pytest_reflex.process.run import run
script, amount, cap = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
argv, env = ["bash", "-c", script], dict(os.environ)
done = run(argv, cwd="/", env=env, timeout=600, grace=1, hard_cap=cap)
print(json.dumps({
    # Not ru_maxrss: that begins with what our parent had.
    "memory": int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024,
    "written": done.stdout_total + done.stderr_total,
    "kept": len(done.stdout) + len(done.stderr),
    "overflow": done.overflow, "late": done.timed_out, "status": done.returncode,
}))
"""


def figure(full: bool) -> Figure:
    """Let ten floods come: stopped at a cap, and drained to their own end; `full`: 10 GB in all."""
    amount = (FULL if full else SAMPLE) // 10
    cases = [*product(_WRITERS, ("stopped at the cap", "to its end"))]
    if not full:
        cases = cases[::3]
    found, most = [], 0
    for name, ending in cases:
        seen = _measured(_WRITERS[name], amount, bounded=ending == "to its end")
        most = max(most, seen["memory"])
        found.append((f"{name}, {ending}", _wrong(seen, amount, ending)))
    return of_cases(found, note=f"{amount * len(cases):,} bytes; most memory {most // 10**6} MB")


def _measured(script: str, amount: int, *, bounded: bool) -> dict[str, int]:
    if bounded:  # an end of its own: the kernel's limit of a pipe does not stop it
        script = f"({script}) 2>&1 | head -c {amount}"
    cap = 10 * amount if bounded else amount
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, script, str(amount), str(cap)],
        capture_output=True, text=True, timeout=900, env=dict(os.environ), check=True,
    )  # fmt: skip
    found: dict[str, int] = json.loads(done.stdout)
    return found


def _wrong(seen: dict[str, int], amount: int, ending: str) -> list[str]:
    wrong = []
    if seen["memory"] > MOST_MEMORY:
        wrong.append(f"held {seen['memory']:,} bytes")
    if seen["kept"] > _KEPT:
        wrong.append(f"kept {seen['kept']:,} bytes")
    if seen["late"] or bool(seen["overflow"]) != (ending == "stopped at the cap"):
        wrong.append(f"ended as {seen}")
    if seen["written"] < amount:
        wrong.append(f"only {seen['written']:,} bytes were read")
    return wrong
