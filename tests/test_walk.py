"""One iteration of a loop goes through few modules: what one has to read to understand it."""

from __future__ import annotations

import json
import subprocess
import sys

MOST_MODULES = 90
MOST_MOVES = 1_500


def test_an_offline_iteration_goes_through_few_modules() -> None:
    """In a process of its own, where nothing was imported before; `python -m tests.walk` tells."""
    run = [sys.executable, "-m", "tests.walk", "--json"]
    found = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    moves = {module: count for module, count in found["moves"].items() if count > 20}
    assert len(found["modules"]) <= MOST_MODULES, found["modules"]
    assert sum(found["moves"].values()) <= MOST_MOVES, moves
