"""What the model server asks a client to do, asked by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest

from tests.real.edits import DONE, NOTES
from tests.real.faulty import USAGE, FaultyServer


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def ask(server: FaultyServer, mode: str, path: str, **body: Any) -> str:
    with urlopen(f"{server.url(mode)}/v1/{path}", json.dumps(body).encode()) as response:
        return str(response.read().decode())


WHERE = {"role": "user", "content": "Primary working directory: /home/you/project\nPlan."}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_0"}]}


def test_a_tool_use_comes_first_and_words_behind_its_result(server: FaultyServer) -> None:
    first = json.loads(ask(server, "writes", "messages", messages=[WHERE]))
    (call,) = first["content"]
    assert (call["name"], first["stop_reason"]) == ("Write", "tool_use")
    assert call["input"] == {"file_path": "/home/you/project/notes.md", "content": NOTES}
    second = json.loads(ask(server, "writes", "messages", messages=[WHERE, RESULT]))
    assert (second["content"], second["stop_reason"]) == (
        [{"type": "text", "text": DONE}], "end_turn",
    )  # fmt: skip
    assert server.requests["writes"] == 2
    assert server.tokens["writes"] == 2 * sum(USAGE.values())


def test_a_tool_use_is_streamed_in_parts(server: FaultyServer) -> None:
    told = ask(server, "writes", "messages", messages=[WHERE], stream=True)
    events = [json.loads(line[6:]) for line in told.splitlines() if line.startswith("data: ")]
    parts = [e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta"]
    assert json.loads("".join(parts))["content"] == NOTES


@pytest.mark.parametrize("mode", ["writes", "outside", "runs"])
def test_a_command_comes_first_and_words_behind_its_output(server: FaultyServer, mode: str) -> None:
    tools = [{"name": "exec_command"}]
    first = ask(server, mode, "responses", input=[WHERE], tools=tools)
    assert '"name": "exec_command"' in first
    output = {"type": "function_call_output", "call_id": "call_0", "output": ""}
    assert "<promise>SUCCESS" in ask(server, mode, "responses", input=[output], tools=tools)


@pytest.mark.parametrize("mode", ["overloaded-in-stream", "limit-in-stream", "cut"])
def test_a_stream_breaks_off(server: FaultyServer, mode: str) -> None:
    told = ask(server, mode, "messages", messages=[WHERE], stream=True)
    assert "message_start" in told
    assert "message_stop" not in told
    assert ("event: error" in told) is (mode != "cut")
