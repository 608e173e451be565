"""The real clients, where they are installed, against a server that refuses and breaks off.

What they are told as is compared with what the server knows: the kind of fault, and the tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.cli.main import main
from pytest_reflex.model.steps import Question
from tests.real.clients import CLIENTS
from tests.real.faulty import FaultyServer, text_of
from tests.real.test_editing import spent_of

LIMIT = "the tool ran into a limit: "
EXIT = "it left with exit status 1: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What has to come of a mode; `billed` where the tokens are known to the client.

    `requests` is how many the server counts in an iteration, with those of the client's own tries.
    """

    error: str = ""
    limited: bool = False
    billed: bool = True
    may_edit: bool = False
    contract: str = ""
    denied: str = ""
    requests: int = 1


FATES: dict[str, dict[str, Fate]] = {
    "claude": {
        "works": Fate(),
        "large-180": Fate(),
        "large-500": Fate(),
        "structured": Fate(contract="plan", requests=2),
        "writes": Fate(may_edit=True, requests=2),
        "mends": Fate(may_edit=True, requests=3),
        "outside": Fate(may_edit=True, denied="Write, ", requests=2),
        "runs": Fate(may_edit=True, denied="Bash, pytest --junitxml=ran.xml", requests=2),
        "too-long": Fate(error=EXIT + "API Error: Claude's response exceeded", requests=4),
        "rate-limit": Fate(
            error=LIMIT + "API Error: Request rejected (429)", limited=True, requests=2
        ),
        "overloaded": Fate(error=LIMIT + "API Error: ", limited=True, requests=2),
        "no-credit": Fate(error=LIMIT + "Credit balance is too low", limited=True),
        "wrong-key": Fate(error=EXIT + "Invalid API key", requests=2),
        "forbidden": Fate(error=EXIT + "Failed to authenticate."),
        "server-error": Fate(error=EXIT + "API Error: 500 Internal server error.", requests=2),
        "overloaded-in-stream": Fate(
            error=LIMIT + "API Error: Repeated 529 Overloaded", limited=True, requests=3
        ),
        "limit-in-stream": Fate(
            error=LIMIT + "API Error: Request rejected (429)", limited=True, requests=3
        ),
        "cut": Fate(error=EXIT + "API Error: 500 Internal server error.", requests=3),
        "down": Fate(error=EXIT + "API Error: Unable to connect to API", requests=0),
    },
    "codex": {
        "works": Fate(contract="plan"),
        "large-180": Fate(),
        "large-500": Fate(),
        "writes": Fate(may_edit=True, requests=2),
        "mends": Fate(may_edit=True, requests=2),
        "outside": Fate(
            may_edit=True, denied="patch rejected: writing outside of the project; ", requests=2
        ),
        "runs": Fate(may_edit=True, requests=2),
        "rate-limit": Fate(error=LIMIT + "exceeded retry limit", limited=True, billed=False),
        "usage-limit": Fate(error=LIMIT + "You\u2019ve hit your", limited=True, billed=False),
        "quota": Fate(error=LIMIT + "Quota exceeded.", limited=True, billed=False),
        "limit-in-stream": Fate(
            error=LIMIT + "stream disconnected before completion: You",
            limited=True,
            billed=False,
            requests=6,
        ),
        "rate-limit-in-stream": Fate(
            error=LIMIT + "rate limit", limited=True, billed=False, requests=6
        ),
        "at-capacity": Fate(error=LIMIT + "Selected model is at", limited=True, billed=False),
        "wrong-key": Fate(error=EXIT + "unexpected status 401", billed=False, requests=6),
        "no-model": Fate(error=EXIT + "No such model", billed=False),
        "cut": Fate(
            error=EXIT + "stream disconnected before completion:", billed=False, requests=6
        ),
    },
}
STRUCTURED = {"schema_options": ["--json-schema", "{schema}"]}
ROWS = [(client, mode) for client, modes in FATES.items() for mode in modes]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture
def begin(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], tuple[int, int]]:
    """Lead a client to the server in a fresh folder; return what the server has counted so far."""

    def lead(name: str, mode: str) -> tuple[int, int]:
        client = CLIENTS[name]
        if not client.program.exists():
            pytest.skip(f"{client.package} is not installed: make real-{name}")
        url = "http://127.0.0.1:9" if mode == "down" else server.url(mode)
        environment = client.environment(tmp_path / "home", url)
        for key, value in {**environment, "CLAUDE_CODE_MAX_RETRIES": "1"}.items():
            monkeypatch.setenv(key, value)
        for folder in ("project", "tmp"):
            (tmp_path / folder).mkdir()
        # Where Claude Code keeps files of its own.
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        monkeypatch.chdir(tmp_path / "project")
        (tmp_path / "project/twice.py").write_text("def twice(n):\n    return n\n")
        return server.requests[mode], server.tokens[mode]

    return lead


