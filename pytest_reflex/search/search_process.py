"""Search with `re` in a process that can be killed: the last resort for patterns that may run away.

One warm child serves the searches of this process, one at a time; it ends with us, when it was idle
for some seconds, or at `close`.
"""

from __future__ import annotations

import atexit
import json
import os
from threading import Lock
from typing import Any

from pytest_reflex.process.environment import inherited
from pytest_reflex.process.worker import DiedError, LateError, Worker, serving
from pytest_reflex.search import search_child

_STARTING = 60.0


class SearchError(Exception):
    """The search could not be brought to its end; the message says why."""


class SearchProcess:
    """A killable child that searches; started on the first question and after each loss."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._text: str | None = None
        self._lock = Lock()

    def spans(
        self, pattern: str, flags: int, text: str, limit: int, seconds: float
    ) -> list[tuple[int, int]]:
        """Return at most `limit` spans of matches, in characters.

        Raises SearchError where that takes longer than `seconds`, or more memory than is bearable.
        """
        head = {"pattern": pattern, "flags": flags, "limit": limit}
        return [(start, end) for start, end in self._answer(head, text, seconds)["spans"]]

    def expanded(
        self, pattern: str, flags: int, template: str, text: str, limit: int, seconds: float
    ) -> list[tuple[int, int, str]]:
        """Return the spans of matches, each with what the template comes to; raises as `spans`."""
        head = {"pattern": pattern, "flags": flags, "limit": limit, "template": template}
        answer = self._answer(head, text, seconds)
        found = zip(answer["spans"], answer["texts"], strict=True)
        return [(start, end, new) for (start, end), new in found]

    def _answer(self, head: dict[str, Any], text: str, seconds: float) -> dict[str, Any]:
        with self._lock:
            try:
                raw = self._ask(head, text, seconds)
            except LateError:
                raise SearchError(f"the search ran longer than {seconds:g} s") from None
            except DiedError:
                raise SearchError("the process that searched died") from None
        answer: dict[str, Any] = json.loads(raw)
        if "error" in answer:
            raise SearchError(answer["error"])
        return answer

    def _ask(self, head: dict[str, Any], text: str, seconds: float) -> bytes:
        fresh = self._worker is None
        worker = self._ready()
        keep = self._text is not None and self._text == text
        question = json.dumps({**head, "keep": keep}).encode() + b"\n"
        body = b"" if keep else text.encode("utf-8", "surrogatepass")
        self._text = None
        try:
            answer = worker.ask(question + body, seconds)
        except DiedError:
            if fresh:
                raise
            # It went idle at this very moment.
            return self._ask(head, text, seconds)
        self._text = text
        return answer

    def close(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            if self._worker is not None:
                self._worker.close()
            self._worker = self._text = None

    def forget(self) -> None:
        """Let go of the child of the process that this one was forked from."""
        self._lock = Lock()
        if self._worker is not None:
            self._worker.close()
        self._worker = self._text = None

    def _ready(self) -> Worker:
        if self._worker is not None and not self._worker.usable:
            self._worker.close()
            self._worker = None
        if self._worker is None:
            self._text = None
            self._worker = Worker(serving(search_child.__file__, site=False), env=inherited())
            self._worker.ask(b"", _STARTING)  # starting up is not the pattern's fault
        return self._worker


SEARCHES = SearchProcess()
atexit.register(SEARCHES.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SEARCHES.forget)
