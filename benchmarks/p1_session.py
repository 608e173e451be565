"""P1: 10,000 content checks as a pytest session against 10,000 bare parametrized tests."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKS = 10_000
FAILING = 2_000
LINES = 500  # of the artifact, about 12 KB
ROUNDS = 3

BARE = """\
import pytest
@pytest.mark.parametrize("number", range({count}))
def test_rule(number):
    assert f"line {{number % {lines}}} " {operator} TEXT
TEXT = open("artifact.md").read()
"""


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the ratios for passing and for failing checks, medians of interleaved runs."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        bench = {
            "passing checks": _ours(root / "a", CHECKS, failing=False),
            "passing tests": _bare(root / "b", CHECKS, failing=False),
            "failing checks": _ours(root / "c", FAILING, failing=True),
            "failing tests": _bare(root / "d", FAILING, failing=True),
        }
        seconds: dict[str, list[float]] = {name: [] for name in bench}
        for _ in range(rounds):
            for name, session in bench.items():
                seconds[name].append(_seconds(session))
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return [
        {
            "id": "P1",
            "what": f"{CHECKS} content checks / bare tests, whole process",
            "goal": 0.5,
            "ratio": median["passing checks"] / median["passing tests"],
        },
        {
            "id": "P1",
            "what": f"{FAILING} failing content checks / failing bare tests",
            "goal": 0.3,
            "ratio": median["failing checks"] / median["failing tests"],
        },
    ]


def _ours(folder: Path, count: int, *, failing: bool) -> Path:
    _artifact(folder)
    lines = ["criteria: {name: bench, version: 1}", "artifacts: [artifact.md]", "rules:"]
    mode = "literal: true, negate: true" if failing else "literal: true"
    for number in range(count):
        lines += [
            f"  - id: a.bench.rule-{number}",
            f"    description: line {number} is there",
            "    severity: fail",
            f"    check: {{type: content, search: 'line {number % LINES} ', {mode}}}",
        ]
    (folder / "bench.reflex.yaml").write_text("\n".join(lines) + "\n")
    return folder


def _bare(folder: Path, count: int, *, failing: bool) -> Path:
    _artifact(folder)
    text = BARE.format(count=count, lines=LINES, operator="not in" if failing else "in")
    (folder / "test_bench.py").write_text(text)
    return folder


def _artifact(folder: Path) -> None:
    folder.mkdir()
    text = "".join(f"line {number} of the artifact\n" for number in range(LINES))
    (folder / "artifact.md").write_text(text)


def _seconds(folder: Path) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    before = time.perf_counter()
    subprocess.run(
        [*command, "-p", "pytest_reflex.plugin"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return time.perf_counter() - before


if __name__ == "__main__":
    for row in run():
        print(f"{row['id']}  {row['what']}: {row['ratio']:.3f} (goal {row['goal']})")
