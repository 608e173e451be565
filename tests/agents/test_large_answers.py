"""Answers that are larger than a pipe, of clients that leave before one is emptied."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from tests.agents.making import answer, tool

pytestmark = pytest.mark.variants

# As Node.js does with a pipe: what cannot be written at once is lost when the process exits.
LEAVES = """\
import json, os, sys
sys.stdin.read()
text = {text}
data = (json.dumps({{"type": "result", "is_error": False, "result": text}}) + "\\n").encode()
os.set_blocking(1, False)
while data:
    try:
        data = data[os.write(1, data):]
    except BlockingIOError:
        os._exit(0)
os._exit(0)
"""
PLACES = {"a document": "json:result", "a stream": "jsonl-last:result"}
SIZES = [65_537, 180_000, 500_000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_large_answer_arrives_whole_from_a_client_that_leaves_at_once(
    tmp_path: Path, size: int, place: str
) -> None:
    program = LEAVES.format(text=f"'0123456789abcde\\n' * ({size} // 16)")
    agent = tool(tmp_path, program, answer=place, failure=f"{place.partition(':')[0]}:is_error")
    for _ in range(20 if size == max(SIZES) else 3):
        reply = answer(agent)
        assert reply.error == ""
        assert reply.text == "0123456789abcde\n" * (size // 16)


CUT: dict[str, tuple[str, str]] = {
    "in a text": ('{"result": "it beg', "json:result"),
    "in an object": ('{"usage": {"a": 1}, ', "json:result"),
    "behind other lines": ('Loading\n{"result": ["', "json:result"),
    "in the last event": (
        '{"type": "start"}\n{"result": "it',
        "jsonl-last:result",
    ),
}


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize(("printed", "place"), CUT.values(), ids=CUT)
def test_json_that_breaks_off_is_told_with_where_it_was_cut(
    tmp_path: Path, printed: str, place: str, status: int
) -> None:
    program = f"import sys; sys.stdout.write({printed!r}); sys.stdout.flush(); sys.exit({status})"
    reply = answer(tool(tmp_path, program, answer=place))
    told = f"its output is cut at {len(printed)} bytes, in the middle of its JSON"
    assert reply.error == (f"it left with exit status 1: {told}" if status else told)


WHOLE = {
    "no JSON": ("hello", "its output has no json:result"),
    "another key": (json.dumps({"text": "{ ["}), "its output has no json:result"),
    "brackets in a text": (json.dumps({"a": '{"[', "b": "}"}), "its output has no json:result"),
}


@pytest.mark.parametrize(("printed", "error"), WHOLE.values(), ids=WHOLE)
def test_output_that_is_whole_is_not_called_cut(tmp_path: Path, printed: str, error: str) -> None:
    assert answer(tool(tmp_path, f"print({printed!r})", answer="json:result")).error == error


def test_what_was_written_before_a_time_out_is_kept(tmp_path: Path) -> None:
    program = "import time; print('x' * 300_000, flush=True); time.sleep(60)"
    reply = answer(tool(tmp_path, program, timeout=3, grace=0.2))
    assert reply.error.startswith("no answer within 3 s")
    assert reply.text == "x" * 300_000 + "\n"


def test_what_was_written_before_the_run_ends_is_kept(tmp_path: Path) -> None:
    cancel, kept = Event(), list[str]()
    begun = tmp_path / "begun"
    program = (
        "import pathlib, time\n"
        "print('half of it', flush=True)\n"
        f"pathlib.Path({str(begun)!r}).touch()\n"
        "time.sleep(60)\n"
    )

    def look() -> None:
        if begun.exists():
            cancel.set()
        else:
            Timer(0.05, look).start()

    look()
    answer(tool(tmp_path, program, grace=0.2), cancel=cancel, keep_partial=kept.append)
    assert kept == ["half of it\n"]


REOPENED = {
    "a redirection to its own output": "echo one; echo two > /dev/stdout; echo three",
    "another program": "echo one; sh -c 'echo two'; echo three",
    "a child in the background": "echo one; (echo two) & wait; echo three",
}


@pytest.mark.parametrize("script", REOPENED.values(), ids=REOPENED)
def test_output_of_several_writers_comes_in_order(tmp_path: Path, script: str) -> None:
    program = f"import subprocess, sys; subprocess.run(['sh', '-c', {script!r}])"
    assert answer(tool(tmp_path, program)).text.split()[-2:] == ["two", "three"]


TRYING = {
    "a key": ('{"type": "system", "try": "again", "status": 401, "why": "bad key"}', "401 bad key"),
    "a server": ('{"type": "system", "try": "again", "why": "no route"}', "no route"),
    "nothing": ('{"type": "system", "try": "again"}', "no reason given"),
}
RETRYING: dict[str, Any] = {
    "answer": "jsonl-last:result",
    "retrying": {"jsonl-last:try": "again"},
    "retry_reason": ["jsonl-last:status", "jsonl-last:why"],
}


@pytest.mark.parametrize(("event", "reason"), TRYING.values(), ids=TRYING)
def test_a_tool_that_is_ended_while_it_tries_again_is_told_as_that(
    tmp_path: Path, event: str, reason: str
) -> None:
    program = f"import time\nfor _ in range(3): print({event!r}, flush=True)\ntime.sleep(60)"
    told: list[str] = []
    agent = tool(tmp_path, program, timeout=3, grace=0.2, **RETRYING)
    reply = answer(agent, tell=told.append)
    assert reply.error == (
        f"no answer within 3 s (the timeout of agents.tool); it kept trying by itself ({reason}): "
        "check its key, its address and the network"
    )
    assert told == [f"tool: the tool tries again by itself: {reason}"]


LIMITED = ['{"try": "again", "status": 529}', '{"try": "again", "why": "rate limit exceeded"}']


@pytest.mark.parametrize("event", LIMITED)
def test_a_tool_that_is_ended_while_a_limit_is_in_its_way_ran_into_one(
    tmp_path: Path, event: str
) -> None:
    program = f"import time; print({event!r}, flush=True); time.sleep(60)"
    reply = answer(tool(tmp_path, program, timeout=3, grace=0.2, **RETRYING))
    assert reply.details["limited"] is True


def test_a_tool_that_went_on_after_its_tries_is_not_told_as_trying(tmp_path: Path) -> None:
    lines = ['{"try": "again", "why": "busy"}', '{"type": "assistant"}']
    program = f"import time; print({chr(10).join(lines)!r}, flush=True); time.sleep(60)"
    reply = answer(tool(tmp_path, program, timeout=3, grace=0.2, **RETRYING))
    assert reply.error == "no answer within 3 s (the timeout of agents.tool)"


def test_a_secret_in_the_reason_of_a_try_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "planted-0123456789")
    event = '{"try": "again", "why": "bad key planted-0123456789"}'
    told: list[str] = []
    agent = tool(tmp_path, f"print({event!r})", env=["API_KEY"], **RETRYING)
    answer(agent, tell=told.append)
    assert told == ["tool: the tool tries again by itself: bad key $API_KEY"]
