"""A recording: every call that a run made to its agents, with the whole prompt and answer.

It is a journal (`storage.journal`): a first line that says whose it is, and a line for each call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_reflex.agents.prompts import VERSION as PROMPTS
from pytest_reflex.errors import Place, UsageError
from pytest_reflex.model.judged import JudgeWhen
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.storage.journal import read_journal
from pytest_reflex.storage.lines import Content

VERSION = 1
ITERATION = "PYTEST_REFLEX_ITERATION"
# What of a reply's details a loop may ask for; the rest is about the machine.
_DETAILS = ("exit", "denied", "may_edit", "limited", "retry_after", "no_wait", "refused", "free")
Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Whose calls these are. `hidden` names the variables whose values stand as `$NAME`.

    `judge_when` says when the run asked its judge: always, where it is older than that choice.
    """

    run_id: str
    project: str
    hidden: tuple[str, ...] = ()
    judge_when: JudgeWhen = JudgeWhen.ALWAYS

    def to_json(self) -> dict[str, Any]:
        return {
            "recording": VERSION,
            "run_id": self.run_id,
            "project": self.project,
            "hidden": list(self.hidden),
            "judge_when": self.judge_when.value,
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Header:
        """Read the first line; raises ValueError with what is wrong with it."""
        version = wire.get("recording")
        if isinstance(version, bool) or not isinstance(version, int):
            raise ValueError("it is not a recording of a loop")
        if version > VERSION:
            raise ValueError(f"it has version {version}, and this program reads up to {VERSION}")
        hidden = _take(wire, "hidden", list)
        return cls(
            run_id=_take(wire, "run_id", str),
            project=_take(wire, "project", str),
            hidden=tuple(map(str, hidden)),
            judge_when=JudgeWhen(wire.get("judge_when", JudgeWhen.ALWAYS)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call: what was asked, at which place of the run, and what came back.

    `attempt` counts the calls of the same step, iteration and phase, from 1; `version` is that of
    the texts of the prompts.
    """

    number: int
    step: str
    iteration: int
    phase: str
    attempt: int
    prompt: str
    agent: str
    answer: str
    error: str = ""
    seconds: float = 0.0
    usd: float | None = None
    tokens: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    version: int = PROMPTS

    @property
    def key(self) -> Key:
        return self.step, self.iteration, self.phase

    def __str__(self) -> str:
        again = f", try {self.attempt}" if self.attempt > 1 else ""
        return f"call {self.number} ({place_of(self.key)}{again})"

    @classmethod
    def of(
        cls, request: StepRequest, reply: Reply, *, number: int, attempt: int, prompt: str
    ) -> RecordedCall:
        return cls.at(key_of(request), reply, number=number, attempt=attempt, prompt=prompt)

    @classmethod
    def at(cls, key: Key, reply: Reply, *, number: int, attempt: int, prompt: str) -> RecordedCall:
        """Return a call at a place of a run."""
        step, iteration, phase = key
        return cls(
            number=number,
            step=step,
            iteration=iteration,
            phase=phase,
            attempt=attempt,
            prompt=prompt,
            agent=reply.agent,
            answer=reply.text,
            error=reply.error,
            seconds=reply.seconds,
            usd=reply.usd,
            tokens=reply.tokens,
            details={k: reply.details[k] for k in _DETAILS if k in reply.details},
        )

    def reply(self) -> Reply:
        """Return what the agent answered, as it did."""
        return Reply(
            text=self.answer,
            agent=self.agent,
            error=self.error,
            seconds=self.seconds,
            usd=self.usd,
            tokens=self.tokens,
            details=dict(self.details),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "call": self.number,
            "step": self.step,
            "iteration": self.iteration,
            "phase": self.phase,
            "try": self.attempt,
            "agent": self.agent,
            "prompts": self.version,
            "prompt": self.prompt,
            "prompt_sha256": sha256(self.prompt),
            "answer": self.answer,
            "error": self.error,
            "seconds": self.seconds,
            "usd": self.usd,
            "tokens": self.tokens,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> RecordedCall:
        """Read a line; raises ValueError with what is wrong with it."""
        prompt = _take(wire, "prompt", str)
        if _take(wire, "prompt_sha256", str) != sha256(prompt):
            raise ValueError("its prompt is not the one that its prompt_sha256 is of")
        return cls(
            number=_take(wire, "call", int),
            step=_take(wire, "step", str),
            iteration=_take(wire, "iteration", int),
            phase=_take(wire, "phase", str),
            attempt=_take(wire, "try", int),
            prompt=prompt,
            agent=_take(wire, "agent", str),
            answer=_take(wire, "answer", str),
            error=_take(wire, "error", str),
            seconds=_take(wire, "seconds", (int, float)),
            usd=_take(wire, "usd", (int, float, type(None))),
            tokens=_take(wire, "tokens", (int, type(None))),
            details=_take(wire, "details", dict),
            version=_take({"prompts": 1, **wire}, "prompts", int),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording as it was read."""

    path: Path
    header: Header
    calls: tuple[RecordedCall, ...]


def key_of(request: StepRequest) -> Key:
    """Return the place of a request in its run: step, iteration, phase."""
    return request.step.value, request.iteration, request.level.value


def iteration_of(environment: Mapping[str, str]) -> int:
    """Return the iteration that the variables of an evaluation give; 1 where they give none."""
    value = environment.get(ITERATION, "")
    return int(value) if value.isdecimal() else 1


def place_of(key: Key) -> str:
    """Return a place in words."""
    return f"{key[0]}, iteration {key[1]}, phase {key[2]}"


def sha256(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, half surrogate pairs as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_recording(path: Path) -> Recording:
    """Return what was recorded; a last line that was never finished does not count.

    Raises UsageError with the line for a file that is not a recording, or a damaged one.
    """
    try:
        content = read_journal(path)
    except FileNotFoundError:
        raise UsageError(f"there is no recording {path}", hint="make one with --record") from None
    if damages := sorted((*content.damages, *content.breaks), key=lambda d: d.line):
        raise _damage_error(path, damages[0].line, damages[0].reason)
    return parse_recording(path, content)


def parse_recording(path: Path, content: Content) -> Recording:
    """Return the recording in the lines of a journal; raises UsageError with the line."""
    total = len(content.records) + len(content.sealed)
    lines = [number for number in range(1, total + 1) if number not in content.sealed]
    if not lines:
        raise _damage_error(path, 1, "it is not a recording of a loop")
    header: Header | None = None
    calls: list[RecordedCall] = []
    for line, record in zip(lines, content.records, strict=True):
        try:
            if header is None:
                header = Header.from_json(record)
            else:
                calls.append(RecordedCall.from_json(record))
        except ValueError as error:
            raise _damage_error(path, line, str(error)) from None
    assert header is not None
    return Recording(path=path, header=header, calls=tuple(calls))


def _damage_error(path: Path, line: int, reason: str) -> UsageError:
    return UsageError(
        f"the recording cannot be used: {reason}",
        place=Place(str(path), line),
        hint="it is taken whole or not at all; record the run again",
    )


def _take(wire: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    value = wire.get(name)
    if name not in wire or isinstance(value, bool) or not isinstance(value, kind):
        raise ValueError(f"its {name} is missing or no {name}")
    return value
