"""Surroundings of every kind: an evaluation and a loop work in them, or say in a line why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.figure import Figure, of_cases
from tests.faults.project import EXITS

_DRAFT = "# Ünïcode ― 🎉\nalpha\n"
_CHECKS = [
    {"type": "content", "search": "^alpha"},
    {"type": "executable", "command": 'printf "ä ― 🎉"; test -s "$PYTEST_REFLEX_ARTIFACT"'},
]
_VERBS = {
    "evaluate": ["evaluate", "drαft.md"],
    "loop": ["loop", "new", "say ä", "--alias", "run", "--input", "drαft.md", "--yes"],
}
_PROGRAM = [sys.executable, "-m", "pytest_reflex"]
_WITHOUT_SHELL = {"evaluate": {5}, "loop": {6, 7}}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is set (None: taken away), what a shell does before, and what may come of it.

    `statuses` by verb; without them all has to work.
    """

    variables: Mapping[str, str | None] = field(default_factory=dict)
    before: str = ""
    statuses: Mapping[str, set[int]] = field(default_factory=dict)


KINDS = {
    "PATH is empty": Surroundings({"PATH": ""}, statuses=_WITHOUT_SHELL),
    "no PATH": Surroundings({"PATH": None}),
    "no HOME": Surroundings({"HOME": None}),
    "HOME is nowhere": Surroundings({"HOME": "/nowhere", "XDG_CONFIG_HOME": "/nowhere/too"}),
    "LANG=C": Surroundings({"LANG": "C", "LC_ALL": "C"}),
    "no UTF-8 mode": Surroundings(
        {"PYTHONUTF8": "0", "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
        # A task beyond ASCII cannot be told from one in another encoding.
        statuses={"loop": {4}},
    ),
    "stdout is cp1252": Surroundings({"PYTHONIOENCODING": "cp1252"}),
    "stdout is GBK": Surroundings({"PYTHONIOENCODING": "gbk"}),
    "COLUMNS=1": Surroundings({"COLUMNS": "1", "LINES": "1"}),
    "umask 0777": Surroundings(before="umask 0777"),
    "the working directory is gone": Surroundings(
        before="mkdir gone; cd gone; rmdir ../gone", statuses={"evaluate": {4}, "loop": {4}}
    ),
    "32 open files": Surroundings(before="ulimit -n 32"),
    "no file may be written": Surroundings(
        before="ulimit -f 0", statuses={"evaluate": {5, 12}, "loop": {12}}
    ),
    "no variables at all": Surroundings(before="exec env -i"),
}


def figure(full: bool) -> Figure:
    """Judge an artifact, and drive a loop on it, in each."""
    kinds = [*KINDS] if full else ["no UTF-8 mode", "32 open files"]
    with tempfile.TemporaryDirectory() as folder:
        return of_cases([(kind, _lived(Path(folder) / kind, KINDS[kind])) for kind in kinds])


def _lived(folder: Path, kind: Surroundings) -> list[str]:
    folder.mkdir()
    (folder / "drαft.md").write_text(_DRAFT, "utf-8")
    rule = {"id": "a.x.alpha", "description": "says ä", "severity": "fail", "check": _CHECKS}
    criteria = {"name": "wörds", "rules": [rule]}
    (folder / "words.yaml").write_text(json.dumps(criteria, ensure_ascii=False), "utf-8")
    wrong = []
    for verb, words in _VERBS.items():
        status, told = _run(folder, kind, words)
        allowed = kind.statuses.get(verb, {0})
        if status not in allowed or status not in EXITS:
            wrong.append(f"{verb} left with {status}: {told[-200:]}")
        if "Traceback" in told or not told.strip():
            wrong.append(f"{verb} said {told[-300:]!r}")
    return wrong


def _run(folder: Path, kind: Surroundings, words: list[str]) -> tuple[int, str]:
    given = {**os.environ, **kind.variables}
    env = {name: value for name, value in given.items() if value is not None}
    start = kind.before if kind.before.startswith("exec ") else f"{kind.before}; exec".lstrip("; ")
    done = subprocess.run(
        ["/bin/sh", "-c", f'{start} "$@"', "sh", *_PROGRAM, *words, "--criteria", "words.yaml"],
        cwd=folder,
        env=env,
        capture_output=True,
        timeout=120,
    )
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "backslashreplace")
