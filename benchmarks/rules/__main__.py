"""`python -m benchmarks.rules`: print the table and write it into docs/reference/templates.md."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.rules.measure import measured
from benchmarks.rules.table import put, rendered

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "templates.md"


def main() -> int:
    """Return 0 where every planted fault was caught and no rule was red without one."""
    tallies = measured()
    table = rendered(tallies)
    print(table)
    PAGE.write_text(put(PAGE.read_text("utf-8"), table), "utf-8")
    print(f"written to {PAGE.relative_to(Path.cwd())}" if PAGE.is_relative_to(Path.cwd()) else PAGE)
    return int(any(t.caught < t.planted or t.wrong for t in tallies))


if __name__ == "__main__":
    sys.exit(main())
