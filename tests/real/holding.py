"""A client with our Stop hook in its settings: how often it is held, and when it may go.

Its model claims that everything is done; in one mode it writes a file once it was told twice. What
the server has counted says how often the client went on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.goal.hook_settings import CLIENTS
from tests.real.clients import Client
from tests.real.faulty import FaultyServer

ARGV: Mapping[str, Sequence[str]] = {
    "claude": ("-p", "--output-format", "json", "--permission-mode", "acceptEdits"),
    "codex": (
        *("exec", "--skip-git-repo-check", "--json", "--sandbox", "workspace-write", "--trust"),
        *("--dangerously-bypass-hook-trust", "-"),
    ),
}
STATE = {
    "spec": "write done.txt",
    "criteria": ["done.txt is there"],
    "criteriaStatus": {"done.txt is there": {"met": True, "command": "test -f done.txt"}},
    "exit_signal": True,
}
RESTLESS = {
    "spec": "write done.txt",
    "note": "look 1",
    "criteriaStatus": {
        "it rests": {
            "met": True,
            "command": 'sed -i "s/look [0-9]*/look $(date +%s%N)/" .loop/state.json; false',
        }
    },
    "exit_signal": True,
}
"""A state that is another one at each stop."""
KEEP = "cat >> payloads.jsonl; echo >> payloads.jsonl"
"""Another hook of the same event, which writes down what the client sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A turn of a client: exit status and last answer, what the server counted, and the hooks."""

    status: int
    answer: str
    requests: int
    payloads: list[dict[str, Any]]
    hook: dict[str, Any]


def hold(
    server: FaultyServer,
    client: Client,
    folder: Path,
    mode: str,
    *options: str,
    goal: Mapping[str, Any] | None = STATE,
) -> Held:
    """Run a client in a new project with the hook as `hook install` with options writes it."""
    folder.mkdir(parents=True)
    environment = client.environment(folder.parent / "home", server.url(mode))
    environment["XDG_STATE_HOME"] = str(folder.parent / "state")
    settings = folder / CLIENTS[client.name].project
    settings.parent.mkdir()
    other = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": KEEP}]}]}}
    settings.write_text(json.dumps(other))
    state = folder / ".loop" / "state.json"
    if goal:
        state.parent.mkdir()
        state.write_text(json.dumps(goal))
    install = [sys.executable, "-m", "pytest_reflex", "hook", "install", "--yes"]
    subprocess.run(
        [*install, "--client", client.name, *options],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    before = server.requests[mode]
    done = subprocess.run(
        [str(client.program), *ARGV[client.name]],
        cwd=folder,
        env=environment,
        input="Write done.txt.",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    lines = (folder / "payloads.jsonl").read_text().splitlines()
    return Held(
        status=done.returncode,
        answer=_answer(done.stdout),
        requests=server.requests[mode] - before,
        payloads=[json.loads(line) for line in lines if line.strip()],
        hook=json.loads(state.read_text())["hook"] if goal else {},
    )


def _answer(output: str) -> str:
    """Return the last thing that a client says, of one document or of lines of them."""
    last = ""
    for line in output.splitlines():
        wire = json.loads(line)
        last = wire.get("result") or wire.get("item", {}).get("text") or last
    return last


def show(client: Client, folder: Path) -> bool:
    """Hold a client until its criterion is met, and one that never meets it; print the counts."""
    with FaultyServer() as server:
        met = hold(server, client, folder / "met" / "project", "done-when-told-twice")
        never = hold(server, client, folder / "never" / "project", "never-done")
        cap = hold(server, client, folder / "cap" / "project", "never-done", "--max-blocks", "3")
    for name, one in {"met at last": met, "never met": never, "at most 3": cap}.items():
        print(
            f"{name}: {one.requests} requests to the server, {one.hook['blocks']} times held, "
            f"then let go: {one.hook['last']['why']}; exit status {one.status}"
        )
    counts = [(one.requests, one.hook["blocks"]) for one in (met, never, cap)]
    return counts == [(4, 2), (6, 5), (4, 3)]
