"""Put real output into pages: ``python -m tests.docs.write docs/how-to/budgets.md ...``.

Only commands whose output differs from what the page says are touched; read the diff afterwards.
The page of checks gets the tables that the code has for it, too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.docs.check_tables import PAGE, written
from tests.docs.pages import ROOT
from tests.docs.running import Deviation, run_page


def rewritten(text: str, deviations: list[Deviation]) -> str:
    """Return a page with the real output where it deviates."""
    lines = text.splitlines()
    for deviation in reversed(deviations):
        exchange = deviation.exchange
        if exchange is None:
            continue
        start = exchange.line + exchange.command.count("\n")
        size = len(exchange.expected.splitlines()) if exchange.expected else 0
        lines[start : start + size] = deviation.output.splitlines()
    return "\n".join(lines) + "\n"


def main(paths: list[str]) -> None:
    here = Path.cwd()
    for path in paths:
        page = here / path
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / "project"
            folder.mkdir()
            os.chdir(folder)
            sys.path.insert(0, str(folder))
            found = list(run_page(page.read_text(encoding="utf-8"), Path(home)))
            sys.path.remove(str(folder))
        os.chdir(here)
        text = page.read_text(encoding="utf-8")
        text = rewritten(text, found)
        page.write_text(written(text) if page == ROOT / PAGE else text, encoding="utf-8")
        for deviation in found:
            kind = "rewritten" if deviation.exchange else "NOT FIXED"
            sys.stdout.write(f"{path}: {kind}: {str(deviation).partition(chr(10) + '---')[0]}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
