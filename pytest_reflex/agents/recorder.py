"""The plugin that records a run: every answer is on the disk before it is used, those of judges
too.

EVALUATE may run in a process of its own, which cannot write to the recording: both know the file.
Promises: a call is in the file before its answer is used; only its owner may read it.

Promises: the file is made by this run alone, readable by its owner only, and never replaced; each
call is a durable line; values of secret variables stand as `$NAME`.
Limits: what an agent wrote of its own accord is kept as it came, as in the run's history.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import pluggy

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.environment import literal_secrets, references
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.agents.recording import (
    Header,
    Key,
    RecordedCall,
    iteration_of,
    key_of,
    parse_recording,
)
from pytest_reflex.agents.replay import ReplayAgent
from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.judged import Case, JudgeWhen
from pytest_reflex.model.steps import Agent, Askable, Question, Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.process.environment import redact, secrets
from pytest_reflex.process.guard import make_folder, remove_folder
from pytest_reflex.storage.journal import Journal
from pytest_reflex.storage.lines import Content

_FILE = "calls.jsonl"


@dataclass(slots=True, eq=False)
class JudgeRecorder:
    """Records the calls of an `AgentJudge`; close it in the end."""

    _folder: Path | None = None
    _lock: Lock = field(default_factory=Lock)

    def begin(self) -> None:
        """Make the file's folder; called before the process that asks is started."""
        if self._folder is None:
            self._folder = make_folder("reflex-heard-")

    def __call__(self, case: Case, question: Question, reply: Reply) -> None:
        """Write one call; votes on different rules come from several threads."""
        if self._folder is None:
            return
        wire = {
            "prompt": question.prompt,
            "text": reply.text,
            "agent": reply.agent,
            "error": reply.error,
            "seconds": reply.seconds,
            "usd": reply.usd,
            "tokens": reply.tokens,
            "details": dict(reply.details),
        }
        line = json.dumps(wire, default=str).encode() + b"\n"
        with self._lock:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            descriptor = os.open(self._folder / _FILE, flags, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)

    def drain(self) -> Iterator[tuple[str, Reply]]:
        """Yield the prompts and answers so far, each once; half a line was not used."""
        path = self._folder and self._folder / _FILE
        if path is None or not path.exists():
            return
        lines = path.read_bytes().split(b"\n")[:-1]
        path.unlink()
        for line in lines:
            wire: dict[str, Any] = json.loads(line)
            prompt = wire.pop("prompt")
            yield prompt, Reply(**wire)

    def close(self) -> None:
        """Remove the file; closing twice is fine."""
        if self._folder is not None:
            remove_folder(self._folder)
            self._folder = None


PLACES = ("{alias}", "{run_id}")
_around = pluggy.HookimplMarker("pytest")(wrapper=True)


@dataclass(slots=True, kw_only=True, eq=False)
class Recorder:
    """Records the run that starts next into `template`, a path that may hold `PLACES`.

    `project` is the folder that relative paths start from. Close it, or use it in a `with`.
    """

    template: str
    project: Path
    hidden: Mapping[str, str] = field(default_factory=dict)
    heard: JudgeRecorder = field(default_factory=JudgeRecorder)
    _journal: Journal | None = None
    _calls: int = 0
    _tries: Counter[Key] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def prepare(cls, template: str, project: Path) -> Recorder:
        """Return the recorder of a run to come; raises UsageError where the file is there."""
        recorder = cls(template=template, project=project)
        if not any(place in template for place in PLACES):
            recorder._refuse(recorder.path("", ""))
        return recorder

    def path(self, alias: str, run_id: str) -> Path:
        """Return the file of a run."""
        name = self.template.replace("{alias}", alias).replace("{run_id}", run_id)
        return self.project / name

    def go_on(self, alias: str, run_id: str) -> str:
        """Append to the recording of an interrupted run; return a warning where there is none.

        Raises UsageError for a file that is not the recording of this run.
        """
        path = self.path(alias, run_id)
        try:
            journal = Journal.open(path)
        except FileNotFoundError:
            return f"the recording {path} is gone: this run goes on without it"
        try:
            recording = parse_recording(path, Content(records=tuple(journal.records)))
            if recording.header.run_id != run_id:
                raise UsageError(
                    f"{path} is the recording of another run, {recording.header.run_id}",
                    hint="move it away to go on without recording",
                )
        except BaseException:
            journal.close()
            raise
        self._journal, self._calls = journal, len(recording.calls)
        self._tries = Counter(call.key for call in recording.calls)
        return ""

    def watch(self, agents: Iterable[Agent | Askable]) -> None:
        """Learn whose secrets may not be written."""
        self.hidden = {**self.hidden, **secret_values(agents)}

    def pytest_reflex_record(self, event: Event) -> None:
        """Make the file when the run has begun: only then its id is known."""
        if event.kind is not EventKind.RUN_STARTED:
            return
        path = self.path(event.payload["task_alias"], event.run_id)
        named = (word for word in self.hidden.values() if word.startswith("$"))
        names = tuple(sorted(word.removeprefix("$") for word in named))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{path.parent} could not be made: {error.strerror}") from None
        self._refuse(path)
        self._journal = Journal.create(path)
        setup = event.payload.get("setup", {})
        when = JudgeWhen(setup.get("judge_when", JudgeWhen.ALWAYS))
        project = str(self.project)
        header = Header(run_id=event.run_id, project=project, hidden=names, judge_when=when)
        self._journal.append(header.to_json())

    def pytest_reflex_answered(self, request: StepRequest, reply: Reply) -> None:
        """Write a call; PRODUCE and PREPARE may come from two threads."""
        self._write(key_of(request), prompt_for(request), reply)

    @_around
    def pytest_reflex_evaluate(self, target: Target) -> Generator[None, object, object]:
        """Write what a judge was asked and answered, before its votes are used."""
        self.heard.begin()
        try:
            return (yield)
        finally:
            key = (Step.EVALUATE.value, iteration_of(target.environment), target.level.value)
            for prompt, reply in self.heard.drain():
                self._write(key, prompt, reply)

    def _write(self, key: Key, prompt: str, reply: Reply) -> None:
        if self._journal is None:
            return
        hidden = redact(prompt, self.hidden)
        with self._lock:
            self._tries[key] += 1
            self._calls += 1
            kept = replace(reply, text=redact(reply.text, self.hidden))
            call = RecordedCall.at(
                key, kept, number=self._calls, attempt=self._tries[key], prompt=hidden
            )
            self._journal.append(call.to_json())

    def close(self) -> None:
        """Let go of the file; closing twice is fine."""
        self.heard.close()
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refuse(self, path: Path) -> None:
        if os.path.lexists(path):
            raise UsageError(
                f"{path} is there already, and a recording is never written over",
                hint="name another file; {run_id} in its name makes one for each run",
            )


def secret_values(agents: Iterable[Agent | Askable]) -> dict[str, str]:
    """Return the values that tools get and that must not be kept, with what stands for them."""
    found: dict[str, str] = {}
    for agent in agents:
        if isinstance(agent, CommandAgent):
            named = [name for item in agent.words for name in references(item)]
            found |= literal_secrets(agent.words) | secrets(os.environ, agent.env, named)
        elif isinstance(agent, ReplayAgent):
            found |= agent.hidden
    return found
