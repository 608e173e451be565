"""A model server on loopback: the Messages and the Responses API, streamed, `model` behind them.

It speaks as much of both as the real command-line clients need, and keeps what it was asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from tests.real.model import answer_to

_CHUNK = 400  # characters of a streamed part
Event = dict[str, Any]


class JsonHandler(BaseHTTPRequestHandler):
    """Answers with JSON documents and streams of events, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.reply({})

    def body(self) -> Event:
        """Return the document that was sent."""
        found: Event = json.loads(
            self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}"
        )
        return found

    def reply(self, document: Event, status: int = 200) -> None:
        self._write(json.dumps(document).encode(), "application/json", status)

    def send_events(self, events: Iterable[Event]) -> None:
        lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events]
        self._write("".join(lines).encode(), "text/event-stream")

    def _write(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


class ModelServer:
    """Serves on a free port while it is open; `paths` are the requests that were answered."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def note(self, path: str) -> None:
        with self._lock:
            self.paths.append(path)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(JsonHandler, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.body()
            path = self.path.partition("?")[0]
            server.note(path)
            if path == "/v1/messages":
                self._answer(body, messages(body), message(body))
            elif path == "/v1/responses":
                self._answer(body, responses(body), response(body))
            elif path == "/v1/messages/count_tokens":
                self.reply({"input_tokens": tokens(asked(body))})
            else:
                self.reply({"error": {"type": "not_found_error", "message": path}}, 404)

        def do_GET(self) -> None:
            server.note(self.path.partition("?")[0])
            self.reply({"data": [], "models": []})

        def _answer(self, body: Event, stream: Iterator[Event], whole: Event) -> None:
            if not body.get("stream"):
                self.reply(whole)
                return
            self.send_events(stream)

    return Handler


def asked(body: Event) -> str:
    """Return the last text of a user in the request of either API."""
    turns = body.get("messages") or body.get("input") or []
    if isinstance(turns, str):
        return turns
    for turn in reversed([t for t in turns if t.get("role") == "user"]):
        content = turn.get("content", "")
        parts = [content] if isinstance(content, str) else [p.get("text", "") for p in content]
        if any(parts):
            return "\n\n".join(parts)
    return ""


def tokens(text: str) -> int:
    """Return a plausible number of tokens: a quarter of the characters, rounded up."""
    return -(-len(text) // 4)


def message(body: Event) -> Event:
    """Return an answer of the Messages API as one document."""
    text = asked(body)
    answer = answer_to(text)
    return {
        "id": "msg_local",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "local"),
        "content": [{"type": "text", "text": answer}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens(text), "output_tokens": tokens(answer)},
    }


def messages(body: Event) -> Iterator[Event]:
    """Yield an answer of the Messages API as its stream of events."""
    whole = message(body)
    text, usage = whole["content"][0]["text"], whole["usage"]
    start = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for part in _parts(text):
        delta = {"type": "text_delta", "text": part}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


def response(body: Event) -> Event:
    """Return an answer of the Responses API as one document."""
    text = asked(body)
    answer = answer_to(text)
    used, given = tokens(text), tokens(answer)
    return {
        "id": "resp_local",
        "object": "response",
        "status": "completed",
        "model": body.get("model", "local"),
        "output": [
            {
                "id": "item_local",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": answer, "annotations": []}],
            }
        ],
        "usage": {
            "input_tokens": used,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": given,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used + given,
        },
    }


def responses(body: Event) -> Iterator[Event]:
    """Yield an answer of the Responses API as its stream of events."""
    whole = response(body)
    item = whole["output"][0]
    text = item["content"][0]["text"]
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    empty = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": empty}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    for part in _parts(text):
        yield {"type": "response.output_text.delta", **place, "delta": part}
    yield {"type": "response.output_text.done", **place, "text": text}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": whole}


def _parts(text: str) -> Iterator[str]:
    for start in range(0, len(text), _CHUNK):
        yield text[start : start + _CHUNK]
