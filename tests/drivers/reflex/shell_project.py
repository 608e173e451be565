"""A project folder whose loop is driven by the command line and answered by a shell script.

The script and what it does lie beside the project: nothing but the deed of a test is in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main

AGENT = """\
case $PYTEST_REFLEX_STEP in
PLAN) echo '{"plan": ["one", "two", "three"]}' ;;
PRODUCE) echo "alpha" ;;
CRITIQUE)
    echo '{"issues": [{"rule_id": "a.x.holds", "problem": "p", "fix_instruction": "f",'
    echo ' "expected_effect": "e"}]}' ;;
REFINE) echo "alpha and more" ;;
esac
if [ "$PYTEST_REFLEX_STEP" = STEP ] && [ ! -e "HERE/done" ]; then
    : > "HERE/done"
    "PYTHON" -S -E "HERE/deed.py" >&2 || echo the deed failed >&2
    AFTER
fi
"""
DEED = """\
import os, shutil, subprocess, sys
from pathlib import Path

def write(path, text, mode=0o644):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)

"""
ALIAS = "run"
RUN = f".ai-factory/evolution/{ALIAS}"
SAYS_BETA = f"grep -q beta {RUN}/artifact.md"


class ShellProject:
    """A loop over one rule; `checks` are the commands of its checks, all of which must pass."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.beside = folder / "project", folder / "beside"
        self.folder.mkdir()
        self.beside.mkdir()
        monkeypatch.chdir(self.folder)
        self._monkeypatch = monkeypatch

    def put(self, files: Mapping[str, str]) -> None:
        """Write files by path, relative to the project; one that begins with #! can be executed."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if text.startswith("#!") else 0o644)

    def judge_by(
        self, *checks: Mapping[str, Any], iterations: int = 2, plugins: Iterable[str] = ()
    ) -> None:
        """Write the criteria and the configuration; PYTHON in a command is this interpreter."""
        rules = [
            {
                "id": f"a.x.holds{number or ''}",
                "description": "it holds",
                "severity": "fail",
                "check": {"type": "executable", "timeout": 60, **check},
            }
            for number, check in enumerate(checks)
        ]
        text = json.dumps({"name": "words", "rules": rules}).replace("PYTHON", sys.executable)
        (self.folder / "words.yaml").write_text(text)
        command = json.dumps(["sh", str(self.beside / "agent.sh")])
        (self.folder / "pytest-reflex.toml").write_text(
            f'agent = "script"\nplugins = {json.dumps(list(plugins))}\n'
            f'[loop]\nevaluator = "core"\nmax_iterations = {iterations}\n'
            f"[agents.script]\ncommand = {command}\n"
        )

    def let_the_agent(self, deed: str, step: str = "PRODUCE", after: str = "") -> None:
        """Let the agent run a deed (Python) once, in its first call of a step."""
        agent = AGENT.replace("HERE", str(self.beside)).replace("PYTHON", sys.executable)
        agent = agent.replace("= STEP", f"= {step}").replace("AFTER", after or ":")
        (self.beside / "agent.sh").write_text(agent)
        (self.beside / "deed.py").write_text(DEED + deed)

    def search_first(self, folders: Iterable[str]) -> None:
        """Put folders, relative to the project or absolute, in front of PATH."""
        self._monkeypatch.setenv("PATH", os.pathsep.join([*folders, os.environ["PATH"]]))

    def new(self, *more: str) -> int:
        words = ["say it", "--alias", ALIAS, "--criteria", "words.yaml", "--yes"]
        return main(["loop", "new", *words, *more])

    def new_process(self) -> int:
        """Start the loop in a process of its own, which the agent may kill."""
        words = ["say it", "--alias", ALIAS, "--criteria", "words.yaml", "--yes"]
        argv = [sys.executable, "-m", "pytest_reflex", "loop", "new", *words]
        return subprocess.run(argv, cwd=self.folder, capture_output=True, timeout=60).returncode

    def resume(self, *more: str) -> int:
        return main(["loop", "resume", ALIAS, *more])

    def stop(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / RUN / "run.json").read_text("utf-8"))
        stop: dict[str, Any] = found["stop"]
        return stop
