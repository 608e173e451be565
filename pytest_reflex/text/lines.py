"""Lines of a text with their line ends, and files that a person wrote for a prompt.

Nothing here normalises what it does not touch.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from typing import Self

from pytest_reflex.errors import UsageError, for_cause, is_file, read_twice

BOM = "\ufeff"

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_ANY_END = re.compile(r"\r\n|\r|\n")


def split(text: str) -> list[str]:
    """Return the lines with their ends; only CRLF, LF and CR end a line."""
    return _LINE.findall(text)


def bare(text: str) -> list[str]:
    """Return the lines without their ends."""
    return [line.rstrip("\r\n") for line in split(text)]


def starts(text: str) -> list[int]:
    """Return the offset of each line, and the length of the text as the last item."""
    offsets = [0]
    for line in split(text):
        offsets.append(offsets[-1] + len(line))
    return offsets


def cut_sections(prompt: str, heading: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the sections of a prompt with their titles, the first of which is the preamble.

    The first group of `heading` is the title of the section that begins there.
    """
    heads = [*heading.finditer(prompt)]
    begins = [0, *(head.start() for head in heads), len(prompt)]
    titles = ["Preamble", *(head[1] for head in heads)]
    texts = (prompt[start:end] for start, end in pairwise(begins))
    return list(zip(titles, texts, strict=True))


def newline_of(text: str) -> str:
    """Return the line end that the text uses most; a line feed where it has none."""
    crlf = text.count("\r\n")
    found = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(found, key=lambda end: found[end])


def with_newline(text: str, newline: str) -> str:
    """Return the text with every line end replaced."""
    return _ANY_END.sub(newline, text)


def fit(before: str, block: str, after: str) -> str:
    """Return whole lines as they can stand between two texts.

    A CR and an LF that meet at a seam would be one line end: they become CR LF and stay two.
    """
    if before.endswith("\r") and block.startswith("\n"):
        block = f"\r{block}"
    if block.endswith("\r") and after.startswith("\n"):
        block = f"{block}\n"
    return block


class LineView:
    """A span of whole lines as clean text, and the way back into the original.

    `text` has line feeds only and lacks up to `indent` blanks of each line; `splice` changes a
    part of it and returns the original with nothing else changed.
    """

    def __init__(
        self, original: str, first: int = 0, last: int | None = None, indent: int = 0
    ) -> None:
        lines = split(original)
        self._original = original
        self._indent = indent
        self._newline = newline_of(original)
        self._real = [sum(map(len, lines[:first]))]
        self._clean = [0]
        self._gone: list[int] = []
        parts = []
        for line in lines[first:last]:
            body = line.rstrip("\r\n")
            gone = min(indent, len(body) - len(body.lstrip(" ")))
            parts.append(body[gone:] + ("\n" if len(body) < len(line) else ""))
            self._gone.append(gone)
            self._clean.append(self._clean[-1] + len(parts[-1]))
            self._real.append(self._real[-1] + len(line))
        self._gone.append(0)
        self.text = "".join(parts)

    def splice(self, start: int, end: int, new: str) -> str:
        """Return the original with `text[start:end]` replaced by `new`.

        The lines of `new` get the indent of the span and the line ends of the original.
        """
        margin = " " * self._indent
        added = with_newline(new, self._newline + margin)
        if margin:
            added = added.replace(f"{self._newline}{margin}{self._newline}", self._newline * 2)
        first, last = self._line(start), self._line(end)
        if start == self._clean[first] and new:
            added = " " * (self._indent - self._gone[first]) + added
        if end == self._clean[last] and new.endswith("\n"):
            added = added[: len(added) - (self._indent - self._gone[last])]
        return self._original[: self._origin(start)] + added + self._original[self._origin(end) :]

    def _line(self, offset: int) -> int:
        return bisect_right(self._clean, offset) - 1

    def _origin(self, offset: int) -> int:
        line = self._line(offset)
        return self._real[line] + self._gone[line] + offset - self._clean[line]


class DataSyntaxError(ValueError):
    """The text is not of the language; `line` and `column` are 1-based, 0 where unknown.

    A second place is given by how the message goes on, such as ", first", and its line.
    """

    def __init__(
        self, reason: str, line: int = 0, column: int = 0, *, other: str = "", other_line: int = 0
    ) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.other = other
        self.other_line = other_line
        where = f"line {line}" + (f", column {column}" if column else "") if line else ""
        super().__init__(f"{where}: {self.message()}" if where else self.message())

    def message(self, first_line: int = 1) -> str:
        """Return what is wrong; lines in it count from the one in which the text begins."""
        if not self.other:
            return self.reason
        return f"{self.reason}{self.other} in line {first_line + self.other_line - 1}"

    @classmethod
    def at(cls, text: str, offset: int, reason: str) -> Self:
        """Return the problem of a character, given by its offset in the text."""
        line = text.count("\n", 0, offset) + 1
        return cls(reason, line, offset - text.rfind("\n", 0, offset))


LONGEST = 100_000  # bytes


def read_own_text(path: Path, what: str, *, longest: int = LONGEST, hint: str = "") -> str:
    """Return the text of a file in UTF-8, without a byte-order mark, with line feeds only.

    Raises UsageError, which calls it `what`, for a file that is not there, no regular one, longer
    than `longest` bytes, in another encoding, or without text; `hint` says what to fix.
    """
    called = f"{path}: {what}"
    try:
        if not read_twice(lambda: is_file(path)):
            fault = "is not a regular file" if path.exists() else "is not there"
            raise UsageError(f"{called} {fault}", hint=hint)
        data = read_twice(lambda: _start_of(path, longest + 1))
    except OSError as error:
        found = UsageError(f"{called} cannot be read: {error.strerror}")
        raise for_cause(found, error) from None
    if len(data) > longest:
        raise UsageError(f"{called} is longer than {longest:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{called} is not UTF-8: byte 0x{data[error.start]:02x}") from None
    if not text.strip() or "\0" in text:
        raise UsageError(f"{called} holds no text")
    return text.replace("\r\n", "\n")


def _start_of(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
