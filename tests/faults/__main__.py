"""Print the scorecard of faults: ``python -m tests.faults [NAME ...] [--sample] [--json FILE]``.

Without names every figure is measured, which takes long; `--sample` measures what the suite does.
Exit status 0 where all of them hold.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import json
import sys
import time
from pathlib import Path

import pytest_reflex
from tests.faults.figure import Figure

# name: (module, what is counted); one line for each figure
FIGURES: dict[str, tuple[str, str]] = {
    "zoo": ("zoo", "commands of every temper ended in time, with nothing left of them"),
    "orphans": ("orphans", "grandchildren, daemons and commands of a killed owner gone"),
    "signals": ("signals", "signals in a step: status, children gone, resumed to the same end"),
    "floods": ("floods", "floods of output kept small and ended"),
    "environment": ("environment", "surroundings worked in, or told in a line"),
    "special-files": ("special_files", "special files refused as artifacts, without a wait"),
    "closed-stdout": ("closed_stdout", "ways to lose stdout with the verdict and its status kept"),
    "changed-by-check": ("changed", "checks that change what is judged found out"),
    "log-volume": ("log_volume", "checks that write too much stored in little, and told"),
    "exit-codes": ("exit_codes", "exit statuses told apart: said no, could not run"),
    "random-bytes": ("random_bytes", "outputs of random bytes in valid JSON and XML"),
    "questions": ("questions", "commands that ask somebody ended without an answer"),
    "prompts": ("prompts", "long prompts arrived whole, or refused by name"),
    "kill": ("kill", "kills at a write-side call resumed with nothing lost or paid twice"),
    "session-kills": (
        "session_kills",
        "kills of a loop over a session at a write-side call resumed, nothing paid twice",
    ),
    "iterate-kills": (
        "iterate_kills",
        "kills of an iteration loop at a write-side call resumed, no round counted twice",
    ),
    "iterate-storage": (
        "iterate_storage",
        "errors of the disk told by an iteration loop, whose rounds went on",
    ),
    "iterate-signals": (
        "iterate_signals",
        "signals in an iteration loop: status, children gone, resumed with nothing counted twice",
    ),
    "iterate-races": ("iterate_races", "races for one procedure that one process alone drove"),
    "flow-kills": (
        "flow_kills",
        "kills of a flow at a commit or a write of its state resumed, each boundary committed once",
    ),
    "goal-kills": (
        "goal_kills",
        "kills of a goal at a change on disk continued, each iteration counted once",
    ),
    "kill-asked": (
        "kill_asked",
        "kills of a driver of whom something was asked: resumed, nothing lost or paid twice",
    ),
    "recovery": ("recovery", "kills of a resume resumed"),
    "cuts": ("cuts", "cuts and damages of history.jsonl and run.json recovered or told"),
    "rebuilt": ("rebuilt", "random histories whose rebuilt state is the one that was written"),
    "replayed-crashes": ("replayed", "states of the disk after a power cut resumed"),
    "locks": ("locks", "locks that a dead holder lost and no two had"),
    "races": ("races", "races of two processes with one writer and no event lost"),
    "special-state": (
        "special",
        "links, pipes and devices in place of state refused or safe",
    ),
    "names": ("names", "hostile names of loops refused"),
    "clock": ("clock", "clocks that jump, stand or go back: order and verdict as ever"),
    "read-only": ("places", "places that cannot be written: told, and nobody paid"),
    "mutants": ("mutants", "planted faults of our own code that a test noticed"),
    "tampering": ("tampering", "deeds of an agent against what judges: ended, no verdict after"),
    "session-deeds": ("session_deeds", "deeds against a loop over a session that passed nothing"),
    "agent-commands": ("agent_commands", "hostile answers of PREPARE of which nothing was run"),
    "injections": ("injections", "artifacts with orders in them that changed no verdict"),
    "endless-programs": ("endless_programs", "programs without an end stopped by a cap"),
    "quoting": ("quoting", "odd names that ran nothing and came through as they are"),
    "reading": ("reading", "faults of reading told or passed over, and never called tampering"),
    "storage": ("storage", "errors of the disk told, and resumed from"),
    "answers": ("answers", "answers of agents read or refused as they must be"),
    "silent-agents": ("silent", "agents without an answer ended, and the artifact as it was"),
    "endless-agents": ("endless", "agents without an end stopped by a cap"),
    "secrets": ("planted", "planted secrets kept nowhere"),
    "looking": ("looking", "looks at loops that wrote nothing"),
    "patterns": ("patterns", "searches that run away ended in time, and passed nothing"),
    "yaml-bombs": ("yaml_bombs", "YAML bombs refused or told, with little memory and time"),
    "yaml-table": ("yaml_table", "spellings of YAML read as they are meant, or refused in a line"),
    "text-table": ("text_table", "line ends, marks and blanks that mean what the page says"),
    "dry-run": ("dryrun", "dry runs that left nothing behind"),
}


def measure(name: str, *, full: bool) -> Figure:
    """Return one figure."""
    figure = importlib.import_module(f"tests.faults.{FIGURES[name][0]}").figure(full)
    assert isinstance(figure, Figure)
    return figure


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FIGURES))
    parser.add_argument("--sample", action="store_true", help="fewer cases: what the suite runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in FIGURES]:
        parser.error(f"there is no figure {', '.join(unknown)}; known: {', '.join(FIGURES)}")
    # Thousands of programs that figures start would else compile all modules anew, where the
    # environment says that Python keeps no byte code.
    compileall.compile_dir(Path(pytest_reflex.__file__).parent, quiet=2)
    found: dict[str, Figure] = {}
    for name in options.names or FIGURES:
        started = time.monotonic()
        found[name] = figure = measure(name, full=not options.sample)
        seconds = time.monotonic() - started
        print(
            _line(name, figure, seconds), *(f"    {why}" for why in figure.failures[:20]), sep="\n"
        )
    if options.json:
        document = {name: figure.to_json() for name, figure in found.items()}
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0 if all(figure.holds for figure in found.values()) else 1


def _line(name: str, figure: Figure, seconds: float) -> str:
    verdict = "holds" if figure.holds else "DOES NOT HOLD"
    note = f"; {figure.note}" if figure.note else ""
    what = FIGURES[name][1]
    return f"{name}: {figure.good} of {figure.total} {what}: {verdict}{note} ({seconds:.0f} s)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
