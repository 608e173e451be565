"""A real loop in a folder, whose agent and check wait in a step until they are let go."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.project import AGENT

STEPS = ("PLAN", "PRODUCE", "PREPARE", "EVALUATE", "CRITIQUE", "REFINE")

# Each waits on `hold-STEP`, in a child of its own, which says who it is.
_HOLD = r"""
hold() {
    if [ -e stubborn ]; then trap '' TERM INT; fi
    if [ -e "hold-$1" ]; then
        sh -c 'echo $$ > held.tmp; mv held.tmp held; while [ -e "hold-$0" ]; do sleep 0.05; done' $1
    fi
}
"""
_CHECK = _HOLD + "hold EVALUATE\n"
_PREPARED = """\
PREPARE) printf '{"checks": [{"rule_id": "a.x.prose", "type": "content",'
    echo ' "search": ".", "expected": "text"}]}' ;;
"""
_AGENT = _HOLD + 'hold "$PYTEST_REFLEX_STEP"\n' + AGENT.replace("REFINE)", f"{_PREPARED}REFINE)")
_CRITERIA = """\
name: words
rules:
  - {id: a.x.one, description: says it, severity: fail, check: {type: content, search: "^Uno[.]"}}
  - {id: a.x.prose, description: "any text at all", severity: warn, check: "it says something"}
  - {id: a.x.run, description: r, severity: fail, check: {type: executable, command: sh check.sh}}
"""
_CONFIG = """\
agent = "script"
[loop]
evaluator = "{evaluator}"
may_change = ["calls.log", "held", "held.tmp", "hold-*", "stubborn", "log"]
[agents.script]
command = ["sh", "agent.sh"]
timeout = 60
grace = {grace}
"""


class Driven:
    """A project folder with the loop `run`."""

    def __init__(self, folder: Path, *, evaluator: str = "pytest", grace: int = 2) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        files = {
            "agent.sh": _AGENT,
            "check.sh": _CHECK,
            "words.yaml": _CRITERIA,
            "pytest-reflex.toml": _CONFIG.format(evaluator=evaluator, grace=grace),
        }
        for name, text in files.items():
            (folder / name).write_text(text)

    @staticmethod
    def command(*words: str) -> list[str]:
        return [sys.executable, "-m", "pytest_reflex", "loop", *words]

    def new(self) -> list[str]:
        return self.command("new", "say it", "--alias", "run", "--criteria", "words.yaml", "--yes")

    def start(self, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                self.new(),
                cwd=self.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = self.command(*words)
        return subprocess.run(argv, cwd=self.folder, capture_output=True, text=True, timeout=120)

    def hold(self, step: str) -> None:
        """Let whoever runs in that step wait."""
        (self.folder / f"hold-{step}").touch()

    def release(self, step: str) -> None:
        (self.folder / f"hold-{step}").unlink(missing_ok=True)
        (self.folder / "held").unlink(missing_ok=True)

    def held(self) -> int:
        """Wait until somebody waits, and return its process id."""
        wait_until((self.folder / "held").exists)
        return int((self.folder / "held").read_text())

    def state(self) -> dict[str, Any]:
        path = self.folder / ".ai-factory/evolution/run/run.json"
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8")


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something; raises TimeoutError where it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come to that")
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Return whether a process runs; one that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def stopped(pid: int) -> bool:
    """Return whether a process is stopped, as by Ctrl-Z.

    One that was about to start a program waits (D) for its child, which is stopped in its place.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "TD"
    except OSError:
        return False
