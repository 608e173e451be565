"""The rows of the decision table, each by a payload as it was recorded and a state by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hook.desk import MINE, OTHER, PAYLOADS, Desk, goal


def without_cwd(client: str) -> dict[str, Any]:
    """Return what a client sent, but for its folder: that is the project of the test."""
    return {key: value for key, value in PAYLOADS[client].items() if key != "cwd"}


HELD = {
    "one is not met": ({"a": True, "b": False}, {"exit_signal": True}, "- b: not shown yet"),
    "none is met": ({"a": False}, {}, "1 of 1 criteria are not met"),
    "an object": ({"a": {"met": False, "evidence": "red"}}, {}, "- a: red"),
    "an object and a kind of proof": (
        {"a": {"met": False, "verification": "measurement"}}, {}, "measurement is needed"),
    "an assumption": (
        {"a": {"met": True, "verification": "assumption"}}, {"exit_signal": True}, "assumed"),
    "empty": ({}, {"exit_signal": True}, "no criteria"),
    "empty, but named": ({}, {"criteria": ["a"], "exit_signal": True}, "- a: not shown yet"),
    "a boolean": (True, {"criteria": ["a"], "exit_signal": True}, "criteriaStatus is not an"),
    "a list": (["a"], {"exit_signal": True}, "no criteria"),
    "a text": ("all met", {"criteria": ["a"], "exit_signal": True}, "is not an object"),
    "null": (None, {"criteria": ["a"], "exit_signal": True}, "is not an object"),
    "a word for true": ({"a": "true"}, {"exit_signal": True}, "no boolean"),
    "a number for true": ({"a": 1}, {"exit_signal": True}, "no boolean"),
    "met is a word": ({"a": {"met": "yes"}}, {"exit_signal": True}, "- a: not shown"),
    "no exit signal": ({"a": True, "b": {"met": True}}, {}, "`exit_signal`"),
    "four times stuck": ({"a": False}, {"circuitBreaker": {"stuckCount": 4}}, "- a"),
    "its own session": ({"a": False}, {"id": MINE}, "- a"),
    "its own session, as others name it": ({"a": False}, {"session_id": MINE}, "- a"),
    "the session that the hook stored": ({"a": False}, {"hook": {"session": MINE}}, "- a"),
}  # fmt: skip
LET_GO = {
    "both conditions": ({"a": True, "b": {"met": True}}, {"exit_signal": True}, "is reached"),
    "completed": ({"a": False}, {"status": "completed"}, ""),
    "cancelled": ({"a": False}, {"status": "cancelled"}, ""),
    "paused": ({"a": False}, {"status": "paused", "pause_reason": "budget"}, "paused: budget"),
    "stuck": ({"a": False}, {"circuitBreaker": {"stuckCount": 5, "lastUnmet": "a"}}, "5 times: a"),
    "very stuck": ({"a": False}, {"circuitBreaker": {"stuckCount": 50}}, "circuit is open"),
    "another session": ({"a": False}, {"id": OTHER}, ""),
    "another session that the hook stored": ({"a": False}, {"hook": {"session": OTHER}}, ""),
    "held eight times": ({"a": False}, {"hook": {"session": MINE, "blocks": 8}}, "8 times"),
    "a status that nobody knows": ({"a": False}, {"status": "zen"}, "`status`"),
    "a count that is none": ({"a": False}, {"circuitBreaker": {"stuckCount": "5"}}, "stuckCount"),
    "a hook that is none": ({"a": False}, {"hook": 7}, "`hook`"),
}


@pytest.mark.long
@pytest.mark.parametrize("client", PAYLOADS)
@pytest.mark.parametrize(("status", "more", "reason"), HELD.values(), ids=HELD)
def test_a_goal_that_is_not_reached_holds(
    desk: Desk, status: Any, more: dict[str, Any], reason: str, client: str
) -> None:
    desk.write(goal(status, **more))
    assert reason in desk.stop(**without_cwd(client))
    assert "held: " in desk.told


@pytest.mark.parametrize("client", PAYLOADS)
@pytest.mark.parametrize(("status", "more", "told"), LET_GO.values(), ids=LET_GO)
def test_what_lets_go_says_why_where_it_concerns_the_session(
    desk: Desk, status: Any, more: dict[str, Any], told: str, client: str
) -> None:
    desk.write(goal(status, **more))
    assert desk.stop(**without_cwd(client)) == ""
    assert told in desk.told
    assert bool(told) == bool(desk.told)


NO_GOAL = {
    "no file": None,
    "no JSON": "{",
    "half a file": json.dumps(goal({"a": False}))[:40],
    "nothing": "",
    "a list": "[]",
    "twice": '{"spec": "x", "spec": "y", "criteriaStatus": {"a": false}}',
    "no UTF-8": b'{"spec": "\xff"}',
    "NUL bytes": b"\0" * 512,
    "too deep": '{"spec": ' + "[" * 5000 + "]" * 5000 + "}",
    "half a surrogate pair": r'{"spec": "x", "criteriaStatus": {"\ud800": false}}',
    "a key twice among many": "{" + ",".join(f'"{n}":1' for n in [*range(100_000), 99_999]) + "}",
}


@pytest.mark.parametrize("state", NO_GOAL.values(), ids=NO_GOAL)
def test_a_state_that_cannot_be_read_lets_go_and_is_left_alone(desk: Desk, state: Any) -> None:
    if state is None:
        assert desk.stop() == desk.told == ""
        assert not desk.state_file.parent.exists()
        return
    desk.write(state)
    before = desk.state_file.read_bytes()
    assert desk.stop() == ""
    assert "state.json" in desk.told
    assert desk.state_file.read_bytes() == before


def test_a_state_that_cannot_be_seen_now_is_not_taken_for_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    desk.write(goal({"a": False}))
    see = os.lstat

    def broken(path: Any, **named: Any) -> os.stat_result:
        if str(path) == str(desk.state_file):
            raise OSError(errno.EIO, "Input/output error")
        return see(path, **named)

    monkeypatch.setattr(os, "lstat", broken)
    assert desk.stop() == ""
    assert "state.json could not be read: Input/output error" in desk.told


@pytest.mark.parametrize("what", ["the file", "its folder", "a folder", "a pipe"])
def test_a_state_that_is_no_plain_file_lets_go(desk: Desk, what: str) -> None:
    import os

    desk.write(goal({"a": False}))
    aside = desk.project / "aside"
    if what == "its folder":
        desk.state_file.parent.rename(aside)
        desk.state_file.parent.symlink_to(aside)
    else:
        desk.state_file.rename(aside)
        if what == "the file":
            desk.state_file.symlink_to(aside)
        elif what == "a folder":
            desk.state_file.mkdir()
        else:
            os.mkfifo(desk.state_file)
    assert desk.stop() == ""


NO_PAYLOADS = {
    "nothing": b"",
    "no JSON": b"stop!",
    "a list": b"[]",
    "null": b"null",
    "no UTF-8": b'{"session_id": "\xff"}',
    "an id that is a number": b'{"session_id": 7, "hook_event_name": "Stop"}',
    "a folder that is a list": b'{"session_id": "x", "cwd": []}',
    "too deep": b"[" * 100_000,
    "half a surrogate pair": rb'{"session_id": "\udc00", "hook_event_name": "Stop"}',
}


@pytest.mark.parametrize("data", NO_PAYLOADS.values(), ids=NO_PAYLOADS)
def test_a_payload_that_is_none_lets_go(desk: Desk, data: bytes) -> None:
    desk.write(goal({"a": False}))
    assert desk.send(data) == {}
    assert "stop allowed: the payload cannot be read" in desk.told
    assert "hook" not in desk.state()


@pytest.mark.parametrize(
    "payload",
    [
        {"hook_event_name": "SubagentStop"},
        {"hook_event_name": "PreToolUse"},
        {"session_id": ...},
        {"session_id": ""},
        {"session_id": "  "},
        {"session_id": None},
    ],
    ids=str,
)
def test_a_payload_of_another_kind_or_without_an_id_never_holds(
    desk: Desk, payload: dict[str, Any]
) -> None:
    desk.write(goal({"a": False}))
    assert desk.stop(**payload) == ""
    assert "hook" not in desk.state()


@pytest.mark.parametrize("extra", [{}, {"new_key": [1]}, {"last_assistant_message": "x" * 300_000}])
def test_keys_that_a_client_adds_change_nothing(desk: Desk, extra: dict[str, Any]) -> None:
    desk.write(goal({"a": False}))
    assert desk.stop(**extra)


@pytest.mark.parametrize(
    "words",
    [
        ["--bogus"], ["--timeout", "soon"], ["--timeout", "1"], ["--max-blocks", "0"],
        ["--max-blocks", "08x"], ["--criteria", "x"], ["--artifact", "x"], ["--format", "xml"],
        ["stray"], ["--timeout"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_line_that_is_wrong_lets_go_with_one_document(
    desk: Desk, words: list[str]
) -> None:
    desk.write(goal({"a": False}))
    assert desk.stop(*words) == ""
    assert "pytest-reflex: stop allowed: " in desk.told


def test_the_seed_s_form_of_an_answer(desk: Desk) -> None:
    desk.write(goal({"a": False}))
    payload = json.dumps({**desk.payload, "cwd": str(desk.project)}).encode()
    _, held = desk.run("stop", "--format", "ok", stdin=payload)
    assert json.loads(held)["ok"] is False
    assert "- a: not shown yet" in json.loads(held)["reason"]
    desk.write(goal({"a": False}, circuitBreaker={"stuckCount": 5}))
    assert json.loads(desk.run("stop", "--format", "ok", stdin=payload)[1]) == {"ok": True}


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(2), MemoryError()])
def test_a_fault_of_ours_lets_go(desk: Desk, error: BaseException) -> None:
    def fail(*_: object) -> None:
        raise error

    desk.write(goal({"a": False}))
    desk.monkeypatch.setattr("pytest_reflex.drivers.goal.hook.answer", fail)
    assert desk.stop() == ""
    assert "stop allowed: a bug in pytest-reflex" in desk.told


def test_a_reason_is_short_and_shows_nothing_that_a_terminal_acts_on(desk: Desk) -> None:
    status = {
        f"criterion {n} \x1b[2J": {"met": False, "evidence": "\x1b]52;c;x\x07\u202e" * 500}
        for n in range(100)
    }
    desk.write(goal(status))
    reason = desk.stop()
    assert len(reason) <= 2_000
    assert "held 1 of at most 8 times" in reason
    assert not {"\x1b", "\x07", "\u202e"} & set(reason)


@pytest.mark.parametrize("reason", ["a goal loop", "nobody"])
def test_while_the_goal_loop_drives_a_project_its_clients_may_stop(desk: Desk, reason: str) -> None:
    from contextlib import closing

    from pytest_reflex.drivers.goal.statefile import lock_path
    from pytest_reflex.storage.lock import HeldLock

    desk.write(goal({"a": False}))
    before = desk.state_file.read_bytes()
    with closing(HeldLock.hold(lock_path(desk.project), "the goal")) as lock:
        if reason == "nobody":
            lock.close()
        assert bool(desk.stop()) is (reason == "nobody")
    assert (desk.state_file.read_bytes() == before) is (reason == "a goal loop")


def test_the_page_has_each_decision_in_the_order_in_which_they_apply() -> None:
    import re
    from pathlib import Path

    from pytest_reflex.drivers.goal.hook_decision import HOLDING, HookReason

    page = (Path(__file__).parents[2] / "docs/reference/stop-hook.md").read_text("utf-8")
    table = page.partition("## Decisions")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \|.*\| (may stop|held, and counted) \|$", table, re.MULTILINE)
    assert rows == [
        (why.value, "held, and counted" if why in HOLDING else "may stop") for why in HookReason
    ]
