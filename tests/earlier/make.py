"""Make the runs of earlier code: ``python -m tests.earlier.make CHECKOUT NAME``.

CHECKOUT is a checkout of the earlier code with its own ``.venv`` (``make .venv/dev-ready``). What
its runs leave is written to ``data/NAME``, a folder for each. Files outside the project of which a
history or a snapshot holds hashes (the interpreter's, installed packages, programs) are taken out:
they are those of one machine, and a resume elsewhere would rightly find them gone. The sums and
links of the lines are made anew then; no other byte is changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.earlier.inputs import PAYLOAD
from tests.earlier.projects import (
    CHAINED,
    DATA,
    GIT,
    HOME,
    NOTHING,
    USER,
    keep,
    rewrite,
    write_inputs,
)

Argv = tuple[str, ...]
_REFLEX = ("-m", "pytest_reflex")
_NEW = (*_REFLEX, "loop", "new", "say it", "--alias", "run", "--criteria")
LOOP = (*_NEW, "words.yaml", "--yes", "--record", "calls.jsonl")
ITERATE = (*_REFLEX, "iterate", "run", "build", "-n", "4")
_PYTEST = ("-m", "pytest", "-p", "pytest_reflex.plugin", "-p", "no:cacheprovider")
SESSION = (*_PYTEST, "--reflex-loop", "--reflex-artifact=sums.py", "--reflex-yes")
FLOW = (*_REFLEX, "flow", "run", "close all points")
GOAL = (*_REFLEX, "goal", "start", "spec.md", "--yes")
HOOK = (*_REFLEX, "hook", "stop")
OWN = ("own.py", "run", "first", "--var", "command=! grep OPEN note.txt")
_CRITERIA = (*_REFLEX, "criteria")
_EVALUATE = (*_REFLEX, "evaluate")
JUDGED = (*_EVALUATE, "reply.md", "--criteria", "tone.yaml", "--judge", "jury")
JUDGED_LOOP = (
    *(*_NEW, "tone.yaml", "--yes", "--record", "calls.jsonl", "--input", "reply.md"),
    *("--judge", "jury", "--max-iterations", "1"),
)
SAID = "Keep the last line."
_WORDS = ("draft.md", "--criteria", "words.yaml", "--json")
_KILLED = -9


@dataclass(frozen=True)
class Made:
    """How a run is made: commands, each with its exit status and perhaps a file for its output.

    `git` kills the driver before or behind the commit of that number.
    """

    project: str
    commands: tuple[tuple[Argv, int] | tuple[Argv, int, str], ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    git: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)


def _made(project: str, argv: Argv, status: int = 0, **environment: str) -> Made:
    return Made(project, ((argv, status),), environment)


RUNS: Mapping[str, Made] = {
    "loop-finished": _made("loop", LOOP),
    "loop-killed-in-refine": _made("loop", LOOP, _KILLED, KILL_AT="4"),
    "loop-killed-after-iteration": _made("loop", LOOP, _KILLED, KILL_AT="5"),
    "loop-waiting": _made("loop", (*LOOP, "--max-iterations", "1"), 6),
    "loop-with-events": _made("loop", (*LOOP, "--events", "events.jsonl"), _KILLED, KILL_AT="5"),
    "loop-with-feedback": Made(
        "loop",
        ((LOOP, _KILLED), ((*_REFLEX, "loop", "feedback", "run", SAID, "--wait", "0"), 0)),
        {"KILL_AT": "3"},
    ),
    "iterate-with-feedback": Made(
        "iterate",
        (
            (ITERATE, _KILLED),
            ((*_REFLEX, "iterate", "feedback", "build", SAID, "--wait", "0"), 0),
        ),
        {"KILL_AT": "3"},
    ),
    "iterate-finished": _made("iterate", ITERATE, FAIL="2"),
    "iterate-killed": _made("iterate", ITERATE, _KILLED, FAIL="2", KILL_AT="3"),
    "iterate-interrupted": _made("iterate", ITERATE, 143, FAIL="2", KILL_AT="3", KILL_BY="TERM"),
    "iterate-aborted": _made("iterate", ITERATE, 16, FAIL="123"),
    "session-finished": _made("session", SESSION),
    "session-killed": _made("session", SESSION, _KILLED, KILL_AT="2"),
    "flow-finished": _made("flow", FLOW),
    "flow-killed-in-act": _made("flow", FLOW, _KILLED, KILL_AT="3"),
    "flow-killed-before-commit": Made("flow", ((FLOW, _KILLED),), git="before 3"),
    "flow-killed-behind-commit": Made("flow", ((FLOW, _KILLED),), git="behind 3"),
    "flow-out-of-budget": _made("flow", (*FLOW, "--budget", "calls=2"), 8),
    "flow-beside-unsaved": Made(
        "flow",
        (((*FLOW[:-1], "--allow-dirty", FLOW[-1]), _KILLED),),
        {"KILL_AT": "3"},
        beside={"project/mine.txt": "Not saved.\n"},
    ),
    "flow-without-git": _made("flow", (*FLOW, "--no-git"), _KILLED, KILL_AT="3"),
    "goal-finished": _made("goal", GOAL),
    "goal-killed": _made("goal", GOAL, _KILLED, KILL_AT="2"),
    "goal-interrupted": _made("goal", GOAL, 143, KILL_AT="2", KILL_BY="TERM"),
    "goal-at-its-limit": _made("goal", (*GOAL, "--max-iterations", "1"), 6),
    "goal-with-open-breaker": _made("goal", GOAL, 15, FAIL="1"),
    "goal-held-twice": Made("goal", ((GOAL, _KILLED), (HOOK, 0), (HOOK, 0)), {"KILL_AT": "2"}),
    "goal-with-hook-installed": Made(
        "goal",
        ((GOAL, _KILLED), ((*_REFLEX, "hook", "install", "--yes"), 0)),
        {"KILL_AT": "2"},
    ),
    "own-with-feedback": Made(
        "own",
        ((OWN, _KILLED), (("own.py", "feedback", "first", SAID, "--wait", "0"), 0)),
        {"KILL_AT": "2"},
    ),
    "own-finished": _made("own", OWN),
    "own-killed": _made("own", OWN, _KILLED, KILL_AT="2"),
    "own-out-of-budget": _made("own", (*OWN, "--budget", "calls=1"), 8),
    "judged-votes": Made("judged", (((*JUDGED, "--json"), 1, "report.json"),)),
    "judged-loop-finished": _made("judged", JUDGED_LOOP, 6),
    "judged-loop-killed": Made("judged", ((JUDGED_LOOP, _KILLED),), beside={"kill": "2"}),
    "written": Made(
        "written",
        (
            ((*_REFLEX, "flow", "setup", "--from", "red-to-green", "--command", "true"), 0),
            ((*_CRITERIA, "new", "letter", "--no-schema"), 0),
            ((*_CRITERIA, "new", "found.yaml", "--no-schema", "--from-document", "draft.md"), 0),
            ((*_CRITERIA, "normalize", "words.yaml", "--json"), 0, "normal.json"),
            ((*_CRITERIA, "normalize", "words.yaml"), 0, "normal.yaml"),
        ),
    ),
    "reported": Made(
        "reported",
        (
            ((*_EVALUATE, *_WORDS), 1, "report.json"),
            ((*_PYTEST, "--reflex-json", "session.json"), 1),
            ((*_REFLEX, "critique", *_WORDS, "--evaluation", "report.json"), 0, "issues.json"),
        ),
    ),
}
# Stands in for git, and kills who has it make the commit whose number it is told.
_GIT = """\
#!/bin/sh
case " $* " in
*" commit "*)
    echo x >> {folder}/commits
    if [ "$(wc -l < {folder}/commits)" -eq {number} ]; then
        [ {when} = before ] || {git} "$@"
        kill -KILL $PPID
        exit 1
    fi
    ;;
