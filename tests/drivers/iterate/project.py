"""A project whose AI tool is a shell script that does, iteration by iteration, what a file says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.faults.driven import wait_until

# One word for each call in `plan`, the last one for ever.
AGENT = r"""
cat > prompt
echo "$$ $PYTEST_REFLEX_ITERATION" >> calls.log
word=$(sed -n "$(wc -l < calls.log)p" plan)
case ${word:-$(tail -n 1 plan)} in
ok) echo "did it" ;;
change) date +%N >> work.txt; echo "changed it" ;;
fail) echo boom >&2; exit 1 ;;
empty) ;;
yes) echo "all is done"; echo "<promise>SUCCESS</promise>" ;;
no) echo "it cannot be done"; echo "<promise>FAILURE</promise>" ;;
limit) echo "You have hit your limit, resets 5pm" ;;
echo) cat prompt ;;
slow) exec sleep 600 ;;
hold) touch held; while [ ! -e go ]; do sleep 0.01; done; rm held go; echo "went on" ;;
stubborn) trap "" TERM INT; touch held; while :; do sleep 0.1; done ;;
flood) yes flood | head -c 3000000 ;;
leave) setsid sleep 600 > /dev/null 2>&1 &
    (sleep 600 & sleep 600 &) > /dev/null 2>&1; echo "left some" ;;
clear) rm -rf .rooda; echo "all is tidy" ;;
vanish) rm -rf .rooda; touch hanging; while [ ! -e go ]; do sleep 0.01; done; echo "back" ;;
killed) kill -9 $$ ;;
tree) (sleep 600 & sleep 600) & sh -c 'trap "" TERM; sleep 600 & echo $$ > stubborn; wait' &
    while [ ! -e stubborn ]; do sleep 0.01; done
    touch hanging; wait ;;
esac
"""
CONFIG = """\
[iterate]
agent = "script"
[agents.script]
command = ["sh", "agent.sh"]
tries = 1
timeout = {timeout}
grace = {grace}
"""


class Project:
    """A folder in which procedures run by the script."""

    def __init__(self, folder: Path, *words: str, more: str = "", timeout: float = 60) -> None:
        folder.mkdir(exist_ok=True, parents=True)
        self.folder = folder
        (folder / "agent.sh").write_text(AGENT)
        (folder / "pytest-reflex.toml").write_text(CONFIG.format(timeout=timeout, grace=0.5) + more)
        self.plan(*words)

    def plan(self, *words: str) -> None:
        """Say what the script does from now on, call by call."""
        (self.folder / "plan").write_text("".join(f"{word}\n" for word in words))
        (self.folder / "calls.log").unlink(missing_ok=True)

    @property
    def state_file(self) -> Path:
        return self.folder / ".rooda/state/build.json"

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.state_file.read_text("utf-8"))
        return found

    def calls(self) -> list[list[str]]:
        """Return pid and iteration of each call."""
        log = self.folder / "calls.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    def start(self, *argv: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest_reflex", "iterate", *argv],
            cwd=self.folder,
            env=env or dict(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, name: str) -> None:
        wait_until((self.folder / name).exists)

    def go(self) -> None:
        """Let the tool that holds go on."""
        (self.folder / "go").touch()


def left_behind(project: Project, status: str, *, done: int = 5, limit: int = 10) -> None:
    """Write the state file of a run that another program left in its middle."""
    project.state_file.parent.mkdir(parents=True)
    wire = {
        "iteration": done,
        "max_iterations": limit,
        "consecutive_failures": 0,
        "failure_threshold": 3,
        "started_at": "2026-02-06T10:00:00Z",
        "last_iteration_at": "2026-02-06T10:05:32Z",
        "status": status,
        "procedure_name": "build",
        "elapsed_per_iteration": ["54s"] * done,
    }
    project.state_file.write_text(json.dumps(wire))


def told(text: str) -> list[str]:
    """Return log lines without their times."""
    return [re.sub(r"^\[\d\d:\d\d:\d\d\] ", "", line) for line in text.splitlines()]


def untimed(text: str) -> list[str]:
    """Return log lines without any time in them."""
    return [re.sub(r"\b\d+(\.\d)?s\b|\b\d+m\d+s\b", "_", line) for line in told(text)]
