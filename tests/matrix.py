"""Print what `make matrix` found, a line for each cell: `python -m tests.matrix FOLDER`.

The folder holds nox's report of all cells, and of each that ran its versions and pytest's report.
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from tabulate import tabulate

REPORT = "cells.json"
HEADERS = ("python", "dependencies", "pytest", "result", "passed", "failed", "skipped", "time", "")
RESULTS = {"success": "passed", "skipped": "not run"}
UNKNOWN = ("-", "-", "-")


def row(cell: dict[str, Any], folder: Path) -> list[object]:
    """Return the line of one cell: its versions, its result, its figures, its time and a note."""
    python, _, dependencies = cell["name"].partition("-")
    result, note = RESULTS.get(cell["result"], cell["result"]), cell["reason"] or ""
    versions, report = (folder / f"{cell['name']}{suffix}" for suffix in (".versions", ".xml"))
    if not versions.exists():
        return [python, dependencies, "-", result, *UNKNOWN, "-", note]
    python, pytest = versions.read_text().split()[-2:]  # warnings may stand before
    minutes, seconds = divmod(round(cell["duration"]), 60)
    counts = count(report) if report.exists() else UNKNOWN
    return [python, dependencies, pytest, result, *counts, f"{minutes}:{seconds:02}", note]


def count(report: Path) -> tuple[int, int, int]:
    """Return how many tests passed, failed (or could not be run) and were skipped."""
    suites = [suite.attrib for suite in ElementTree.parse(report).iter("testsuite")]
    total, failures, errors, skipped = (
        sum(int(suite[name]) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    )
    return total - failures - errors - skipped, failures + errors, skipped


def main(folder: Path) -> int:
    """Print the table; return 1 where no cell ran, since nothing is known then."""
    if not (folder / REPORT).exists():  # nox has said why
        return 1
    cells = json.loads((folder / REPORT).read_text())["sessions"]
    print(tabulate([row(cell, folder) for cell in cells], HEADERS, disable_numparse=True))
    return 0 if any(cell["result"] != "skipped" for cell in cells) else 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
