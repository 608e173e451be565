"""A stage for whole loops: criteria in a file, an agent that plays a script, the core evaluator."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.setup import NewLoop, begin, propose, take_up
from pytest_reflex.host import CoreEvaluator, Host, open_host
from pytest_reflex.model.events import Event
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.settings import load

CRITERIA = """\
name: words
version: 1
phases: {A: {threshold: 0.8}, B: {threshold: 0.9}}
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: a.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
  - {id: b.x.gamma, description: says gamma, severity: fail, check: {type: content, search: gamma}}
"""

PLAN = json.dumps({"plan": ["say alpha", "say beta", "say gamma"]})
Line = str | Reply | Exception | Callable[[StepRequest], str]


def issues(*rule_ids: str) -> str:
    """Return a critique on the wire."""
    rows = [
        {"rule_id": r, "problem": "missing", "fix_instruction": "say it", "expected_effect": "ok"}
        for r in rule_ids
    ]
    return json.dumps({"issues": rows})


def critique_all(request: StepRequest) -> str:
    assert request.evaluation
    return issues(*(r.rule.id for r in request.evaluation.results if r.unmet))


class Script:
    """Answers each step with the next line written for it; the last line repeats."""

    def __init__(self, **lines: Line | Sequence[Line]) -> None:
        given: Mapping[str, Any] = {"plan": PLAN, "critique": critique_all, **lines}
        self.lines = {k: list(v) if isinstance(v, list) else [v] for k, v in given.items()}
        self.requests: list[StepRequest] = []

    def _say(self, step: str, request: StepRequest) -> Reply | None:
        self.requests.append(request)
        lines = self.lines.get(step)
        if not lines:
            return None
        line = lines.pop(0) if len(lines) > 1 else lines[0]
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        return Reply(text=line(request) if callable(line) else line, agent="script")

    def pytest_reflex_plan(self, request: StepRequest) -> Reply | None:
        return self._say("plan", request)

    def pytest_reflex_produce(self, request: StepRequest) -> Reply | None:
        return self._say("produce", request)

    def pytest_reflex_prepare(self, request: StepRequest) -> Reply | None:
        return self._say("prepare", request)

    def pytest_reflex_critique(self, request: StepRequest) -> Reply | None:
        return self._say("critique", request)

    def pytest_reflex_refine(self, request: StepRequest) -> Reply | None:
        return self._say("refine", request)

    def asked(self) -> list[str]:
        return [request.step.value for request in self.requests]


class Stage:
    """A project folder in which loops are played."""

    def __init__(self, project: Path, criteria: str = CRITERIA) -> None:
        self.project = project
        self.criteria = project / "criteria.yaml"
        self.criteria.write_text(criteria, encoding="utf-8")

    @property
    def root(self) -> Path:
        return self.project / ".ai-factory" / "evolution"

    def host(self, script: object) -> Host:
        host = open_host()
        host.manager.register(CoreEvaluator(host.registry))
        host.manager.register(script)
        return host

    def begin(
        self, script: object, flags: Mapping[str, Any] | None = None, **order: Any
    ) -> AbstractContextManager[ReflexLoop]:
        host, settings = self.host(script), load(self.project, flags)
        wanted = {"task": "say words", "confirmed_by": "test", "alias": "words", **order}
        proposal = propose(
            NewLoop(criteria=str(self.criteria), **wanted),
            settings=settings,
            registry=host.registry,
            project=self.project,
        )
        return begin(proposal, settings=settings, project=self.project, hooks=host.hooks, agents={})

    def resume(
        self, script: object, alias: str = "words", *, accept_changes: bool = False
    ) -> AbstractContextManager[ReflexLoop]:
        return take_up(
            self.root / alias,
            project=self.project,
            hooks=self.host(script).hooks,
            accept_changes=accept_changes,
        )

    def play(
        self, script: object, flags: Mapping[str, Any] | None = None, **order: Any
    ) -> list[Event]:
        """Play a loop to its end and return its events."""
        with self.begin(script, flags, **order) as loop:
            return list(history_of(loop))

    def run_json(self, alias: str = "words") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / alias / "run.json").read_text("utf-8"))
        return found

    def artifact(self, alias: str = "words") -> str:
        return (self.root / alias / "artifact.md").read_text("utf-8")


def history_of(loop: ReflexLoop) -> Generator[Event, None, None]:
    """Drive a loop; yield the events of its history, each as what it yields has it whole."""
    with closing(loop.events()) as events:
        for event in events:
            if kind := event.fields.get("event"):
                status = "error" if kind in ("phase_error", "failed") else "ok"
                yield Event.from_json(
                    {**event.fields, "iteration": event.iteration, "status": status}
                )


def story(events: list[Event]) -> list[str]:
    """Return the kinds of events, in order."""
    return [event.kind.value for event in events]
