"""The real Claude Code, where it is installed, is held by our Stop hook as often as it may be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hook.desk import RECORDED
from tests.real.clients import CLAUDE
from tests.real.edits import CLAIM
from tests.real.faulty import FaultyServer
from tests.real.holding import hold

pytestmark = pytest.mark.skipif(
    not CLAUDE.program.exists(), reason=f"{CLAUDE.package} is not installed: make real-claude"
)
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


def test_it_is_held_until_the_criterion_is_met(server: FaultyServer, tmp_path: Path) -> None:
    held = hold(server, CLAUDE, tmp_path / "project", "done-when-told-twice")
    assert (held.requests, held.status) == (4, 0)
    assert (held.answer["result"], held.answer["is_error"]) == (CLAIM, False)
    assert (held.hook["blocks"], held.hook["last"]["why"]) == (2, "the goal is reached")
    active = [one["stop_hook_active"] for one in held.payloads]
    assert active == [False, True, True]
    assert {one["session_id"] for one in held.payloads} == {held.hook["session"]}
    assert all(one.keys() >= RECORDED.keys() - {"effort"} for one in held.payloads)


@pytest.mark.parametrize(
    ("options", "blocks", "why"),
    [
        ((), 5, "nothing changes any more"),
        (("--max-blocks", "3"), 3, "it was held as often as it may be"),
    ],
)
def test_it_is_let_go_at_the_cap(
    server: FaultyServer, tmp_path: Path, options: tuple[str, ...], blocks: int, why: str
) -> None:
    held = hold(server, CLAUDE, tmp_path / "project", "never-done", *options)
    assert (held.requests, held.status) == (blocks + 1, 0)
    assert (held.answer["result"], held.answer["is_error"]) == (CLAIM, False)
    assert (held.hook["blocks"], held.hook["last"]["why"]) == (blocks, why)


def test_it_is_held_by_criteria_alone(server: FaultyServer, tmp_path: Path) -> None:
    path = tmp_path / "criteria.yaml"
    path.write_text(CRITERIA)
    options = ("--criteria", str(path), "--artifact", "done.txt")
    mode = "done-when-told-twice"
    held = hold(server, CLAUDE, tmp_path / "project", mode, *options, goal=False)
    assert (held.requests, held.status) == (4, 0)
    assert len(held.payloads) == 3
