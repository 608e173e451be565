"""What a tool's run came to: its answer and price, or why there is none.

Whether a tool ran into a limit is read from structured output, or from an answer that says nothing
else; never from words among others, which the tool may only have repeated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pytest_reflex.agents.answers import Source, number, values
from pytest_reflex.contracts.limits import is_limit_notice
from pytest_reflex.errors import StateError
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.run import Finished
from pytest_reflex.store.regular import read_if_regular

MAX_ANSWER = 20_000_000  # bytes
MAX_OUTPUT = 200_000_000  # bytes; a tool that writes more is ended

_SHOWN = 300
_STDERR_KEPT = 2_000


class Tool(Protocol):
    """What has to be known of a tool to read its output."""

    @property
    def answer(self) -> Source: ...
    @property
    def cost(self) -> tuple[Source, ...]: ...
    @property
    def tokens(self) -> tuple[Source, ...]: ...
    @property
    def failures(self) -> tuple[Source, ...]: ...
    @property
    def success(self) -> tuple[int, ...]: ...
    @property
    def timeout(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`text` is the answer, or where there is an `error` whatever the tool wrote."""

    text: str
    error: str
    usd: float | None
    tokens: int | None
    stderr: str
    limit: bool

    @classmethod
    def of(cls, finished: Finished, tool: Tool, answer_file: Path) -> Outcome:
        """Read the output of a tool that has ended."""
        stdout = finished.stdout.decode("utf-8", "backslashreplace")
        error = _stopped(finished, tool) or _failed(finished, tool, stdout)
        text = stdout
        if not error:
            try:
                text = _answer(finished, tool.answer, answer_file)
            except ValueError as fault:
                error = str(fault)
        said = _message(tool, stdout) if error else text
        limit = not finished.stopped and is_limit_notice(said)
        if limit:
            error = f"the tool ran into a limit: {one_line(said.strip(), _SHOWN)}"
        tokens = number(tool.tokens, stdout)
        return cls(
            text=text,
            error=error,
            usd=number(tool.cost, stdout),
            tokens=None if tokens is None else int(tokens),
            stderr=finished.stderr[-_STDERR_KEPT:].decode("utf-8", "backslashreplace"),
            limit=limit,
        )


def _stopped(finished: Finished, tool: Tool) -> str:
    if finished.timed_out:
        return f"no answer within {tool.timeout:g} s"
    if finished.cancelled:
        return "it was ended because the run is ending"
    if finished.overflow:
        return f"it wrote more than {MAX_OUTPUT:,} bytes and was ended"
    return ""


def _failed(finished: Finished, tool: Tool, stdout: str) -> str:
    said = _message(tool, stdout) or _last_words(finished)
    tail = f": {one_line(said, _SHOWN)}" if said else ""
    if finished.signal is not None:
        return f"it was ended by signal {finished.signal}{tail}"
    if finished.returncode not in tool.success:
        return f"it left with exit status {finished.returncode}{tail}"
    for place in tool.failures:
        if any(values(place, stdout)):
            return f"it says that it failed ({place.spelt}){tail}"
    return ""


def _answer(finished: Finished, place: Source, answer_file: Path) -> str:
    """Return the answer; raises ValueError with the reason where there is none."""
    data = finished.stdout
    if place.kind == "file":
        data = _written(answer_file)
    elif finished.stdout_truncated or len(data) > MAX_ANSWER:
        raise ValueError(f"its answer is longer than {MAX_ANSWER:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"its answer is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None
    if place.kind in ("json", "jsonl-last"):
        found = values(place, text)
        if not found:
            raise ValueError(f"its output has no {place.spelt}")
        text = found[0] if isinstance(found[0], str) else json.dumps(found[0], ensure_ascii=False)
    if not text.strip():
        words = _last_words(finished) if place.kind == "stdout" else ""
        raise ValueError("it answered nothing" + (f": {one_line(words, _SHOWN)}" if words else ""))
    return text


def _written(answer_file: Path) -> bytes:
    """Return what a tool wrote; a longer answer than may be is not read."""
    try:
        if answer_file.lstat().st_size > MAX_ANSWER:
            raise ValueError(f"its answer is longer than {MAX_ANSWER:,} bytes")
        data = read_if_regular(answer_file, MAX_ANSWER)
    except OSError:
        data = None
    except StateError as error:
        raise ValueError(f"its answer cannot be used: {error.problems[0].message}") from None
    if data is None:
        raise ValueError("it did not write its answer to {answer_file}")
    return data


def _message(tool: Tool, stdout: str) -> str:
    """Return what the tool says in structured output about how it went."""
    places = (*tool.failures, *((tool.answer,) if tool.answer.path else ()))
    found = (_words(value) for place in places for value in values(place, stdout))
    return next((words for words in found if words), "")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("message")
    return value.strip() if isinstance(value, str) else ""


def _last_words(finished: Finished) -> str:
    """Return the last line of stderr, else of stdout."""
    for data in (finished.stderr, finished.stdout):
        lines = data[-_STDERR_KEPT:].decode("utf-8", "backslashreplace").strip().splitlines()
        if lines:
            return lines[-1].strip()
    return ""
