"""A project with a loop of three iterations whose agent is a shell script that counts its calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.run_status import read_run
from pytest_reflex.errors import ExitCode, ReflexError
from pytest_reflex.storage.journal import read_journal
from tests.faults.warm import Ran

AGENT = r"""
prompt=$(cat)
issue() {
    printf '{"issues": [{"rule_id": "%s", "problem": "p",' "$1"
    printf ' "fix_instruction": "f", "expected_effect": "e"}]}\n'
}
case $prompt in
*"Uno. Dos."*) text="Uno. Dos." better="Uno. Dos." ;;
*"Uno."*) text="Uno." better="Uno. Dos." ;;
*) text="Nothing yet." better="Uno." ;;
esac
case $prompt in *a.x.one*) rule=a.x.one ;; *) rule=b.x.two ;; esac
echo "$PYTEST_REFLEX_STEP" >> calls.log
case $PYTEST_REFLEX_STEP in
PLAN) echo '{"plan": ["say one", "say two", "look again"]}' ;;
PRODUCE) echo "$text" ;;
CRITIQUE) issue $rule ;;
REFINE) echo "$better" ;;
esac
"""
CRITERIA = """\
name: words
rules:
  - {id: a.x.one, description: says it, severity: fail, check: {type: content, search: "^Uno[.]"}}
  - {id: b.x.two, description: says that, severity: fail, check: {type: content, search: "Dos[.]"}}
"""
CONFIG = """\
agent = "script"
[loop]
evaluator = "core"
may_change = ["calls.log"]
[agents.script]
command = ["sh", "agent.sh"]
timeout = 30
"""
CALLS = ("PLAN", "PRODUCE", "CRITIQUE", "REFINE") * 2 + ("PLAN", "PRODUCE")
EXITS = {code.value for code in ExitCode} | {143, 129}


class Project:
    """A folder in which the loop `run` is driven, well or not."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        (folder / "agent.sh").write_text(AGENT)
        (folder / "words.yaml").write_text(CRITERIA)
        (folder / "pytest-reflex.toml").write_text(CONFIG)

    @property
    def state(self) -> Path:
        """What the program makes, with all that is in it."""
        return self.folder / ".ai-factory"

    @property
    def root(self) -> Path:
        return self.state / "evolution"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @staticmethod
    def new(*more: str) -> list[str]:
        words = ["--alias", "run", "--criteria", "words.yaml", "--yes", "--quiet", *more]
        return ["loop", "new", "say it", *words]

    def calls(self) -> list[str]:
        log = self.folder / "calls.log"
        return log.read_text().split() if log.exists() else []

    def events(self) -> list[dict[str, Any]]:
        """Return what has happened; that a call was interrupted, and paid for, is not a step."""
        records = read_journal(self.run / "history.jsonl").records
        return [one for one in records if not one["payload"].get("interrupted")]

    def last_seq(self) -> int:
        """Return the number of the last event, as if no call had been interrupted."""
        records = read_journal(self.run / "history.jsonl").records
        return int(records[-1]["seq"]) - len(records) + len(self.events())

    def outcome(self) -> dict[str, Any]:
        """What must be the same however often a run was broken."""
        state = json.loads((self.run / "run.json").read_text("utf-8"))
        evaluated = state["evaluation"] or {"rule_results": []}
        rows = [(r["id"], r["outcome"]) for r in evaluated["rule_results"]]
        keys = ("status", "iteration", "phase", "plan", "stop", "last_score_exact", "artifact")
        return {**{key: state[key] for key in keys}, "rows": rows, "last_seq": self.last_seq()}


def faults_of(ran: Ran, exits: Sequence[int] = ()) -> list[str]:
    """Return what is wrong with how a command line spoke and ended, whatever it was for."""
    wrong = []
    if "Traceback" in ran.stderr + ran.stdout:
        wrong.append("a traceback: " + ran.stderr.strip().splitlines()[-1])
    if ran.status not in EXITS:
        wrong.append(f"exit {ran.status} is in no table")
    if exits and ran.status not in exits:
        wrong.append(f"exit {ran.status}: {ran.stderr.strip()[-200:]}")
    if ran.status and not (ran.stdout + ran.stderr).strip():
        wrong.append(f"exit {ran.status} without a word")
    return wrong


def differences(project: Project, unbroken: dict[str, Any], *, kept: bool = False) -> list[str]:
    """Return where a run that is at its end differs from an unbroken one (RELIABILITY 9.3 c to f).

    `kept` allows for evidence beside the files: torn or corrupt bytes.
    """
    wrong = []
    try:
        run = read_run(project.run)
    except ReflexError as error:
        return [f"its history cannot be read: {error}"]
    if (found := project.outcome()) != unbroken:
        wrong.append(f"it ended as {found}")
    if run.alive:
        wrong.append("its lock is held")
    # A call that was interrupted counts, also where its tool had not begun to log it.
    unheard = run.state.last_seq - project.last_seq()
    if run.state.spend.calls > len(project.calls()) + unheard:
        wrong.append(f"it counts {run.state.spend.calls} calls of {len(project.calls())}")
    if run.state.artifact_status != "evaluated":
        wrong.append(f"its artifact is {run.state.artifact_status}")
    names = {path.name for path in project.run.iterdir()}
    if unheard:  # what a call had written that was interrupted is kept
        names = {name for name in names if ".partial-" not in name}
    if kept:
        names = {name for name in names if ".torn-" not in name and ".corrupt-" not in name}
    if names != {"run.json", "history.jsonl", "artifact.md"}:
        wrong.append(f"its files are {sorted(names)}")
    if {path.name for path in project.root.iterdir()} != {"run"}:
        wrong.append(f"beside it is {sorted(p.name for p in project.root.iterdir())}")
    return wrong


def overpaid(calls: Sequence[str], most: int = 1) -> list[str]:
    """Return how many calls more than `most` were paid beside those of an unbroken run."""
    more = Counter(calls) - Counter(CALLS)
    missing = Counter(CALLS) - Counter(calls)
    wrong = [f"{sum(more.values())} calls were paid again: {dict(more)}"] * (
        sum(more.values()) > most
    )
    return wrong + [f"{dict(missing)} was never asked"] * bool(missing)
