"""The agent that answers from a recording, and what two runs of the same task may differ in.

Openly: the run's id and folder, the project's folder, our temporary folders, measured times
("0.12s") and addresses of objects. A text that differs in anything else is another text.

A call is found by step, iteration, phase and its exact prompt, as `normalize` has it. Where the
same prompt was asked more than once at one place, an interruption came between: only the last
answer was used, and it is the one that counts. Where an earlier version of the prompts was used, if
only before a resume, step, iteration, phase and order have to do, and that it was the same task or
artifact: later prompts hold what that version said of the artifact.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import pluggy

from pytest_reflex.agents.prompts import VERSION, boundary, prompt_for
from pytest_reflex.agents.recording import (
    Key,
    RecordedCall,
    iteration_of,
    key_of,
    place_of,
    read_recording,
)
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Question, Reply, StepRequest
from pytest_reflex.process.environment import redact

_VARYING = (
    (re.compile(r"(?:/[\w.+-]+)*/reflex-(?:[a-z]+-)?[a-z0-9_]{8}(?![\w-])"), "{temporary}"),
    (re.compile(r"\b\d+\.\d+ ?(?:ms|s|seconds)\b"), "{time}"),
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "{address}"),
)
_TIME_OF_START = "-20260101-000000"
_SHOWN, _BEFORE = 100, 30


def normalize(text: str, *, run_ids: Iterable[str] = (), folders: Iterable[str] = ()) -> str:
    """Return a text with the words `{run}`, `{project}`, `{temporary}`, `{time}` and `{address}`.

    `run_ids` and `folders` are those of both runs, because an answer of the one may have carried
    them into the other.
    """
    for run_id in run_ids:
        text = text.replace(run_id, "{run}")
        alias = run_id[: -len(_TIME_OF_START)]
        text = text.replace(f"/{alias}/artifact.md", "/{run}/artifact.md")
    for folder in sorted((f for f in folders if len(f) > 1), key=len, reverse=True):
        text = re.sub(re.escape(folder) + r"(?![\w.-])", "{project}", text)
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def first_difference(recorded: str, now: str) -> tuple[int, str, str]:
    """Return the first line (1-based) in which two texts differ, as it was and as it is.

    Of a long line the part around the difference is returned; "no line" where there is none.
    """
    old, new = recorded.split("\n"), now.split("\n")
    shared = min(len(old), len(new))
    number = next((n for n in range(shared) if old[n] != new[n]), shared)
    was, is_now = (lines[number] if number < len(lines) else None for lines in (old, new))
    start = max(_same_start(was or "", is_now or "") - _BEFORE, 0)
    return number + 1, _part(was, start), _part(is_now, start)


def _same_start(one: str, other: str) -> int:
    shared = min(len(one), len(other))
    return next((n for n in range(shared) if one[n] != other[n]), shared)


def _part(line: str | None, start: int) -> str:
    if line is None:
        return "no line"
    before, after = "…" if start else "", "…" if len(line) > start + _SHOWN else ""
    return repr(f"{before}{line[start : start + _SHOWN]}{after}")


NAME = "replay"
MISSED = "missed"  # in the details: the recording has no such call
_first = pluggy.HookimplMarker("pytest")(tryfirst=True)


class ReplayAgent:
    """Answers as a recording says; `project` is the folder that replaces the recorded.

    Raises UsageError where the recording cannot be used.
    """

    name = NAME
    is_free = True

    def __init__(self, path: Path, project: Path) -> None:
        recording = read_recording(path)
        header = recording.header
        self._run_id, self.judge_when = header.run_id, header.judge_when
        self._folders = (header.project, str(project), str(project.resolve()))
        self.hidden = {os.environ[n]: f"${n}" for n in header.hidden if os.environ.get(n)}
        self._calls = recording.calls
        self._is_of_other_prompts = any(call.version != VERSION for call in recording.calls)
        self._used: set[int] = set()
        self._missed: dict[Key, str] = {}
        self._lock = Lock()

    @classmethod
    def from_table(cls, table: Mapping[str, Any], project: Path) -> ReplayAgent:
        """Return the agent of a table `{kind = "replay", recording = FILE}`; raises UsageError."""
        path = table.get("recording")
        if unknown := [key for key in table if key not in ("kind", "recording")]:
            raise UsageError(f"agent replay: {unknown[0]} is not a key of a replay")
        if not isinstance(path, str) or not path.strip():
            raise UsageError(
                "agent replay needs a recording",
                hint='recording = "FILE" in its table, or --replay FILE',
            )
        return cls(project / path, project)

    def respond(self, request: StepRequest) -> Reply:
        """Answer a step as it was answered; a prompt that drifted is an error that says where."""
        key = key_of(request)
        with self._lock:
            # The second try of a step that missed has the first one's error in its prompt.
            if key in self._missed:
                return self._miss(key)
            found = self._find(key, request)
            if isinstance(found, str):
                self._missed[key] = found
                return self._miss(key)
            self._used.add(found.number)
            return found.reply()

    @property
    def judges(self) -> bool:
        """Whether a judge was asked in the recording."""
        return any(call.step == Step.EVALUATE for call in self._calls)

    def ask(self, question: Question) -> Reply:
        """Answer for the judge as it did in this iteration, to the very same prompt.

        EVALUATE may run in a separate process: used calls are not recorded here, and no prompt of
        a judge is asked twice.
        """
        iteration = iteration_of(question.environment)
        here = [c for c in self._calls if (c.step, c.iteration) == (Step.EVALUATE, iteration)]
        now = self._plain(question.prompt)
        same = [call for call in here if self._plain(call.prompt) == now]
        if same:
            return same[-1].reply()
        why = f"the recording has no such question to an LLM judge in iteration {iteration}"
        return Reply(text="", agent=NAME, error=why, details={"free": True})

    def _plain(self, text: str, run_id: str = "") -> str:
        """Return what of a prompt two runs of the same task share."""
        ids = [one for one in (self._run_id, run_id) if one]
        return normalize(redact(text, self.hidden), run_ids=ids, folders=self._folders)

    def unused_calls(self) -> tuple[RecordedCall, ...]:
        """Return the calls of steps after the first used one that the replay did not use."""
        first = min(self._used, default=1)
        steps = (call for call in self._calls if call.step != Step.EVALUATE)
        return tuple(c for c in steps if c.number >= first and c.number not in self._used)

    def _find(self, key: Key, request: StepRequest) -> RecordedCall | str:
        """Return the recorded call of a request, or why there is none."""
        here = [call for call in self._calls if call.key == key]
        left = [call for call in here if call.number not in self._used]
        others = (left or here) if self._is_of_other_prompts else []
        # What an earlier version took may be asked for again today: it was the answer.
        if not left and not (others and request.refusal):
            return f"the recording has no further call at {place_of(key)}"

        def plain(text: str) -> str:
            return self._plain(text, request.run_id)

        now = plain(prompt_for(request))
        same = [call for call in left if plain(call.prompt) == now]
        if not same and others:
            first = plain(others[0 if left else -1].prompt)
            same = [call for call in others if plain(call.prompt) == first]
            if not _is_about(request, first, plain):
                return f"{same[-1]} is about another task or artifact"
        if same:
            self._used |= {call.number for call in same}
            return same[-1]
        line, was, is_now = first_difference(plain(left[0].prompt), now)
        return (
            f"the prompt is not the recorded one: {left[0]}, line {line} of it: "
            f"recorded {was}, now {is_now}"
        )

    def _miss(self, key: Key) -> Reply:
        details = {"free": True, MISSED: True}
        return Reply(text="", agent=NAME, error=self._missed[key], details=details)


def _is_about(request: StepRequest, prompt: str, plain: Callable[[str], str]) -> bool:
    """Return whether a prompt of another version is about the artifact of a request, or its task.

    An artifact stands between marks that are made of it.
    """
    if request.step in (Step.CRITIQUE, Step.REFINE):
        return boundary(request.artifact or "") in prompt
    return plain(request.task) in prompt


class ReplayRouter:
    """Answers all steps from one recording, before any plugin: a replay needs none of them."""

    def __init__(self, agent: ReplayAgent) -> None:
        self.agent = agent

    @_first
    def pytest_reflex_plan(self, request: StepRequest) -> Reply:
        return self.agent.respond(request)

    @_first
    def pytest_reflex_produce(self, request: StepRequest) -> Reply:
        return self.agent.respond(request)

    @_first
    def pytest_reflex_prepare(self, request: StepRequest) -> Reply:
        return self.agent.respond(request)

    @_first
    def pytest_reflex_critique(self, request: StepRequest) -> Reply:
        return self.agent.respond(request)

    @_first
    def pytest_reflex_refine(self, request: StepRequest) -> Reply:
        return self.agent.respond(request)
