"""The real clients, where they are installed, change files: `--agent NAME` in a fresh folder.

What a run tells of its calls and tokens is compared with what the server counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks_of
from tests.real.clients import CLIENTS, Client
from tests.real.edits import NOTES
from tests.real.faulty import FaultyServer

TWICE = "def twice(n):\n    return n\n"
TESTS = """\
import pytest
from twice import twice

@pytest.mark.reflex_rule(id="a.sums.twice")
def test_twice():
    assert twice(2) == 4
"""


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture(params=[*CLIENTS.values()], ids=[*CLIENTS])
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    if not found.program.exists():
        pytest.skip(f"{found.package} is not installed: make real-{found.name}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that has ended: its exit status, what it told, what the server counted for it."""

    status: int
    told: str
    requests: int
    tokens: int


def run(
    server: FaultyServer, client: Client, folder: Path, mode: str, *argv: str, config: str = ""
) -> Ran:
    """Run a command of ours in a project, with nothing configured but what `config` says."""
    folder.mkdir(exist_ok=True)
    if config:
        (folder / "pytest-reflex.toml").write_text(config)
    environment = client.environment(folder.parent / "home", server.url(mode))
    before = server.requests[mode], server.tokens[mode]
    done = subprocess.run(
        [sys.executable, "-m", *argv],
        cwd=folder,
        env={**environment, "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Ran(
        status=done.returncode,
        told=" ".join(done.stdout.split()),
        requests=server.requests[mode] - before[0],
        tokens=server.tokens[mode] - before[1],
    )


def iterate(
    server: FaultyServer, client: Client, folder: Path, mode: str, *argv: str, config: str = ""
) -> Ran:
    command = ("pytest_reflex", "iterate", *(argv or ("run", "fix-tests")))
    return run(server, client, folder, mode, *command, "--agent", client.name, config=config)


def spent_of(folder: Path) -> dict[str, Any]:
    """Return the spend that the log of the last sitting ends with."""
    log = max((folder / ".rooda/log/fix-tests").iterdir(), key=lambda path: path.stat().st_mtime)
    events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    found: dict[str, Any] = next(e["spend"] for e in reversed(events) if e["event"] == "ended")
    return found


def test_a_client_writes_a_file_in_an_iteration(
    server: FaultyServer, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    ran = iterate(server, client, folder, "writes")
    assert ran.status == 0, ran.told
    assert "Success signal in iteration 1" in ran.told
    assert (folder / "notes.md").read_text() == NOTES
    spent = spent_of(folder)
    assert (spent["calls"], spent["tokens"]) == (1, ran.tokens)
    assert ran.requests == 2


def test_a_client_makes_the_tests_of_a_session_pass(
    server: FaultyServer, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "twice.py").write_text(TWICE)
    (folder / "test_twice.py").write_text(TESTS)
    asked = ("--reflex-loop", "--reflex-artifact=twice.py", f"--reflex-agent={client.name}")
    plain = ("pytest", "-p", "no:cacheprovider", *asked, "--reflex-yes")
    ran = run(server, client, folder, "mends", *plain)
    assert ran.status == 0, ran.told
    assert "return 2 * n" in (folder / "twice.py").read_text()
    run_json = folder / ".ai-factory/evolution/make-the-tests-pass/run.json"
    spend = json.loads(run_json.read_text())["spend"]
    assert (spend["calls"], spend["tokens"]) == (1, ran.tokens)


def test_a_session_whose_client_may_not_edit_stops_before_more_is_paid(
    server: FaultyServer, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "twice.py").write_text(TWICE)
    (folder / "test_twice.py").write_text(TESTS)
    asked = ("--reflex-loop", "--reflex-artifact=twice.py", f"--reflex-agent={client.name}")
    plain = ("pytest", "-p", "no:cacheprovider", *asked, "--reflex-yes")
    ran = run(server, client, folder, "outside", *plain)
    assert ran.status == 2, ran.told
    assert denial_of(client) in ran.told
    run_json = folder / ".ai-factory/evolution/make-the-tests-pass/run.json"
    found = json.loads(run_json.read_text())
    assert (found["status"], found["spend"]["calls"]) == ("running", 1)
    assert found["spend"]["tokens"] == ran.tokens


def denial_of(client: Client) -> str:
    """Return what is told of a file outside the project, which no client may write."""
    return {
        "claude": "claude was not allowed: Write, ",
        "codex": "codex was not allowed: patch rejected: ",
    }[client.name]


def test_an_edit_that_is_not_allowed_ends_a_run_before_more_is_paid(
    server: FaultyServer, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    ran = iterate(server, client, folder, "outside")
    assert ran.status == 9, ran.told
    assert f"Stopped, since {denial_of(client)}" in ran.told
    assert f"(what it may do: edit_options in agents.{client.name})" in ran.told
    assert not (tmp_path / "outside.md").exists()
    state = json.loads((folder / ".rooda/state/fix-tests.json").read_text())
    assert (state["status"], state["iteration"]) == ("interrupted", 0)
    assert (state["spend"]["calls"], state["spend"]["tokens"]) == (1, ran.tokens)
    resumed = iterate(server, client, folder, "writes", "resume", "fix-tests")
    assert resumed.status == 0, resumed.told
    assert (folder / "notes.md").read_text() == NOTES


def settings_of(page: str) -> str:
    """Return the first TOML block of a page, which allows its client more."""
    text = (ROOT / "docs/how-to" / page).read_text("utf-8")
    return next(block.text for block in blocks_of(text) if block.language == "toml")


def test_claude_runs_commands_only_where_a_setting_of_its_page_allows_it(
    server: FaultyServer, tmp_path: Path
) -> None:
    client = CLIENTS["claude"]
    if not client.program.exists():
        pytest.skip(f"{client.package} is not installed: make real-claude")
    folder = tmp_path / "project"
    refused = iterate(server, client, folder, "runs")
    assert refused.status == 9
    assert "claude was not allowed: Bash, " in refused.told
    assert not (folder / "ran.xml").exists()
    config = settings_of("use-claude-code.md")
    allowed = iterate(server, client, folder, "runs", "resume", "fix-tests", config=config)
    assert allowed.status == 0, allowed.told
    assert (folder / "ran.xml").exists()
