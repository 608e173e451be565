"""What a tool's run came to: its answer and price, or why there is none.

Whether a tool ran into a limit is read from structured output, or from a text that says nothing
else: its answer, or its last words where there is none. Words among others count only in the
message of a failure: elsewhere it may have repeated them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from pytest_reflex.agents.answers import Output, OutputSource, breaks_off, number, values
from pytest_reflex.agents.rate_limit import LimitMark, retry_after, seconds_until_reset
from pytest_reflex.agents.stream import RetryWatch, find_denials
from pytest_reflex.contracts.limits import (
    is_limit_notice,
    is_of_the_account,
    may_be_limit_notice,
)
from pytest_reflex.errors import StateError
from pytest_reflex.model.plain import as_written, one_line, strip_ansi
from pytest_reflex.process.run import Finished
from pytest_reflex.storage.files import read_if_regular

MAX_ANSWER = 20_000_000  # bytes
MAX_OUTPUT = 200_000_000  # bytes; a tool that writes more is ended

_SHOWN = 300
_STDERR_KEPT = 2_000


class ToolFormat(Protocol):
    """What has to be known of a tool to read its output."""

    @property
    def name(self) -> str: ...
    @property
    def answer(self) -> OutputSource: ...
    @property
    def cost(self) -> tuple[OutputSource, ...]: ...
    @property
    def tokens(self) -> tuple[OutputSource, ...]: ...
    @property
    def failures(self) -> tuple[OutputSource, ...]: ...
    @property
    def success(self) -> tuple[int, ...]: ...
    @property
    def exits(self) -> Mapping[int, str]: ...
    @property
    def limits(self) -> tuple[LimitMark, ...]: ...
    @property
    def denied(self) -> tuple[LimitMark, ...]: ...
    @property
    def retry_after(self) -> tuple[OutputSource, ...]: ...
    @property
    def timeout(self) -> float: ...
    @property
    def timeout_of(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """`text` is the answer, or where there is an `error` whatever the tool wrote.

    `retry_after` is in seconds, None where the tool does not say when its limit ends; with
    `no_wait` no time ends it. `silent` where the tool did all that it had to but answer: a tool
    that changes files need not say anything. `partial` is the answer file of a tool that failed,
    `denied` what the tool was not allowed to do.
    """

    text: str
    error: str
    usd: float | None
    tokens: int | None
    stderr: str
    limited: bool = False
    retry_after: float | None = None
    no_wait: bool = False
    silent: bool = False
    partial: str = ""
    denied: str = ""

    @classmethod
    def of(
        cls,
        finished: Finished,
        tool: ToolFormat,
        answer_file: Path,
        redact: Callable[[str], str],
        *,
        retries: RetryWatch,
        verbatim: bool = False,
    ) -> ToolOutcome:
        """Read the output of a tool that has ended; `redact` comes before anything is cut.

        A `verbatim` answer, which becomes an artifact, is not redacted. `retries` has followed the
        output.
        """
        output = Output(redact(_text(finished.stdout)), redact(_text(finished.stderr)))
        error = _stop_message(finished, tool, redact(retries.reason)) or _failure_message(
            finished, tool, output
        )
        text, silent = output.stdout, False
        limited = _is_limited(finished, tool, output, retries) if error else False
        if not error:
            try:
                answer = _answer(finished, tool.answer, answer_file)
                text = answer if verbatim else redact(answer)
            except ValueError as fault:
                error, silent = str(fault), isinstance(fault, _NoAnswerError)
                if not strip_ansi(text).strip() and (words := _last_words(output)):
                    error += f": {one_line(words, _SHOWN)}"
        said = (_message(tool, output) or _last_words(output)) if error else text
        partial = ""
        if error and tool.answer.kind == "file":  # paid for: it is kept
            partial = redact(partial_answer(answer_file, b""))
            text = partial or text if finished.timed_out else text
        has_notice = bool(error) and may_be_limit_notice(_message(tool, output))
        limited = limited or (not finished.stopped and (has_notice or is_limit_notice(said)))
        ends: float | None = None
        if limited:
            reason = f": {one_line(said.strip(), _SHOWN)}" if said.strip() else ""
            error = f"the tool ran into a limit{reason}" if not finished.stopped else error
            ends = retry_after(tool.retry_after, output)
            ends = seconds_until_reset(said, now()) if ends is None else ends
        tokens = number(tool.tokens, output)
        return cls(
            text=text,
            error=error,
            usd=number(tool.cost, output),
            tokens=None if tokens is None else int(tokens),
            stderr=output.stderr[-_STDERR_KEPT:],
            limited=limited,
            retry_after=ends,
            no_wait=limited and ends is None and is_of_the_account(said),
            silent=silent and not limited,
            partial=partial,
            denied=find_denials(tool.denied, output),
        )


def now() -> datetime:
    """Return the time, with the zone of this machine."""
    return datetime.now().astimezone()


def _is_limited(finished: Finished, tool: ToolFormat, output: Output, retries: RetryWatch) -> bool:
    """Return whether a field says so; of a tool that we ended, that of its last own try."""
    if finished.stopped:
        return retries.is_limited
    return any(mark.matches(output) for mark in tool.limits)


def partial_answer(answer_file: Path | None, stdout: bytes) -> str:
    """Return what a tool has written of its answer: to its file, else to its output."""
    if answer_file is not None:
        with suppress(ValueError):
            if written := _text(_read_answer_file(answer_file)):
                return written
    return _text(stdout)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _stop_message(finished: Finished, tool: ToolFormat, retrying: str) -> str:
    if finished.timed_out:
        whose = tool.timeout_of or f"the timeout of agents.{tool.name}"
        check = "check its key, its address and the network"
        reason = f"; it kept trying by itself ({retrying}): {check}" if retrying else ""
        return f"no answer within {tool.timeout:g} s ({whose}){reason}"
    if finished.cancelled:
        return "it was ended because the run is ending"
    if finished.overflow:
        return f"it wrote more than {MAX_OUTPUT:,} bytes and was ended"
    return ""


def _failure_message(finished: Finished, tool: ToolFormat, output: Output) -> str:
    said = _message(tool, output) or _cut(finished, tool.answer, output) or _last_words(output)
    tail = f": {one_line(said, _SHOWN)}" if said else ""
    if finished.signal is not None:
        return f"it was ended by signal {finished.signal}{tail}"
    if finished.returncode not in tool.success:
        meaning = tool.exits.get(finished.returncode or 0, "")
        known = f" ({meaning})" if meaning else ""
        return f"it left with exit status {finished.returncode}{known}{tail}"
    for place in tool.failures:
        if any(values(place, output)):
            return f"it says that it failed ({place.spelt}){tail}"
    return ""


class _NoAnswerError(ValueError):
    """Nothing was answered."""


def _answer(finished: Finished, place: OutputSource, answer_file: Path) -> str:
    """Return the answer; raises ValueError with the reason where there is none."""
    data = finished.stdout
    if place.kind == "file":
        data = _read_answer_file(answer_file)
    elif finished.stdout_truncated or len(data) > MAX_ANSWER:
        raise ValueError(f"its answer is longer than {MAX_ANSWER:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"its answer is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None
    if place.kind in ("json", "jsonl-last"):
        output = Output(text)
        found = values(place, output)
        if not found:
            cut = _cut(finished, place, output)
            raise ValueError(cut or f"its output has no {place.spelt}")
        text = _as_text(found[0], place)
    if not strip_ansi(text).strip():
        raise _NoAnswerError("it answered nothing")
    return text


def _cut(finished: Finished, place: OutputSource, output: Output) -> str:
    """Return that the output breaks off in its JSON, empty where it does not."""
    if not breaks_off(place, output):
        return ""
    return f"its output is cut at {finished.stdout_total:,} bytes, in the middle of its JSON"


def _as_text(value: Any, place: OutputSource) -> str:
    """Return the text of an answer in JSON; an object or a list is one as it is written."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    raise ValueError(f"its {place.spelt} is not text: {as_written(value)}")


def _read_answer_file(answer_file: Path) -> bytes:
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


def _message(tool: ToolFormat, output: Output) -> str:
    """Return what the tool says in structured output about how it went."""
    places = (*tool.failures, *((tool.answer,) if tool.answer.path else ()))
    found = (_words(value) for place in places for value in values(place, output))
    return next((words for words in found if words), "")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        data = value.get("data")
        value = value.get("message") or (data.get("message") if isinstance(data, dict) else None)
    return value.strip() if isinstance(value, str) else ""


def without_answer(error: str, text: str) -> str:
    """Return an error without what the tool wrote to stdout, where that is its reason.

    For callers that read a verdict: the words might look like one.
    """
    words = one_line(_last_words(Output(text, "")), _SHOWN)
    if not words or not error.endswith(f": {words}"):
        return error
    return f"{error.removesuffix(f': {words}')} (its answer is left out)"


def _last_words(output: Output) -> str:
    """Return the last line of stderr, else of stdout."""
    for text in (output.stderr, output.stdout):
        lines = strip_ansi(text[-_STDERR_KEPT:]).strip().splitlines()
        if lines:
            return lines[-1].strip()
    return ""
