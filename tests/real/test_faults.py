"""The real clients, where they are installed, against a server that refuses and breaks off.

What they are told as is compared with what the server knows: the kind of fault, and the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.model.steps import Question
from tests.real.clients import CLIENTS
from tests.real.faulty import FaultyServer, text_of

LIMIT = "the tool ran into a limit: "
EXIT = "it left with exit status 1: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What has to come of a mode; `billed` where the tokens are known to the client."""

    error: str = ""
    limited: bool = False
    billed: bool = True


FATES: dict[str, dict[str, Fate]] = {
    "claude": {
        "works": Fate(),
        "large-180": Fate(),
        "large-500": Fate(),
        "too-long": Fate(error=EXIT + "API Error: Claude's response exceeded"),
        "rate-limit": Fate(error=LIMIT + "API Error: Request rejected (429)", limited=True),
        "overloaded": Fate(error=LIMIT + "API Error: ", limited=True),
        "no-credit": Fate(error=LIMIT + "Credit balance is too low", limited=True),
        "wrong-key": Fate(error=EXIT + "Invalid API key"),
        "forbidden": Fate(error=EXIT + "Failed to authenticate."),
        "server-error": Fate(error=EXIT + "API Error: 500 Internal server error."),
        "down": Fate(error=EXIT + "API Error: Unable to connect to API"),
    },
    "codex": {
        "works": Fate(),
        "large-180": Fate(),
        "large-500": Fate(),
        "rate-limit": Fate(error=LIMIT + "exceeded retry limit", limited=True, billed=False),
        "usage-limit": Fate(error=LIMIT + "You\u2019ve hit your", limited=True, billed=False),
        "quota": Fate(error=LIMIT + "Quota exceeded.", limited=True, billed=False),
        "limit-in-stream": Fate(
            error=LIMIT + "stream disconnected before completion: You", limited=True, billed=False
        ),
        "rate-limit-in-stream": Fate(error=LIMIT + "rate limit", limited=True, billed=False),
        "at-capacity": Fate(error=LIMIT + "Selected model is at", limited=True, billed=False),
        "wrong-key": Fate(error=EXIT + "unexpected status 401", billed=False),
        "no-model": Fate(error=EXIT + "No such model", billed=False),
        "cut": Fate(error=EXIT + "stream disconnected before completion:", billed=False),
    },
}
ROWS = [(client, mode) for client, modes in FATES.items() for mode in modes]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.mark.parametrize(("name", "mode"), ROWS, ids=[f"{c}: {m}" for c, m in ROWS])
def test_a_real_client_is_read_as_the_server_knows_it(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: str
) -> None:
    client, fate = CLIENTS[name], FATES[name][mode]
    if not client.program.exists():
        pytest.skip(f"{client.package} is not installed: make real-{name}")
    url = "http://127.0.0.1:9" if mode == "down" else server.url(mode)
    environment = client.environment(tmp_path / "home", url)
    for key, value in {**environment, "CLAUDE_CODE_MAX_RETRIES": "1"}.items():
        monkeypatch.setenv(key, value)
    for folder in ("project", "tmp"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))  # where Claude Code keeps files of its own
    monkeypatch.chdir(tmp_path / "project")
    before = server.tokens[mode]
    reply = agent_from_table(name, {"tries": 1}).ask(Question(prompt="Plan.", verbatim=True))
    assert reply.error[: len(fate.error)] == fate.error
    assert bool(reply.error) == bool(fate.error)
    assert fate.error or reply.text.strip() == text_of(mode).strip()
    assert reply.details.get("limited", False) is fate.limited
    assert reply.tokens == (server.tokens[mode] - before if fate.billed else None)
