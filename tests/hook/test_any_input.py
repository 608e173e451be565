"""Whatever a client sends, and whatever lies in the state file: one answer, and nothing is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal.hook import HookOptions, answer
from pytest_reflex.drivers.goal.hook_settings import (
    set_key,
    with_entry,
    without_entries,
    without_entry,
)
from pytest_reflex.text.data_tree import read_json
from tests.hook.desk import ANSWER, MINE, goal

pytestmark = pytest.mark.long

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 0, 1, 2, "\t"])
KEYS = (
    *("spec", "criteria", "criteriaStatus", "exit_signal", "status", "circuitBreaker", "mustNot"),
    *("id", "hook", "goal", "iteration", "steps"),
)


Answered = Callable[[bytes, bytes], tuple[dict[str, Any], bytes]]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Answered:
    """Return what is answered to a payload over a state, and the state behind it."""
    folder = tmp_path_factory.mktemp("project")
    path = folder / ".loop" / "state.json"
    path.parent.mkdir()

    def answered(payload: bytes, state: bytes) -> tuple[dict[str, Any], bytes]:
        path.unlink(missing_ok=True)
        path.write_bytes(state)
        data = payload.replace(b"PROJECT", os.fsencode(folder))
        found = answer(data, HookOptions(), {}).to_json()
        ANSWER.validate(found)
        assert os.listdir(path.parent) == ["state.json"]
        return found, path.read_bytes()

    return answered


@given(st.binary(max_size=60) | JSON.map(lambda wire: json.dumps(wire).encode()))
def test_any_payload_lets_go_where_it_has_no_id(answered: Answered, payload: bytes) -> None:
    state = json.dumps(goal({"a": False})).encode()
    assert answered(payload, state) == ({}, state)


@given(st.binary(max_size=60) | JSON.map(lambda wire: json.dumps(wire).encode()))
def test_any_file_is_answered(answered: Answered, state: bytes) -> None:
    payload = json.dumps({"session_id": MINE, "cwd": "PROJECT", "hook_event_name": "Stop"})
    answered(payload.encode(), state)


@given(st.dictionaries(st.sampled_from(KEYS), JSON), INDENTS)
def test_any_value_of_a_key_is_answered_and_stays(
    answered: Answered, wire: dict[str, Any], indent: Any
) -> None:
    payload = json.dumps({"session_id": MINE, "cwd": "PROJECT", "hook_event_name": "Stop"})
    state = json.dumps(wire, indent=indent).encode()
    _, after = answered(payload.encode(), state)
    now = json.loads(after)
    kept = {key: value for key, value in now.items() if key != "hook"}
    assert kept == {key: value for key, value in wire.items() if key != "hook"}
    assert after == state or now["hook"]["session"] in (MINE, wire.get("id"))


@given(st.dictionaries(st.text(max_size=6), JSON), INDENTS, JSON)
def test_a_key_that_is_set_and_removed_leaves_the_text_as_it_was(
    wire: dict[str, Any], indent: Any, value: Any
) -> None:
    text = json.dumps(wire, indent=indent)
    after = set_key(text, read_json(text), "a new key", value)
    assert json.loads(after) == {**wire, "a new key": value}
    root = read_json(after)
    names = [entry.key.value for entry in root.entries if entry.key]
    back = without_entry(after, root, names.index("a new key"))
    assert json.loads(back) == wire
    assert back == text or not wire


@given(
    st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    st.dictionaries(st.text(max_size=5), st.lists(JSON, max_size=2), max_size=2),
    st.lists(JSON, max_size=3),
    INDENTS,
)
def test_settings_lose_nothing(
    wire: dict[str, Any], hooks: dict[str, Any], stops: list[Any], indent: Any
) -> None:
    path, command = Path("settings.json"), "pytest-reflex hook stop"
    wire = {**wire, "hooks": {**hooks, "Stop": stops}}
    text = json.dumps(wire, indent=indent)
    after = with_entry(text, path, command, 60)
    found = json.loads(after)
    assert [*wire["hooks"]["Stop"]] == found["hooks"]["Stop"][:-1]
    assert found["hooks"]["Stop"][-1]["hooks"][0]["command"] == command
    assert with_entry(after, path, command, 60) == after
    back = json.loads(without_entries(after, path))
    if stops:
        assert back == wire
    else:
        assert back.get("hooks", {}) == {k: v for k, v in hooks.items() if k != "Stop"}
        assert {k: v for k, v in back.items() if k != "hooks"} == {
            k: v for k, v in wire.items() if k != "hooks"
        }
