"""The real clients, where they are installed, are held by our Stop hook as often as it may be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reflex.drivers.goal.hook_settings import CLIENTS as HOOKED
from tests.hook.desk import RECORDED
from tests.real.clients import CLIENTS, Client
from tests.real.edits import CLAIM
from tests.real.faulty import FaultyServer
from tests.real.holding import RESTLESS, hold

KEYS = {"session_id", "cwd", "hook_event_name", "stop_hook_active", "last_assistant_message"}
CRITERIA = """\
name: done
version: 1
rules:
  - {id: a.x.done, description: says done, severity: fail, check: {type: content, search: done}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture(params=HOOKED)
def client(request: pytest.FixtureRequest) -> Client:
    found = CLIENTS[request.param]
    if not found.program.exists():
        pytest.skip(f"{found.package} is not installed: make real-{found.name}")
    return found


def test_it_is_held_until_the_criterion_is_met(
    server: FaultyServer, client: Client, tmp_path: Path
) -> None:
    held = hold(server, client, tmp_path / "project", "done-when-told-twice")
    assert (held.requests, held.status) == (4, 0)
    assert held.answer == CLAIM
    assert (held.hook["blocks"], held.hook["last"]["why"]) == (2, "the goal is reached")
    active = [one["stop_hook_active"] for one in held.payloads]
    assert active == [False, True, True]
    assert {one["session_id"] for one in held.payloads} == {held.hook["session"]}
    assert all(one.keys() >= KEYS and RECORDED.keys() >= KEYS for one in held.payloads)


@pytest.mark.parametrize(
    ("options", "blocks", "why"),
    [
        ((), 5, "nothing changes any more"),
        (("--max-blocks", "3"), 3, "it was held as often as it may be"),
    ],
)
def test_it_is_let_go_at_the_cap(
    server: FaultyServer,
    client: Client,
    tmp_path: Path,
    options: tuple[str, ...],
    blocks: int,
    why: str,
) -> None:
    held = hold(server, client, tmp_path / "project", "never-done", *options)
    assert (held.requests, held.status) == (blocks + 1, 0)
    assert held.answer == CLAIM
    assert (held.hook["blocks"], held.hook["last"]["why"]) == (blocks, why)


def test_it_is_held_by_criteria_alone(server: FaultyServer, client: Client, tmp_path: Path) -> None:
    path = tmp_path / "criteria.yaml"
    path.write_text(CRITERIA)
    options = ("--criteria", str(path), "--artifact", "done.txt")
    mode = "done-when-told-twice"
    held = hold(server, client, tmp_path / "project", mode, *options, goal=None)
    assert (held.requests, held.status) == (4, 0)
    assert len(held.payloads) == 3


@pytest.mark.parametrize(("options", "blocks"), [((), 8), (("--max-blocks", "12"), 12)])
def test_b091_it_is_let_go_with_its_own_answer_unless_the_cap_is_above_its_own(
    server: FaultyServer,
    client: Client,
    tmp_path: Path,
    options: tuple[str, ...],
    blocks: int,
) -> None:
    held = hold(server, client, tmp_path / "project", "never-done", *options, goal=RESTLESS)
    overruled = client.name == "claude" and blocks > 8
    assert held.requests == (9 if overruled else blocks + 1)
    assert held.answer == ("" if overruled else CLAIM)
    assert held.hook["blocks"] == (9 if overruled else blocks)
    assert held.status == 0
