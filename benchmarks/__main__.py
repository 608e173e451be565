"""``python -m benchmarks [P1 ...]``: run the benchmarks, print ratios, write them to a file.

An installed package has byte code. A checkout may have none, where the environment keeps Python
from writing it; then every process that is measured would compile the package anew.
"""

from __future__ import annotations

import compileall
import importlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tabulate import tabulate

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"


def modules(wanted: list[str]) -> list[str]:
    """Return the benchmark modules, all or those whose figure is wanted ("P1")."""
    names = sorted(path.stem for path in FOLDER.glob("p[0-9]*_*.py"))
    return [n for n in names if not wanted or n.split("_")[0].upper() in wanted]


def main() -> int:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(FOLDER.parent / "pytest_reflex", quiet=1)
    rows: list[dict[str, Any]] = []
    for name in modules([word.upper() for word in sys.argv[1:]]):
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        rows += importlib.import_module(f"benchmarks.{name}").run()
    table = [(row["id"], row["what"], f"{row['ratio']:.3g}", _goal(row), _met(row)) for row in rows]
    print(tabulate(table, headers=("", "what", "ratio", "goal", "met"), disable_numparse=True))
    path = _write(rows)
    print(
        f"\nwritten to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}"
    )
    return 0


def _bound(row: dict[str, Any]) -> float:
    goal = row["goal"]
    return float(goal) if isinstance(goal, (int, float)) else float(goal.split()[-1])


def _goal(row: dict[str, Any]) -> str:
    return f"<= {_bound(row):g}"


def _met(row: dict[str, Any]) -> str:
    return "yes" if row["ratio"] <= _bound(row) else "no"


def _write(rows: list[dict[str, Any]]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    document = {
        "measured_at": now.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "figures": rows,
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
