"""P3: how long ``--version`` and ``--help`` take against an interpreter that does nothing."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from subprocess import DEVNULL
from subprocess import run as start

ROUNDS = 21


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the two ratios, medians of interleaved runs."""
    ours = str(Path(sys.executable).with_name("pytest-reflex"))
    commands = {
        "pass": [sys.executable, "-c", "pass"],
        "version": [ours, "--version"],
        "help": [ours, "--help"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            began = time.perf_counter()
            start(command, stdout=DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - began)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return [
        {
            "id": "P3",
            "what": f"pytest-reflex --{name} / python -c pass",
            "goal": f"<= {goal}",
            "ratio": median[name] / median["pass"],
        }
        for name, goal in (("version", 3), ("help", 5))
    ]


if __name__ == "__main__":
    for figure in run():
        print(figure)
