"""Search with `re` in a process that can be killed: the last resort for patterns that may run away.

One warm child serves the searches of this process, one at a time; it ends with us, when it was idle
for some seconds, or at `close`.
"""

from __future__ import annotations

import json
from typing import Any

from pytest_reflex.process.worker import DiedError, KeptWorker, LateError, Worker, worker_command
from pytest_reflex.search import search_child


class SearchError(Exception):
    """The search could not be brought to its end; the message says why."""


class SearchProcess(KeptWorker):
    """A killable child that searches; started on the first question and after each loss."""

    def __init__(self) -> None:
        super().__init__()
        self._text: str | None = None

    def spans(
        self, pattern: str, flags: int, text: str, limit: int, seconds: float
    ) -> list[tuple[int, int]]:
        """Return at most `limit` spans of matches, in characters.

        Raises SearchError where that takes longer than `seconds`, or more memory than is bearable.
        """
        head = {"pattern": pattern, "flags": flags, "limit": limit}
        return [(start, end) for start, end in self._answer(head, text, seconds)["spans"]]

    def expand(
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

    def _ready(self) -> Worker:
        if self._worker is not None and self._worker.usable:
            return self._worker
        self._drop()
        return self._start(worker_command(search_child.__file__, site=False))

    def _drop(self) -> None:
        super()._drop()
        self._text = None


SEARCHES = SearchProcess()
SEARCHES.close_at_exit()
