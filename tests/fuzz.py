"""Try property tests with new examples, round after round: `python -m tests.fuzz SECONDS`.

What fails is kept in .hypothesis/ and tried first in the next round; as an `@example` of its test
it stays for ever.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent
_TIMEOUT = 60
_INTERRUPTED, _PASSED = 2, 0


def properties() -> list[str]:
    """Return the files that hold property tests."""
    return [str(path) for path in sorted(ROOT.rglob("test_*.py")) if "@given" in path.read_text()]


def round_of(files: list[str], seed: int, seconds: float, options: list[str]) -> tuple[int, str]:
    """Run the property tests once; return the exit status and what pytest said."""
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "-q",
        "-m",
        "hypothesis",
        "-p",
        "no:randomly",
    ]
    argv += ["--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", *options, *files]
    with subprocess.Popen(
        argv, cwd=ROOT.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
    return process.returncode, output


def main(seconds: float, options: list[str]) -> int:
    """Go on until the time is used; return 1 where a round failed."""
    deadline, number, failed = time.monotonic() + seconds, 0, 0
    files = properties()
    while (left := deadline - time.monotonic()) > 0:
        number, seed = number + 1, random.SystemRandom().getrandbits(32)
        random.Random(seed).shuffle(files)  # the last round is cut off
        status, output = round_of(files, seed, left, options)
        lines = output.strip().splitlines() or ["nothing was said"]
        found = status not in (_PASSED, _INTERRUPTED) or "FAILED " in output
        failed += found
        if found:
            print(output)
        print(f"round {number}, seed {seed}: {lines[-1].strip('= ')}", flush=True)
    print(f"{number} rounds, {failed} of them with failures")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]), sys.argv[2:]))
