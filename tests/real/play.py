"""Run loops as a user does, in processes of their own, and read what they left behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.artifacts import stable_events
from pytest_reflex.drivers.reflex.history import read_events
from pytest_reflex.model.events import Event
from pytest_reflex.storage.journal import read_journal

ALIAS, TASK = "readme", "A README for tidy"
CRITERIA = Path(__file__).parent / "criteria.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A loop that ran in `project`: its exit status, and what it told."""

    project: Path
    status: int
    told: str

    @property
    def run(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self._folder / "run.json").read_text("utf-8"))
        return found

    @property
    def artifact(self) -> str:
        return (self._folder / "artifact.md").read_text("utf-8")

    @property
    def events(self) -> list[Event]:
        path = self._folder / "history.jsonl"
        return read_events(path, read_journal(path).records)[0]

    @property
    def log(self) -> list[dict[str, Any]]:
        """The event log without the clock and the machine: equal in equal runs."""
        return stable_events(self.events, self.project)

    @property
    def _folder(self) -> Path:
        return self.project / ".ai-factory" / "evolution" / ALIAS


def play(
    project: Path, environment: Mapping[str, str], *flags: str, criteria: Path = CRITERIA
) -> Played:
    """Run a loop in a new folder with a whole environment."""
    project.mkdir(parents=True)
    shutil.copy(criteria, project / "criteria.yaml")
    command = [sys.executable, "-m", "pytest_reflex", "loop", "new", TASK, "--alias", ALIAS]
    done = subprocess.run(
        [*command, "--criteria", "criteria.yaml", "--yes", *flags],
        cwd=project,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Played(project=project, status=done.returncode, told=done.stdout)


def iterate(
    project: Path, environment: Mapping[str, str], *flags: str
) -> subprocess.CompletedProcess[str]:
    """Run at most four rounds of a built-in procedure in a new folder."""
    project.mkdir(parents=True)
    return subprocess.run(
        [sys.executable, "-m", "pytest_reflex", "iterate", "run", "fix-tests", "-n", "4", *flags],
        cwd=project,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
