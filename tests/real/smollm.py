"""A real language model writes in the loop: SmolLM2 by the tool `llm`, on this CPU, without a key.

It writes and refines; the offline agent plans, prepares and criticises, and the fixes of the rules
complete what a weak model leaves out. However the loop ends, it ends by its own conditions.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.real.clients import ROOT, bare
from tests.real.play import ALIAS

PROGRAMS = ROOT / ".real" / "llm" / "bin"
CRITERIA = Path(__file__).parent / "guide.yaml"
TASK = "A short guide to tidy, a command that sorts the files of a folder"
CONFIGURATION = """\
[loop]
produce = "first"
prompts = {produce = "produce.md", refine = "refine.md"}

[agents.llm]
model = "SmolLM2"
timeout = 300
"""
# A small model heeds short orders and what comes last.
ORDERS = {
    "produce.md": """\
Write the guide now, in Markdown. The first line is: # tidy
Then write four plain sentences: what the command tidy does with the files of a folder, how it sorts
them, and when it is useful. Name tidy in each sentence.
""",
    "refine.md": """\
Write the text again, with its headings and its commands, and do what the fix instructions say.
""",
}
COMMAND = [
    "loop", "new", TASK, "--alias", ALIAS, "--criteria", str(CRITERIA), "--yes",
    "--agent", "offline", "--agent", "produce=llm", "--agent", "refine=llm",
    "--record", "run.jsonl",
]  # fmt: skip
ENDS = {0: "completed", 6: "the limit of iterations", 7: "stagnation", 9: "no usable answer"}


def main() -> int:
    if not (PROGRAMS / "llm").exists():
        print(f"{PROGRAMS / 'llm'} is not installed: make real-model")
        return 1
    with tempfile.TemporaryDirectory(prefix="real-") as name:
        folder = Path(name)
        (folder / "pytest-reflex.toml").write_text(CONFIGURATION)
        for file, orders in ORDERS.items():
            (folder / file).write_text(orders)
        environment = bare(folder)
        environment["PATH"] = os.pathsep.join((str(PROGRAMS), environment["PATH"]))
        started = time.monotonic()
        command = [sys.executable, "-m", "pytest_reflex", *COMMAND]
        status = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        calls = len((folder / "run.jsonl").read_bytes().splitlines()) - 1
        end = ENDS.get(status, "an end that is none of the loop's")
        took = time.monotonic() - started
        print(f"\nexit status {status} ({end}), {calls} recorded calls, {took:.0f} s")
        return 0 if status in ENDS else 1


if __name__ == "__main__":
    raise SystemExit(main())
