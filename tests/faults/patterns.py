"""Patterns that run away: each search of a megabyte ends in its time, no process stays (T15)."""

from __future__ import annotations

import time
from pathlib import Path

from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.search.search_process import SEARCHES
from tests.checks.test_patterns import NASTY, TEXT
from tests.faults.figure import Figure, of_cases

SAMPLE = 3
_BUDGET, _OVER = 2.0, 1.0


def figure(full: bool) -> Figure:
    """Search the text for each pattern, the way a rule does."""
    seconds = _BUDGET if full else 0.2
    artifact = Artifact(path=Path("a.md"), name="a.md", data=TEXT.encode())
    cases, longest = [], 0.0
    for pattern in NASTY if full else NASTY[:SAMPLE]:
        wrong, took = _judged(pattern, artifact, seconds)
        longest = max(longest, took - seconds)
        if full and took > seconds + _OVER:
            wrong.append(f"it took {took:.1f} s")
        cases.append((pattern, wrong))
    SEARCHES.close()
    cases.append(("processes afterwards", _children()))
    return of_cases(cases, note=f"at most {max(longest, 0):.2f} s beyond {seconds:g} s")


def _judged(pattern: str, artifact: Artifact, seconds: float) -> tuple[list[str], float]:
    check = ContentCheck().compile(CheckSpec(type="content", params={"search": pattern}), {})
    started = time.monotonic()
    result = check(artifact, CheckContext(root=Path(), pattern_seconds=seconds))
    took = time.monotonic() - started
    return ["it passed"] if result.outcome is Outcome.PASS else [], took


def _children() -> list[str]:
    """Return the searching processes that are still there, where the system can tell."""
    found = []
    for entry in Path("/proc/self/task").glob("*/children"):
        for number in entry.read_text().split():
            words = Path(f"/proc/{number}/cmdline").read_bytes()
            found += [f"process {number}"] if b"search_child" in words else []
    return found
