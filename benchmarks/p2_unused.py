"""P2: what the plugin adds to a session of one test that does not use it."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 200
GOAL_SECONDS = 0.002
GOAL_SHARE = 0.01


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the added share of processor time: the median over pairs of one-test sessions.

    The goal is a share or an absolute time, whichever is larger: it is given as a share here.
    What is looked for is a hundredth of what a session takes, and sessions differ by more: so
    there are many pairs, and hashes have one seed.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_one.py").write_text("def test_one(): pass\n")
        Path(folder, "empty_plugin.py").write_text("")
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for number in range(2 * rounds + 2):
            used = bool(number % 2)
            took = _seconds(folder, with_plugin=used)
            if number > 1:  # the first of each kind compiles
                seconds[used].append(took)
    bare = statistics.median(seconds[False])
    pairs = zip(seconds[False], seconds[True], strict=True)
    added = statistics.median(with_it - without for without, with_it in pairs)
    return [
        {
            "id": "P2",
            "what": "installed but unused: added share of a one-test session",
            "goal": max(GOAL_SHARE, GOAL_SECONDS / bare),
            "ratio": added / bare,
        }
    ]


def _seconds(folder: str, *, with_plugin: bool) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # `-p` itself looks through the entry points of all distributions: both sides pay for that.
    extra = ["-p", "pytest_reflex.plugin" if with_plugin else "empty_plugin"]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": "0",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*command, *extra], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for row in run():
        print(f"{row['id']}  {row['what']}: {row['ratio']:.3f} (goal {row['goal']:.3f})")
