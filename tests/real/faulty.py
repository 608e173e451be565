"""A model server on loopback that answers, refuses or breaks off as the path of a request says.

`http://host/MODE/v1/...` speaks the Messages API and the Responses API, with tokens of a cache.
`tokens` is what it has given out to each mode, as a provider would bill it, and `answers` are
the conversations of Claude Code that came to their end, by mode and model.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from tests.real.edits import (
    CLAIM,
    CLAUDE,
    COMMANDS,
    DONE,
    FLOWS,
    HELD,
    PATCHES,
    claude_call,
    codex_call,
)
from tests.real.server import JsonHandler

PLAN = '{"plan": ["a", "b", "c"]}'
USAGE = {
    "input_tokens": 7,
    "cache_creation_input_tokens": 1200,
    "cache_read_input_tokens": 24000,
    "output_tokens": 40,
}
Event = dict[str, Any]
# Status, type and message of an answer that is none.
MESSAGES: dict[str, tuple[int, str, str]] = {
    "rate-limit": (429, "rate_limit_error", "This request would exceed your rate limit."),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "wrong-key": (401, "authentication_error", "invalid x-api-key"),
    "forbidden": (403, "permission_error", "Your organization has been disabled."),
    "no-credit": (400, "invalid_request_error", "Your credit balance is too low to access it."),
    "server-error": (500, "api_error", "Internal server error"),
}
# A stream that breaks off, and what the same request gets without a stream.
BROKEN_OFF = {
    "overloaded-in-stream": "overloaded",
    "limit-in-stream": "rate-limit",
    "cut": "server-error",
}
RESPONSES: dict[str, tuple[int, Event]] = {
    "rate-limit": (429, {"message": "Rate limit reached.", "code": "rate_limit_exceeded"}),
    "usage-limit": (
        429,
        {
            "message": "The limit has been reached",
            "type": "usage_limit_reached",
            "plan_type": "plus",
        },
    ),
    "quota": (429, {"message": "You exceeded your quota.", "type": "insufficient_quota"}),
    "wrong-key": (401, {"message": "Incorrect API key provided", "code": "invalid_api_key"}),
    "no-model": (400, {"message": "No such model", "code": "model_not_found"}),
}
FAILED: dict[str, tuple[str, str]] = {
    "limit-in-stream": ("other", "You\u2019ve hit your usage limit. Try again at 3:05 PM."),
    "rate-limit-in-stream": ("rate_limit_exceeded", "Rate limit reached. Try again in 1.5s."),
    "at-capacity": ("server_is_overloaded", "Our servers are currently overloaded."),
}


class FaultyServer:
    """Serves on a free port while it is open."""

    def __init__(self) -> None:
        self.tokens: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def url(self, mode: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{mode}"

    def count(self, mode: str, tokens: int) -> None:
        with self._lock:
            self.requests[mode] += 1
            self.tokens[mode] += tokens

    def answered(self, mode: str, model: str) -> None:
        with self._lock:
            self.answers[mode][model] += 1

    def __enter__(self) -> FaultyServer:
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


def text_of(mode: str) -> str:
    """Return what a mode answers; `large-500` are 500 KB."""
    if mode.startswith("large-"):
        return "0123456789abcde\n" * (int(mode.removeprefix("large-")) * 1000 // 16)
    if mode in HELD:
        return CLAIM
    edits = {*CLAUDE, *PATCHES, *COMMANDS, *FLOWS} - {"structured"}
    return DONE if mode in edits else PLAN


def _handler(server: FaultyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(JsonHandler, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.body()
            mode, _, path = self.path.partition("?")[0].strip("/").partition("/")
            if path.endswith("count_tokens"):
                self.reply({"input_tokens": 10})
            elif path.endswith("/messages"):
                self._messages(mode, body)
            else:
                self._responses(mode, body)

        def do_GET(self) -> None:
            self.reply({"data": [], "models": []})

        def _messages(self, mode: str, body: Event) -> None:
            broken = mode in BROKEN_OFF and body.get("stream")
            # A client that got no whole stream asks for the answer in one piece.
            refused = "" if broken else BROKEN_OFF.get(mode, mode)
            if refused in MESSAGES:
                status, kind, message = MESSAGES[refused]
                server.count(mode, 0)
                self.reply({"type": "error", "error": {"type": kind, "message": message}}, status)
                return
            call = claude_call(mode, body)
            server.count(mode, 0 if broken else sum(USAGE.values()))
            calls = call is not None and call["type"] == "tool_use"
            if not (broken or calls):
                server.answered(mode, str(body.get("model")))
            end = "max_tokens" if mode == "too-long" else "end_turn"
            whole = {
                "id": "msg_local",
                "type": "message",
                "role": "assistant",
                "model": body.get("model"),
                "content": [call or {"type": "text", "text": text_of(mode)}],
                "stop_reason": "tool_use" if calls else end,
                "stop_sequence": None,
                "usage": USAGE,
            }
            if broken:
                self.send_events(_broken_off(whole, BROKEN_OFF[mode]))
            elif body.get("stream"):
                self.send_events(list(_message_events(whole)))
            else:
                self.reply(whole)

        def _responses(self, mode: str, body: Event) -> None:
            if mode in RESPONSES:
                status, error = RESPONSES[mode]
                server.count(mode, 0)
                self.reply({"error": error}, status)
                return
            server.count(mode, 0 if mode in FAILED else 25_040)
            self.send_events(list(_response_events(mode, codex_call(mode, body))))

    return Handler


def _parts(text: str) -> list[str]:
    return [text[start : start + 400] for start in range(0, len(text), 400)]


def _message_events(whole: Event) -> list[Event]:
    (content,) = whole["content"]
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
    if content["type"] == "text":
        block, text, kind, key = {**content, "text": ""}, content["text"], "text_delta", "text"
    else:
        block, text = {**content, "input": {}}, json.dumps(content["input"])
        kind, key = "input_json_delta", "partial_json"
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: part}}
        for part in _parts(text)
    ]
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": USAGE},
        {"type": "message_stop"},
    ]


def _broken_off(whole: Event, refused: str) -> list[Event]:
    """Return a stream that ends in its middle, with the error where it is told in one."""
    _, kind, message = MESSAGES[refused]
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return [*_message_events(whole)[:3], *([error] if kind != "api_error" else [])]


def _response_events(mode: str, call: Event | None) -> list[Event]:
    text = "" if call else text_of(mode)
    item = call or {
        "id": "item_local",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    usage = {
        "input_tokens": 25_000,
        "input_tokens_details": {"cached_tokens": 24_000},
        "output_tokens": 40,
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 25_040,
    }
    whole = {"id": "resp_local", "object": "response", "status": "completed", "output": [item]}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    if mode in FAILED:
        code, message = FAILED[mode]
        error = {"code": code, "message": message}
        failed = {**begun, "status": "failed", "error": error}
        created = {"type": "response.created", "response": begun}
        return [created, {"type": "response.failed", "response": failed}]
    if call:
        return [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.done", "output_index": 0, "item": call},
            {"type": "response.completed", "response": {**whole, "usage": usage}},
        ]
    place = {"item_id": "item_local", "output_index": 0, "content_index": 0}
    added = {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}}
    deltas = [
        {"type": "response.output_text.delta", **place, "delta": part} for part in _parts(text)
    ]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", **added},
        *deltas,
    ]
    if mode == "cut":
        return events
    return [
        *events,
        {"type": "response.output_text.done", **place, "text": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**whole, "usage": usage}},
    ]
