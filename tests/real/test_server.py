"""The model server speaks the two APIs, asked by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.real.server import ModelServer, tokens

PLAN = (
    "You are executing phase PLAN for run x, iteration 1, phase level A.\n\n"
    "## Active rules (level A)\n\n- a.x.y (fail, weight 2): says y\n\n## Required output\n\nJSON\n"
)
WANTED = json.dumps({"plan": ["See to a.x.y", "Read what is there", "Keep what passes"]})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def post(server: ModelServer, path: str, **body: Any) -> str:
    with urlopen(server.url + path, json.dumps(body).encode()) as response:
        text: str = response.read().decode()
        return text


def events(text: str) -> list[dict[str, Any]]:
    """Return the events of a stream; each has a line with its type and one with its data."""
    found = []
    for block in text.strip().split("\n\n"):
        kind, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert kind == f"event: {found[-1]['type']}"
    return found


def turn(text: str) -> list[dict[str, Any]]:
    """Return a user's turn as Claude Code sends it, a reminder of its own before the prompt."""
    parts = [{"type": "text", "text": "<system-reminder>"}, {"type": "text", "text": text}]
    return [{"role": "user", "content": parts}]


def test_a_message_is_streamed(server: ModelServer) -> None:
    told = events(post(server, "/v1/messages", stream=True, messages=turn(PLAN)))
    text = "".join(e["delta"]["text"] for e in told if e["type"] == "content_block_delta")
    assert text == WANTED
    assert [told[0]["type"], told[-1]["type"]] == ["message_start", "message_stop"]
    assert told[-2]["usage"]["output_tokens"] == tokens(WANTED)


def test_a_message_comes_whole_where_no_stream_is_wanted(server: ModelServer) -> None:
    found = json.loads(post(server, "/v1/messages", messages=turn(PLAN)))
    assert found["content"] == [{"type": "text", "text": WANTED}]
    assert found["stop_reason"] == "end_turn"


def test_a_response_is_streamed(server: ModelServer) -> None:
    part = {"type": "input_text", "text": PLAN}
    asked = [{"type": "message", "role": "user", "content": [part]}]
    told = events(post(server, "/v1/responses", stream=True, input=asked))
    text = "".join(e["delta"] for e in told if e["type"] == "response.output_text.delta")
    assert text == WANTED
    assert told[-1]["type"] == "response.completed"
    assert told[-1]["response"]["output"][0]["content"][0]["text"] == WANTED
    assert told[-1]["response"]["usage"]["input_tokens"] == tokens(PLAN)


def test_small_talk_has_an_answer(server: ModelServer) -> None:
    found = json.loads(post(server, "/v1/messages", messages=[{"role": "user", "content": "hi"}]))
    assert found["content"][0]["text"] == "ok"
    assert json.loads(post(server, "/v1/messages/count_tokens", messages=turn("x" * 9))) == {
        "input_tokens": tokens("<system-reminder>\n\n" + "x" * 9)
    }


def test_another_path_is_not_found_and_everything_is_kept(server: ModelServer) -> None:
    with pytest.raises(HTTPError, match="404") as refused:
        post(server, "/v1/complete?beta=true")
    refused.value.close()
    assert server.paths == ["/v1/complete"]
