"""What the real clients printed, played again: the answer, what was paid, and what was in the way.

`recorded/` holds the output of Claude Code 2.1.197 and of Codex 0.171 as they came, against a model
server that answered with cached tokens, refused, or broke off; ids of sessions are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.model.steps import Question, Reply
from tests.agents.played import PLAN, Played, install

RECORDED = Path(__file__).parent / "recorded"
PAID = 25_247  # what the server said: 7 new, 1,200 into and 24,000 from the cache, 40 out
PRICE = 0.020534999999999998


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What has to come of a recording; `wait` is whether it is worth one.

    `denied` is what the client was not allowed to do, `text` what it answered.
    """

    error: str = ""
    usd: float | None = None
    tokens: int | None = None
    limited: bool = False
    wait: bool = True
    exit: int = 1
    denied: str = ""
    text: str = PLAN


DONE = "Nothing is left to do.\n\n<promise>SUCCESS</promise>"
EDITED: dict[str, Any] = {"text": DONE, "exit": 0}
CODEX_429 = "exceeded retry limit, last status: 429 Too Many Requests"
LIMIT = "the tool ran into a limit: "
HEARD: dict[str, Heard] = {
    "claude-answer": Heard(usd=PRICE, tokens=PAID, exit=0),
    "claude-structured": Heard(usd=PRICE, tokens=PAID, exit=0, text='{"plan":["a","b","c"]}'),
    "claude-edit": Heard(usd=3 * PRICE, tokens=3 * PAID, **EDITED),
    "claude-edit-denied": Heard(
        usd=2 * PRICE, tokens=2 * PAID, denied="Write, /home/you/outside.md", **EDITED
    ),
    "claude-command-denied": Heard(
        usd=2 * PRICE, tokens=2 * PAID, denied="Bash, pytest --junitxml=ran.xml", **EDITED
    ),
    "claude-answer-asked-twice": Heard(usd=PRICE, tokens=PAID, exit=0),
    "claude-too-long": Heard(
        error="it left with exit status 1: API Error: Claude's response exceeded the 64000 output",
        usd=0.08213999999999999,
        tokens=4 * PAID,
    ),
    "claude-declined": Heard(
        error="it left with exit status 1: API Error: Claude Code is unable to respond",
        usd=PRICE,
        tokens=PAID,
    ),
    "claude-refused": Heard(
        error=LIMIT + "API Error: Request rejected (429)", usd=0, tokens=0, limited=True
    ),
    "claude-overloaded": Heard(
        error=LIMIT + "API Error: 529 Overloaded. This is", usd=0, tokens=0, limited=True
    ),
    "claude-overloaded-repeatedly": Heard(
        error=LIMIT + "API Error: Repeated 529 Overloaded errors. The API is at capacity",
        usd=0,
        tokens=0,
        limited=True,
    ),
    "claude-no-credit": Heard(
        error=LIMIT + "Credit balance is too low", usd=0, tokens=0, limited=True, wait=False
    ),
    "claude-wrong-key": Heard(error="it left with exit status 1: Invalid API key", usd=0, tokens=0),
    "claude-forbidden": Heard(
        error="it left with exit status 1: Failed to authenticate.", usd=0, tokens=0
    ),
    "claude-server-down": Heard(
        error="it left with exit status 1: API Error: Unable to connect to API", usd=0, tokens=0
    ),
    "claude-server-error": Heard(
        error="it left with exit status 1: API Error: 500 Internal server error.", usd=0, tokens=0
    ),
    "codex-answer": Heard(tokens=25_040, exit=0),
    "codex-edit": Heard(tokens=2 * 25_040, **EDITED),
    "codex-edit-denied": Heard(
        tokens=2 * 25_040,
        denied="patch rejected: writing outside of the project; rejected by user approval settings",
        **EDITED,
    ),
    "codex-read-only": Heard(
        tokens=2 * 25_040,
        denied="patch rejected: writing is blocked by read-only sandbox; rejected by user approval"
        " settings",
        **EDITED,
    ),
    "codex-command": Heard(tokens=2 * 25_040, **EDITED),
    "codex-refused": Heard(error=LIMIT + CODEX_429, limited=True),
    "codex-usage-limit": Heard(
        error=LIMIT + "You\u2019ve hit your usage limit. Upgrade to Pro", limited=True
    ),
    "codex-usage-limit-in-stream": Heard(
        error=LIMIT + "stream disconnected before completion: You\u2019ve hit", limited=True
    ),
    "codex-usage-limit-with-date": Heard(
        error=LIMIT + "stream disconnected before completion: You've hit your usage", limited=True
    ),
    "codex-rate-limit-in-stream": Heard(
        error=LIMIT + "rate limit exceeded: Rate limit reached for gpt-5.", limited=True
    ),
    "codex-at-capacity": Heard(error=LIMIT + "Selected model is at capacity.", limited=True),
    "codex-quota": Heard(error=LIMIT + "Quota exceeded. Check your plan", limited=True, wait=False),
    "codex-wrong-key": Heard(
        error="it left with exit status 1: unexpected status 401 Unauthorized: Incorrect API key"
    ),
    "codex-stream-cut": Heard(
        error="it left with exit status 1: stream disconnected before completion: stream closed"
    ),
}


