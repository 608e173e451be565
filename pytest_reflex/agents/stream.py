"""How often a tool changed each file, counted in the stream that it writes while it works.

The form is that of Claude Code's `--output-format stream-json`: messages whose content has the uses
of tools. A tool that writes no such stream is not monitored, which is not the same as no edits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from pytest_reflex.agents.lines import LineReader

EDITS = "edits"  # in the details of an answer: times by path
_EDITING = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_PATHS = ("file_path", "notebook_path")
_LONGEST_LINE = 4_000_000  # bytes; a file that is written whole stands in one


class EditWatch:
    """Reads a stream line by line; `found` are the edits by path, None where it tells of none.

    `beside` is given each part of the stream too.
    """

    def __init__(self, beside: Callable[[bytes], object] = lambda chunk: None) -> None:
        self._beside = beside
        self._lines, self._seen = LineReader(_LONGEST_LINE, self._look), False
        self._edits = Counter[str]()

    def __call__(self, chunk: bytes) -> None:
        """Take the next part of the stream."""
        self._beside(chunk)
        self._lines(chunk)

    @property
    def found(self) -> dict[str, int] | None:
        return dict(self._edits) if self._seen else None

    def _look(self, line: bytes) -> None:
        # Most streams are none of ours: a look at the bytes is cheap.
        if b'"assistant"' not in line:
            return
        try:
            event = json.loads(line)
        except ValueError:
            return
        if not isinstance(event, dict) or event.get("type") != "assistant":
            return
        self._seen = True
        self._edits.update(_edited(event.get("message")))


def _edited(message: Any) -> Iterator[str]:
    content = message.get("content") if isinstance(message, dict) else None
    for item in content if isinstance(content, list) else ():
        if not isinstance(item, dict) or item.get("type") != "tool_use":
            continue
        given = item.get("input")
        if item.get("name") in _EDITING and isinstance(given, dict):
            yield from (given[key] for key in _PATHS if isinstance(given.get(key), str))
