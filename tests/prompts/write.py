"""Write the prompts of all steps and drivers anew: ``python -m tests.prompts.write``.

Read the difference as the model would that gets nothing else. Where a prompt has changed, raise
`VERSION` in `pytest_reflex/agents/prompts.py`; `version.json` has the version of the prompts here.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.prompts.stories import all_prompts
from tests.prompts.version import GOLDEN, RAISE, keep


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
    if keep():
        return 0
    sys.stderr.write(f"{RAISE}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
