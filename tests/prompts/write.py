"""Write the prompts of all steps and drivers anew: ``python -m tests.prompts.write``.

Read the difference as the model would that gets nothing else. Where a prompt of a step has changed,
raise `VERSION` in `pytest_reflex/agents/prompts.py` if a release had the old one.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.prompts.stories import all_prompts

GOLDEN = Path(__file__).parent / "golden"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        found = all_prompts(Path(folder))
    for path in GOLDEN.glob("*.txt"):
        if path.stem not in found:
            path.unlink()
            sys.stdout.write(f"removed {path.name}\n")
    for name, golden in sorted(found.items()):
        path = GOLDEN / f"{name}.txt"
        if not path.exists() or path.read_text("utf-8") != golden.text:
            path.write_text(golden.text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.name}: {golden.text.partition(chr(10))[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