def test_the_table_has_rows_for_all_that_may_happen() -> None:
    assert len(ROWS) >= 25


@pytest.mark.parametrize(("name", "mode"), ROWS, ids=[f"{c}: {m}" for c, m in ROWS])
def test_a_real_client_is_read_as_the_server_knows_it(
    server: FaultyServer, begin: Callable[[str, str], tuple[int, int]], name: str, mode: str
) -> None:
    fate, (_, before) = FATES[name][mode], begin(name, mode)
    question = Question(
        prompt="Plan.", verbatim=True, may_edit=fate.may_edit, contract=fate.contract
    )
    table = {"tries": 1, **(STRUCTURED if mode == "structured" else {})}
    reply = agent_from_table(name, table).ask(question)
    assert reply.error[: len(fate.error)] == fate.error
    assert bool(reply.error) == bool(fate.error)
    assert fate.error or json_or_text(reply.text) == json_or_text(text_of(mode))
    assert reply.details.get("limited", False) is fate.limited
    denied = reply.details.get("denied", "")
    assert denied.startswith(f"{name} was not allowed: {fate.denied}" if fate.denied else "")
    assert bool(denied) == bool(fate.denied)
    assert reply.tokens == (server.tokens[mode] - before if fate.billed else None)


def json_or_text(text: str) -> object:
    """Return an answer as what it says: JSON may be spaced in another way."""
    return json.loads(text) if text.strip().startswith("{") else text.strip()


@pytest.mark.parametrize(("name", "mode"), ROWS, ids=[f"{c}: {m}" for c, m in ROWS])
def test_a_run_tells_what_happened_and_is_left_as_it_has_to_be(
    server: FaultyServer,
    begin: Callable[[str, str], tuple[int, int]],
    capsys: pytest.CaptureFixture[str],
    name: str,
    mode: str,
) -> None:
    fate, (requests, tokens) = FATES[name][mode], begin(name, mode)
    Path("pytest-reflex.toml").write_text(f"[agents.{name}]\ntries = 1\n")
    bounds = ("--failure-threshold", "1", "-n", "1")
    status = main(["iterate", "run", "fix-tests", "--agent", name, *bounds])
    told = " ".join(capsys.readouterr().err.split())
    assert seen(name, fate) in told
    assert (status, left()) == end_of(fate)
    spent = spent_of(Path.cwd())
    assert spent["calls"] == 1
    assert spent["tokens"] == (server.tokens[mode] - tokens if fate.billed else None)
    assert server.requests[mode] - requests == fate.requests


def seen(name: str, fate: Fate) -> str:
    """Return what a person reads of a fate."""
    if fate.denied:
        return f"ERROR: Stopped, since {name} was not allowed: {fate.denied}"
    return fate.error.removeprefix(LIMIT).removeprefix(EXIT) or "Iteration 1/1 completed in"


def end_of(fate: Fate) -> tuple[int, str]:
    """Return the exit status of a run, and the status of its state."""
    if fate.denied or fate.limited:
        return 9, "interrupted"
    return (16, "aborted") if fate.error else (0, "")


def left() -> str:
    """Return the status in the state file, empty where there is none."""
    path = Path(".rooda/state/fix-tests.json")
    return str(json.loads(path.read_text())["status"]) if path.exists() else ""
