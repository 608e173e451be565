"""Make the runs of earlier code: ``python -m tests.earlier.make CHECKOUT NAME``.

CHECKOUT is a checkout of the earlier code with its own ``.venv`` (``make .venv/dev-ready``). What
its runs leave is written to ``data/NAME``, a folder for each. Files outside the project of which a
history holds hashes (the interpreter's, installed packages) are taken out: they are those of one
machine, and a resume elsewhere would rightly find them gone. The sums and links of the lines are
made anew then; no other byte is changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.earlier.projects import DATA, HOME, NOTHING, keep, rewrite, write_inputs

_NEW = ("-m", "pytest_reflex", "loop", "new", "say it", "--alias", "run", "--criteria")
LOOP = (*_NEW, "words.yaml", "--yes", "--record", "calls.jsonl")
ITERATE = ("-m", "pytest_reflex", "iterate", "run", "build", "-n", "4")
SESSION = (
    *("-m", "pytest", "-p", "pytest_reflex.plugin", "-p", "no:cacheprovider"),
    *("--reflex-loop", "--reflex-artifact=sums.py", "--reflex-yes"),
)
_KILLED = -9
# name: (project, arguments, environment, exit status)
RUNS: Mapping[str, tuple[str, tuple[str, ...], Mapping[str, str], int]] = {
    "loop-finished": ("loop", LOOP, {}, 0),
    "loop-killed-in-refine": ("loop", LOOP, {"KILL_AT": "4"}, _KILLED),
    "loop-killed-after-iteration": ("loop", LOOP, {"KILL_AT": "5"}, _KILLED),
    "loop-waiting": ("loop", (*LOOP, "--max-iterations", "1"), {}, 6),
    "iterate-finished": ("iterate", ITERATE, {"FAIL": "2"}, 0),
    "iterate-killed": ("iterate", ITERATE, {"FAIL": "2", "KILL_AT": "3"}, _KILLED),
    "iterate-interrupted": (
        "iterate",
        ITERATE,
        {"FAIL": "2", "KILL_AT": "3", "KILL_BY": "TERM"},
        143,
    ),
    "iterate-aborted": ("iterate", ITERATE, {"FAIL": "123"}, 16),
    "session-finished": ("session", SESSION, {}, 0),
    "session-killed": ("session", SESSION, {"KILL_AT": "2"}, _KILLED),
}


def main(checkout: Path, name: str) -> None:
    for run, (kind, arguments, environment, status) in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder) / "project"
            write_inputs(kind, project)
            given = {**_environment(), **NOTHING, "CALLS": f"{folder}/calls", **environment}
            python = checkout.absolute() / ".venv/bin/python"
            done = subprocess.run(
                [python, *arguments], cwd=project, env=given, capture_output=True, text=True
            )
            if done.returncode != status:
                raise SystemExit(f"{run}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
            for journal in (*project.rglob("history.jsonl"), *project.rglob("calls.jsonl")):
                named = journal.read_text("utf-8").replace(folder, HOME)
                journal.write_text(named, encoding="utf-8")
                rewrite(journal, _inside)
            for state in project.glob(".rooda/state/*.json"):
                found = json.loads(state.read_text("utf-8").replace(folder, HOME))
                state.write_text(json.dumps(_inside(found, but=HOME), indent=2) + "\n")
            keep(project, DATA / name / run)
            if folder in "".join(p.read_text() for p in (DATA / name / run).rglob("*.*")):
                raise SystemExit(f"{run}: it holds the name of its folder")


def _inside(value: Any, *, but: str = "") -> Any:
    """Return a value without absolute paths among its keys and members, `but` those below one."""

    def is_left(one: object) -> bool:
        absolute = isinstance(one, str) and one[:1] == "/"
        return not absolute or bool(but and str(one).startswith(f"{but}/"))

    if isinstance(value, dict):
        return {key: _inside(one, but=but) for key, one in value.items() if is_left(key)}
    if isinstance(value, list):
        return [_inside(one, but=but) for one in value if is_left(one)]
    return value


def _environment() -> dict[str, str]:
    left = ("PATH", "HOME", "LANG")
    found = {key: os.environ[key] for key in left if key in os.environ}
    return {**found, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "XDG_CONFIG_HOME": os.devnull}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