def play(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, heard: Heard
) -> tuple[Reply, list[str]]:
    """Ask the preset of a client that prints a recording; return also what was reported
    meanwhile.
    """
    client = name.partition("-")[0]
    text = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8")
    log = RECORDED / f"{name}.stderr"
    stderr = log.read_text(encoding="utf-8") if log.exists() else ""
    file = heard.text if client == "codex" and not heard.error else None
    install(folder, client, Played(stdout=text, stderr=stderr, exit=heard.exit, file=file))
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    told: list[str] = []
    agent = agent_from_table(client, {"tries": 1})
    return agent.ask(Question(prompt="?", tell=told.append)), told


def test_every_recording_is_played() -> None:
    assert {path.stem for path in RECORDED.iterdir()} == set(HEARD)
    assert all(path.with_suffix(".jsonl").exists() for path in RECORDED.iterdir())


@pytest.mark.parametrize("name", HEARD)
def test_a_recording_is_read_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    heard = HEARD[name]
    reply, _ = play(tmp_path, monkeypatch, name, heard)
    assert reply.error[: len(heard.error)] == heard.error
    assert (reply.text == heard.text) is not bool(heard.error)
    assert reply.usd == (None if heard.usd is None else pytest.approx(heard.usd))
    assert reply.tokens == heard.tokens
    denied = reply.details.get("denied", "")
    wanted = f"was not allowed: {heard.denied} (what it may do: answer_options in agents."
    assert (wanted in denied) is bool(heard.denied)
    assert bool(denied) is bool(heard.denied)
    assert reply.details.get("limited", False) is heard.limited
    assert reply.details.get("no_wait", False) is not heard.wait


TOLD = {
    "claude-wrong-key": ["claude: the tool tries again by itself: 401 authentication_failed"],
    "claude-server-down": ["claude: the tool tries again by itself: unknown"],
    "claude-overloaded-repeatedly": ["claude: the tool tries again by itself: 529 overloaded"],
    "claude-answer": [],
    "codex-answer": [],
}


@pytest.mark.parametrize("name", TOLD)
def test_a_client_that_tries_again_by_itself_is_told_once_for_each_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert play(tmp_path, monkeypatch, name, HEARD[name])[1] == TOLD[name]


def test_codex_that_reconnects_is_told_with_what_it_was_refused_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, told = play(tmp_path, monkeypatch, "codex-wrong-key", HEARD["codex-wrong-key"])
    assert len(told) == 1
    assert "Reconnecting... 1/5 (unexpected status 401 Unauthorized" in told[0]
