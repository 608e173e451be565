"""A session is held a bounded number of times, and no other one with it."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.hook.desk import MINE, OTHER, Desk, goal, without_hook


@pytest.mark.parametrize("active", [True, False])
def test_b088_in_a_state_that_never_changes_it_holds_five_times(desk: Desk, active: bool) -> None:
    desk.write(goal({"a": False}))
    held = [bool(desk.stop(stop_hook_active=active)) for _ in range(20)]
    assert held == [True] * 5 + [False] * 15
    assert "held 5 times in this state" in desk.told
    assert desk.state()["hook"]["last"]["decision"] == "allow"


@pytest.mark.parametrize(
    ("words", "most"), [([], 8), (["--max-blocks", "3"], 3), (["--max-blocks", "12"], 12)]
)
def test_b091_in_a_busy_loop_it_holds_as_often_as_it_may(
    desk: Desk, words: list[str], most: int
) -> None:
    held = []
    for number in range(most + 4):
        hook = desk.state().get("hook", {}) if number else {}
        desk.write(goal({"a": False}, iteration=number, hook=hook))
        held.append(bool(desk.stop(*words, stop_hook_active=number > 0)))
    assert held == [True] * most + [False] * 4
    assert f"held as often as it may be: {most} times" in desk.told


def test_a_client_that_writes_the_state_anew_does_not_begin_to_count_anew(desk: Desk) -> None:
    held = []
    for number in range(12):
        desk.write(goal({"a": False}, iteration=number))
        held.append(bool(desk.stop()))
    assert held == [True] * 8 + [False] * 4


def test_nor_does_one_that_changes_the_goal_each_time(desk: Desk) -> None:
    held = []
    for number in range(12):
        desk.write(goal({f"criterion {number}": False}, spec=f"goal {number}"))
        held.append(bool(desk.stop()))
    assert held == [True] * 8 + [False] * 4
    assert "pytest-reflex hook release" in desk.told


@pytest.mark.parametrize("end", ["reached", "cancelled", "deleted"])
def test_the_next_goal_of_a_session_begins_anew_where_the_last_one_has_ended(
    desk: Desk, end: str
) -> None:
    for number in range(6):
        desk.write(goal({"a": False}, iteration=number))
        assert desk.stop()
    if end == "deleted":
        desk.state_file.unlink()
    else:
        more = {"exit_signal": True} if end == "reached" else {"status": "cancelled"}
        desk.write(goal({"a": end == "reached"}, **more))
    assert desk.stop() == ""
    desk.write(goal({"b": False}))
    assert f"held {7 if end == 'deleted' else 1} of" in desk.stop()


def test_what_becomes_better_is_held_again(desk: Desk) -> None:
    held: list[int] = []
    for met in [0, 0, 0, 1, 1, 1, 2]:
        hook = desk.state().get("hook", {}) if held else {}
        status = {str(n): n < met for n in range(3)}
        desk.write(goal(status, hook=hook))
        held.append(desk.stop().count("- "))
    assert held == [3, 3, 3, 2, 2, 2, 1]
    assert desk.state()["hook"]["equal"] == 1


def test_b078_its_own_counter_moves_and_no_other_one(desk: Desk) -> None:
    state = goal({"a": False}, iteration=2, circuitBreaker={"stuckCount": 1, "lastUnmet": "a"})
    desk.write(state)
    blocks = []
    for _ in range(4):
        desk.stop()
        blocks.append(desk.state()["hook"]["blocks"])
        assert without_hook(desk.state()) == state
    assert blocks == [1, 2, 3, 4]


TEXTS = {
    "on one line": '{"spec":"s","criteriaStatus":{"a":false}}',
    "blanks and an order of its own": (
        '\n{ "criteriaStatus" : {"a":false} ,\n\t"spec": "\\u00fc ü \\/",  "zeta":1.0}\n\n'
    ),
    "numbers that Python would change": (
        '{"spec":"s","criteriaStatus":{"a":false},"n":1e400,"m":0.10000000000000000001,'
        '"k":123456789012345678901234567890,"z":-0.0}'
    ),
    "with a hook of ours": (
        '{"spec":"s","hook":{"blocks":1,"theirs":[1, 2]},"criteriaStatus":{"a":false}}'
    ),
    "an empty hook at the end": '{"spec":"s","criteriaStatus":{"a":false},"hook":{}}',
    "with a byte order mark": '\ufeff{"spec":"s","criteriaStatus":{"a":false}}',
    "lines of Windows": '{\r\n  "spec": "s",\r\n  "criteriaStatus": {"a": false}\r\n}\r\n',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_character_beside_the_key_of_ours_stays(desk: Desk, text: str) -> None:
    desk.write(text.encode())
    assert "- a: not shown yet" in desk.stop()
    now = desk.state_file.read_bytes().decode()
    wire = json.loads(now.removeprefix("\ufeff"))
    assert wire["hook"]["session"] == MINE
    if "theirs" in text:
        assert wire["hook"]["theirs"] == [1, 2]
        assert wire["hook"]["blocks"] == 2
    start, end = (text.index('"hook":'), text.index("}", text.index('"hook":')) + 1) if (
        '"hook":' in text
    ) else (len(text.rstrip("\r\n} ")), len(text.rstrip("\r\n} ")))  # fmt: skip
    if '"hook":' in text:
        assert now.startswith(text[:start])
        assert now.endswith(text[end:])
    else:
        assert desk.run("release")[0] == 0
        assert desk.state_file.read_bytes().decode() == text


def test_a_permission_stays(desk: Desk) -> None:
    desk.write(goal({"a": False}))
    desk.state_file.chmod(0o640)
    desk.stop()
    assert desk.state_file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("state_id", ["none", "mine", "stored"])
def test_t20_three_sessions_and_three_ids(desk: Desk, state_id: str) -> None:
    more: dict[str, Any] = {"mine": {"id": MINE}, "stored": {"hook": {"session": MINE}}}.get(
        state_id, {}
    )
    desk.write(goal({"a": False}, **more))
    ids: dict[str, Any] = {"own": MINE, "other": OTHER, "missing": ...}
    held = {name: bool(desk.stop(session_id=value)) for name, value in ids.items()}
    assert held == {"own": True, "other": False, "missing": False}
    assert desk.state()["hook"]["session"] == MINE


def test_b093_a_session_of_another_folder_is_not_held(desk: Desk) -> None:
    desk.write(goal({"a": False}))
    beside = desk.project.parent / "beside"
    beside.mkdir()
    assert desk.stop(cwd=str(beside)) == ""
    assert "hook" not in desk.state()


@pytest.mark.parametrize("cwd", ["", "sub/deep", "../outside"])
def test_the_client_s_word_on_the_project_counts(desk: Desk, cwd: str) -> None:
    folder = desk.project / cwd
    folder.mkdir(parents=True, exist_ok=True)
    desk.write(goal({"a": False}))
    desk.monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(desk.project))
    assert desk.stop(cwd=os.path.normpath(folder))


def test_the_nearest_goal_counts(desk: Desk) -> None:
    inner = desk.project / "packages" / "one"
    inner.mkdir(parents=True)
    desk.write(goal({"outer": False}))
    (inner / ".loop").mkdir()
    (inner / ".loop" / "state.json").write_text(json.dumps(goal({"inner": False})))
    desk.monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(desk.project))
    assert "- inner: " in desk.stop(cwd=str(inner))
    assert "- outer: " in desk.stop(cwd=str(inner.parent))


@pytest.mark.parametrize("place", ["the state file", "the user's folder", "both"])
def test_what_cannot_be_counted_does_not_hold(desk: Desk, place: str) -> None:
    desk.write(goal({"a": False}))
    if place != "the state file":
        desk.monkeypatch.setenv("XDG_STATE_HOME", os.devnull)
    if place != "the user's folder":

        def refuse(*_: object) -> None:
            from pytest_reflex.errors import StateError

            raise StateError("the disk is full")

        desk.monkeypatch.setattr("pytest_reflex.drivers.goal.hook.write_hook", refuse)
    held = [bool(desk.stop()) for _ in range(7)]
    assert held == ([False] * 7 if place == "both" else [True] * 5 + [False] * 2)
    if place == "both":
        assert "count could not be written: the disk is full" in desk.told


@pytest.mark.parametrize("kept", [{}, {"session": "", "blocks": 1}, {"blocks": "many"}])
def test_counts_that_an_agent_writes_anew_hold_once_in_a_turn_where_there_are_no_others(
    desk: Desk, kept: dict[str, object]
) -> None:
    desk.monkeypatch.setenv("XDG_STATE_HOME", os.devnull)
    held = []
    for turn in range(6):
        desk.write(goal({"a": False}, iteration=turn, hook=kept))
        held.append(bool(desk.stop(stop_hook_active=turn % 3 > 0)))
    assert held == [True, False, False] * 2
    assert "the count could not be written: the user's state folder" in desk.told


def test_a_goal_that_is_gone_meanwhile_is_not_written_again(desk: Desk) -> None:
    desk.write(goal({"a": {"met": False, "command": "rm -r .loop"}}))
    desk.approve()
    assert desk.stop() == ""
    assert not desk.state_file.parent.exists()


def test_what_another_program_writes_meanwhile_stays(desk: Desk) -> None:
    changed = json.dumps(goal({"a": False}, iteration=9))
    (desk.project / "new.json").write_text(changed)
    desk.write(goal({"a": {"met": False, "command": "cp new.json .loop/state.json; exit 1"}}))
    desk.approve()
    assert "- a: exit status 1" in desk.stop()
    assert without_hook(desk.state()) == json.loads(changed)
    assert desk.state()["hook"]["blocks"] == 1


def test_release_lets_another_session_take_up_the_goal(desk: Desk) -> None:
    desk.write(goal({"a": False}))
    for _ in range(7):
        desk.stop()
    assert desk.stop(session_id=OTHER) == ""
    assert "next session" in desk.run("release")[1]
    assert without_hook(desk.state()) == desk.state()
    assert "held 1 of" in desk.stop(session_id=OTHER)
    assert desk.stop() == ""
    assert "Nothing" not in desk.run("release")[1]
    assert "Nothing to release" in desk.run("release")[1]
