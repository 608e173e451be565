"""What an AI tool reports while it runs: lines of its stream, edits, retries, denied permissions.

The form is that of Claude Code's `--output-format stream-json`: messages whose content has the uses
of tools. A tool that writes no such stream is not monitored, which is not the same as no edits.

Some clients try for minutes before they say that a key is wrong or a server is down. What a stream
calls such a try is data (`retrying`), as is where its reason stands (`retry_reason`).

A mark is a place with values, as of a limit, or a line of stderr. Words of an answer are none: a
tool may say anything about permissions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from pytest_reflex.agents.answers import Output, OutputSource, values
from pytest_reflex.agents.rate_limit import LimitMark
from pytest_reflex.contracts.limits import may_be_limit_notice
from pytest_reflex.model.json_fault import json_object
from pytest_reflex.model.plain import one_line


class LineReader:
    """Gives each whole line to `read`, without its newline; a longer one than `longest` is skipped.

    `longest` is in bytes, and bounds what is kept of a line that has not ended. Lines of a part
    without `wanted` are left out: a flood of short ones takes a minute to look at one by one.
    """

    def __init__(
        self, longest: int, read: Callable[[bytes], object], *, wanted: bytes = b""
    ) -> None:
        self._longest, self._read, self._wanted = longest, read, wanted
        self._line, self._is_long = b"", False

    def __call__(self, chunk: bytes) -> None:
        """Take the next part of the stream."""
        data = self._line + chunk
        if self._wanted in data:
            *lines, rest = data.split(b"\n")
            for line in lines:
                if not self._is_long:
                    self._read(line)
                self._is_long = False
        else:
            _, ended, rest = data.rpartition(b"\n")
            self._is_long = self._is_long and not ended
        self._is_long = self._is_long or len(rest) > self._longest
        self._line = b"" if self._is_long else rest


EDITS = "edits"  # in the details of an answer: times by path
_EDITING = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_PATHS = ("file_path", "notebook_path")
_WANTED = b'"assistant"'
_LONGEST_LINE = 4_000_000  # bytes; a file that is written whole stands in one


class EditWatch:
    """Reads a stream line by line; `edits` are the edits by path, None where it reports none.

    `beside` is given each part of the stream too.
    """

    def __init__(self, beside: Callable[[bytes], object] = lambda chunk: None) -> None:
        self._beside = beside
        self._lines = LineReader(_LONGEST_LINE, self._look, wanted=_WANTED)
        self._seen = False
        self._edits = Counter[str]()

    def __call__(self, chunk: bytes) -> None:
        """Take the next part of the stream."""
        self._beside(chunk)
        self._lines(chunk)

    @property
    def edits(self) -> dict[str, int] | None:
        return dict(self._edits) if self._seen else None

    def _look(self, line: bytes) -> None:
        # Most streams have another form: a look at the bytes is cheap.
        if _WANTED not in line:
            return
        event = json_object(line)
        if not event or event.get("type") != "assistant":
            return
        self._seen = True
        self._edits.update(_edited_paths(event.get("message")))


def _edited_paths(message: Any) -> Iterator[str]:
    content = message.get("content") if isinstance(message, dict) else None
    for item in content if isinstance(content, list) else ():
        if not isinstance(item, dict) or item.get("type") != "tool_use":
            continue
        given = item.get("input")
        if item.get("name") in _EDITING and isinstance(given, dict):
            yield from (given[key] for key in _PATHS if isinstance(given.get(key), str))


_LONGEST_RETRY_LINE = 65_536  # bytes; no event of a try is as long
_SHOWN = 200
_LIMIT = re.compile(r"(?:429|529)\b")
_DIGITS = str.maketrans("0123456789", "0000000000")


class RetryWatch:
    """Reads a stream line by line; each new reason goes to `report`.

    `reason` is the last one, empty where the tool did not try again or went on since then.
    """

    def __init__(
        self,
        marks: tuple[LimitMark, ...],
        reasons: tuple[OutputSource, ...],
        report: Callable[[str], object],
    ) -> None:
        self._marks, self._reasons, self._report = marks, reasons, report
        self._lines = LineReader(_LONGEST_RETRY_LINE, self._look)
        self._reported: set[str] = set()
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
        if not any(mark.matches(event) for mark in self._marks):
            self.reason = ""
            return
        found = [str(value) for place in self._reasons for value in values(place, event) if value]
        self.reason = one_line(" ".join(found) or "no reason given", _SHOWN)
        kind = self.reason.translate(_DIGITS)  # "1/5", "2/5": the same reason
        if kind not in self._reported:
            self._reported.add(kind)
            self._report(f"the tool tries again by itself: {self.reason}")


# In the details of an answer: the sentence about it, and whether the tool may change files.
DENIED, MAY_EDIT = "denied", "may_edit"


def find_denials(marks: tuple[LimitMark, ...], output: Output) -> str:
    """Return what a tool was not allowed to do, each thing once; empty where that was nothing."""
    found = [one_line(text, _SHOWN) for mark in marks for text in mark.texts(output)]
    return one_line(", ".join(dict.fromkeys(found)), 2 * _SHOWN)


def denial_message(name: str, what: str, *, may_edit: bool) -> str:
    """Return the message about it: who, what, and which setting decides; empty for nothing."""
    if not what:
        return ""
    key = "edit_options" if may_edit else "answer_options"
    return f"{name} was not allowed: {what} (what it may do: {key} in agents.{name})"
