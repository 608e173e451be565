"""The example of a flow in a repository of its own, with a real client in every role.

What the run says that it spent stands beside what the server counted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.flow.messages import Boundary, read
from tests.real.clients import ROOT, Client
from tests.real.faulty import FaultyServer

TASK = "Correct the prices"
_EXAMPLE = ROOT / "examples/flow/red-to-green"
_IGNORED = shutil.ignore_patterns("agent.py", "pytest-reflex.toml", "__pycache__")
_YOU = {"user.name": "You", "user.email": "you@example.org"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flowed:
    """A sitting of a flow: its exit status, what it told, and what the server counted for it.

    `answers` are the conversations that came to their end, by model.
    """

    folder: Path
    status: int
    told: str
    requests: int
    tokens: int
    answers: Mapping[str, int]

    @property
    def commits(self) -> list[Boundary]:
        """The boundaries of the run's branch, the oldest first."""
        log = git(self.folder, "log", "--reverse", "-z", "--format=%B", "main..HEAD")
        return [one for text in log.split("\0") if text and (one := read(text))]

    @property
    def spend(self) -> dict[str, Any]:
        """What the run has spent in all its sittings."""
        (path,) = (self.folder / ".pytest-reflex/runs/flow").glob("*.json")
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))["spend"]
        return found


def git(folder: Path, *argv: str) -> str:
    done = subprocess.run(["git", *argv], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def prepare(folder: Path) -> None:
    """Make a repository of the example without its scripted agent, and without a configuration."""
    shutil.copytree(_EXAMPLE, folder, ignore=_IGNORED)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for key, value in _YOU.items():
        git(folder, "config", key, value)
    commit(folder)


def commit(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=A shop with wrong prices")


def flow(server: FaultyServer, client: Client, folder: Path, mode: str, *argv: str) -> Flowed:
    """Run or resume the flow of a repository, with a home in which nothing is configured."""
    environment = client.environment(folder.parent / "home", server.url(mode))
    path = f"{Path(sys.executable).parent}:{environment['PATH']}"
    requests, tokens = server.requests[mode], server.tokens[mode]
    answers = server.answers[mode].copy()
    done = subprocess.run(
        [sys.executable, "-m", "pytest_reflex", "flow", *argv],
        cwd=folder,
        env={**environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Flowed(
        folder=folder,
        status=done.returncode,
        told=done.stdout,
        requests=server.requests[mode] - requests,
        tokens=server.tokens[mode] - tokens,
        answers=server.answers[mode] - answers,
    )


def show(client: Client, folder: Path) -> bool:
    """Run the example with a client, print what became of it; return whether all of it fits."""
    project = folder / "flow"
    prepare(project)
    with FaultyServer() as server:
        flowed = flow(server, client, project, "flow", "run", TASK, "--agent", client.name)
    print(flowed.told)
    for one in flowed.commits:
        print(f"commit of level {one.level}: [{one.label}] {one.path}, {one.status}")
    spend, answers = flowed.spend, sum(flowed.answers.values())
    print(f"exit status {flowed.status}")
    print(f"calls: {spend['calls']}, and {answers} conversations that the server has answered")
    print(f"tokens: {spend['tokens']}, and {flowed.tokens} in the {flowed.requests} answers of it")
    equal = (spend["calls"], spend["tokens"]) == (answers, flowed.tokens)
    print(f"the same: {'yes' if equal else 'NO'}")
    return flowed.status == 0 and equal and {one.level for one in flowed.commits} == {0, 1}
