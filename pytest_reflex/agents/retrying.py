"""A tool that tries again by itself, told while it does: from the stream that it writes.

Some clients try for minutes before they say that a key is wrong or a server is down. What a stream
calls such a try is data (`retrying`), as is where its reason stands (`retry_reason`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_reflex.agents.answers import Output, Source, values
from pytest_reflex.agents.limits import Mark
from pytest_reflex.agents.lines import LineReader
from pytest_reflex.contracts.limits import may_be_limit_notice
from pytest_reflex.model.plain import one_line

_LONGEST_RETRY_LINE = 65_536  # bytes; no event of a try is as long
_SHOWN = 200
_LIMIT = re.compile(r"(?:429|529)\b")
_DIGITS = str.maketrans("0123456789", "0000000000")


class RetryWatch:
    """Reads a stream line by line; each new reason goes to `tell`.

    `reason` is the last one, empty where the tool did not try again or went on since then.
    """

    def __init__(
        self, marks: tuple[Mark, ...], reasons: tuple[Source, ...], tell: Callable[[str], object]
    ) -> None:
        self._marks, self._reasons, self._tell = marks, reasons, tell
        self._lines = LineReader(_LONGEST_RETRY_LINE, self._look)
        self._told: set[str] = set()
        self.reason = ""

    def __call__(self, chunk: bytes) -> None:
        """Take the next part of the stream."""
        if self._marks:
            self._lines(chunk)

    @property
    def is_limited(self) -> bool:
        """Whether the last reason is a limit: its status, or its words."""
        return bool(_LIMIT.match(self.reason)) or may_be_limit_notice(self.reason)

    def _look(self, line: bytes) -> None:
        event = Output(line.decode("utf-8", "replace"))
        if not event.events:
            return
        if not any(mark.seen(event) for mark in self._marks):
            self.reason = ""
            return
        found = [str(value) for place in self._reasons for value in values(place, event) if value]
        self.reason = one_line(" ".join(found) or "no reason given", _SHOWN)
        kind = self.reason.translate(_DIGITS)  # "1/5", "2/5": the same reason
        if kind not in self._told:
            self._told.add(kind)
            self._tell(f"the tool tries again by itself: {self.reason}")