esac
exec {git} "$@"
"""


def main(checkout: Path, name: str, chosen: list[str]) -> None:
    for run, made in RUNS.items():
        if not chosen or any(run.startswith(one) for one in chosen):
            with tempfile.TemporaryDirectory() as folder:
                _make(run, made, Path(folder), checkout.resolve(), DATA / name / run)


def _make(run: str, made: Made, folder: Path, checkout: Path, kept: Path) -> None:
    project = folder / "project"
    write_inputs(made.project, project)
    for name, text in made.beside.items():
        (folder / name).write_text(text)
    given = {**_environment(folder, made.git), **NOTHING, "CALLS": f"{folder}/calls"}
    for command in made.commands:
        argv, status = command[:2]
        done = subprocess.run(
            [checkout / ".venv/bin/python", *argv],
            cwd=project,
            env={**given, "PYTHONPATH": str(checkout), **made.environment},
            input=PAYLOAD if argv == HOOK else "",
            capture_output=True,
            text=True,
        )
        if done.returncode != status:
            raise SystemExit(f"{run}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        if len(command) == 3:
            (project / command[2]).write_text(done.stdout)
    _leave_the_machine_out(folder, project)
    _say_who_installed(folder, project, checkout)
    keep(made.project, project, kept)
    texts = "".join(p.read_text() for p in kept.rglob("*") if p.is_file())
    if found := [one for one in (str(folder), str(checkout), sys.prefix) if one in texts]:
        raise SystemExit(f"{run}: it names {found}")


def _leave_the_machine_out(folder: Path, project: Path) -> None:
    """Have nothing in the files that belongs to the machine on which they were made."""
    for journal in (path for name in CHAINED for path in project.rglob(name)):
        named = journal.read_text("utf-8").replace(str(folder), HOME)
        journal.write_text(named, encoding="utf-8")
        rewrite(journal, _inside)
    for log in project.glob("events.jsonl"):
        lines = log.read_text("utf-8").replace(str(folder), HOME).splitlines()
        log.write_text("".join(json.dumps(_inside(json.loads(one))) + "\n" for one in lines))
    for shown in project.glob(".ai-factory/**/run.json"):
        shown.write_text(shown.read_text("utf-8").replace(str(folder), HOME), encoding="utf-8")
    states = (".rooda/state/*.json", ".pytest-reflex/**/*.json")
    users = (f"{one}/**/*.json" for one in USER.values())
    for pattern in (*(f"project/{one}" for one in states), *users):
        for state in folder.glob(pattern):
            text = state.read_text("utf-8").replace(str(folder), HOME)
            indent = 2 if text.startswith("{\n") else None
            state.write_text(json.dumps(_inside(json.loads(text), but=HOME), indent=indent) + "\n")


def _say_who_installed(folder: Path, project: Path, checkout: Path) -> None:
    """Have the settings of a client name a program of no machine, and their sum fit."""
    settings = project / ".claude/settings.json"
    if settings.exists():
        text = settings.read_text("utf-8").replace(str(checkout), HOME)
        settings.write_text(text, encoding="utf-8")
        (kept,) = folder.glob(f"{USER['XDG_STATE_HOME']}/**/installed/*.json")
        found = json.loads(kept.read_text("utf-8"))
        found[settings.name]["after"] = hashlib.sha256(text.encode()).hexdigest()
        kept.write_text(json.dumps(found, indent=2) + "\n")


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


def _environment(folder: Path, killing: str) -> dict[str, str]:
    left = ("PATH", "HOME", "LANG")
    found = {key: os.environ[key] for key in left if key in os.environ}
    found |= {key: str(folder / name) for key, name in USER.items()}
    if killing:
        when, number = killing.split()
        program = folder / "bin/git"
        program.parent.mkdir()
        real = shutil.which("git")
        program.write_text(_GIT.format(folder=folder, when=when, number=number, git=real))
        program.chmod(0o755)
        found["PATH"] = f"{program.parent}:{found['PATH']}"
    return {**found, **GIT, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "XDG_CONFIG_HOME": os.devnull}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
