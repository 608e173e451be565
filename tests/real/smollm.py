"""A real language model writes in the loop: SmolLM2 by the tool `llm`, on this CPU, without a key.

It writes and refines; the offline agent plans, prepares and criticises, and the fixes of the rules
complete what a weak model leaves out. However the loop ends, it ends by its own conditions.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.real.clients import ROOT, bare
from tests.real.play import ALIAS

PYTHON = ROOT / ".real" / "llm" / "bin" / "python"
TOOL = Path(__file__).parent / "wide_llm.py"
CRITERIA = Path(__file__).parent / "guide.yaml"
TASK = "A short guide to tidy, a command that sorts the files of a folder"
CONFIGURATION = """\
[loop]
produce = "first"
prompts = {produce = "produce.md", refine = "refine.md"}

[agents.llm]
preset = "llm"
command = ["{PYTHON}", "{TOOL}", "--no-stream", "-m", "{model}"]
model = "SmolLM2"
timeout = 300
"""
# A model this small heeds what comes last. It cannot keep a text as it is and change a line of it:
# REFINE has it write anew, and the fixes of the rules put back what it left out.
ORDERS = {
    "produce.md": """\
Write the guide now, in Markdown. The first line is: # tidy
Then write four plain sentences: what the command tidy does with the files of a folder, how it sorts
them, and when it is useful. Name tidy in each sentence.
""",
    "refine.md": """\
Write the guide anew, in Markdown. The first line is: # tidy
Then write six plain sentences about tidy and the files of a folder. Name tidy in each sentence.
""",
}
COMMAND = [
    "loop", "new", TASK, "--alias", ALIAS, "--criteria", str(CRITERIA), "--yes",
    "--agent", "offline", "--agent", "produce=llm", "--agent", "refine=llm",
    "--record", "run.jsonl",
]  # fmt: skip
ENDS = {0: "completed", 6: "the limit of iterations", 7: "stagnation", 9: "no usable answer"}


def main() -> int:
    if not PYTHON.with_name("llm").exists():
        print("llm is not installed in .real/llm: make real-model")
        return 1
    with tempfile.TemporaryDirectory(prefix="real-") as name:
        folder = Path(name)
        text = CONFIGURATION.replace("{PYTHON}", str(PYTHON)).replace("{TOOL}", str(TOOL))
        (folder / "pytest-reflex.toml").write_text(text)
        for file, orders in ORDERS.items():
            (folder / file).write_text(orders)
        started = time.monotonic()
        command = [sys.executable, "-m", "pytest_reflex", *COMMAND]
        status = subprocess.run(command, cwd=folder, env=bare(folder), check=False).returncode
        calls = len((folder / "run.jsonl").read_bytes().splitlines()) - 1
        end = ENDS.get(status, "an end that is none of the loop's")
        took = time.monotonic() - started
        print(f"\nexit status {status} ({end}), {calls} recorded calls, {took:.0f} s")
        return 0 if status in ENDS else 1


if __name__ == "__main__":
    raise SystemExit(main())
