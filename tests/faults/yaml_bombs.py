"""YAML that goes off, as rules and as artifact: told in little memory and time (T16)."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.criteria.test_hostile import BOMBS
from tests.faults.figure import Figure, of_cases

SAMPLE = ("aliases of aliases",)
_MEMORY = 200 << 20
_SECONDS = 2.0
_RULES = """\
rules:
  - id: a.x.y
    description: There is a value
    severity: fail
    check: {type: structure, path: a.b}
"""
# What a child has held at most is not ru_maxrss: that begins with what its parent had.
_CHILD = """
import re, sys
from pathlib import Path
from pytest_reflex.cli.main import main
status = main(["evaluate", *sys.argv[1:]])
Path("memory").write_text(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
sys.exit(status)
"""


def figure(full: bool) -> Figure:
    """Give each bomb to `evaluate` in a process of its own, first as criteria, then as artifact."""
    cases, most, longest = [], 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "draft.md").write_text("some text\n")
        (folder / "rules.yaml").write_text(_RULES)
        for bomb in BOMBS if full else SAMPLE:
            (folder / "bomb.yaml").write_bytes(BOMBS[bomb])
            for role, words, statuses in (
                ("criteria", ("draft.md", "--criteria", "bomb.yaml"), (4,)),
                ("artifact", ("bomb.yaml", "--criteria", "rules.yaml"), (1, 4, 5)),
            ):
                status, usage, output = _evaluate(folder, words)
                size = int((folder / "memory").read_text()) * 1024
                seconds = usage.ru_utime + usage.ru_stime
                most, longest = max(most, size), max(longest, seconds)
                wrong = [] if status in statuses else [f"exit status {status}"]
                wrong += ["a traceback"] if "Traceback" in output else []
                wrong += [f"{size >> 20} MB"] if size > _MEMORY else []
                wrong += [f"{seconds:.1f} s"] if full and seconds > _SECONDS else []
                cases.append((f"{bomb} as {role}", wrong))
    return of_cases(cases, note=f"at most {most >> 20} MB and {longest:.1f} s of work")


def _evaluate(folder: Path, words: tuple[str, ...]) -> tuple[int, resource.struct_rusage, str]:
    """Return how `evaluate` ended, what it used, and what it printed."""
    (folder / "memory").unlink(missing_ok=True)
    argv = [sys.executable, "-c", _CHILD, *words]
    with (folder / "output").open("wb") as output:
        child = subprocess.Popen(argv, cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage, (folder / "output").read_text(errors="replace")
