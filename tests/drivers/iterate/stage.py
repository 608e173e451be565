"""A loop on a stage: scripted answers, a clock that is turned by hand, and what was reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.iterate.gates import Gates
from pytest_reflex.drivers.iterate.iteration_loop import IterationLoop
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.model import Bounds, IterationGate, Phase, Procedure, State
from pytest_reflex.drivers.iterate.run_config import RunConfig
from pytest_reflex.drivers.iterate.state import read_state, state_file
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Question, Reply

AT = "2026-02-06T10:00:00Z"
GOOD = Reply(text="did it", agent="tool")
BAD = Reply(text="", agent="tool", error="it left", details={"end": "exit", "exit": 1})
LIMIT = Reply(text="You have hit your limit, resets 5pm", agent="tool")
YES = Reply(text="all is done\n<promise>SUCCESS</promise>\n", agent="tool")
NO = Reply(text="it cannot be done\n<promise>FAILURE</promise>\n", agent="tool")

Act = Reply | BaseException | Callable[[Question], Reply]


@dataclass
class Script:
    """An agent that gives one answer after the other, the last one for ever."""

    acts: Sequence[Act]
    name: str = "tool"
    asked: list[Question] = field(default_factory=list)
    seconds: float = 1.0
    clock: list[float] = field(default_factory=lambda: [0.0])

    def ask(self, question: Question) -> Reply:
        act = self.acts[min(len(self.asked), len(self.acts) - 1)]
        self.asked.append(question)
        self.clock[0] += self.seconds
        if isinstance(act, BaseException):
            raise act
        return act if isinstance(act, Reply) else act(question)


@dataclass
class Stage:
    """A folder in which a procedure runs; `trees` are how it is before and after an iteration."""

    root: Path
    script: Script
    bounds: Bounds = field(default_factory=Bounds)
    gates: Sequence[IterationGate] = ()
    trees: Iterator[str | None] | None = None
    prompt: str = "do it"
    budget: int = 1000
    success: bool = True
    failure: bool = False
    lines: list[str] = field(default_factory=list)
    loop: IterationLoop | None = None

    def run(self, state: State | None = None) -> ExitCode:
        """Drive the procedure from a state, by default from the start."""
        log = Log("build", self.lines.append, clock=self._time)
        with state_file(self.root, "build", log.error) as file:
            self.loop = IterationLoop(
                self._work(),
                state=state or self.fresh(),
                file=file,
                log=log,
                clock=lambda: self.script.clock[0],
                now=lambda: AT,
            )
            for _ in self.loop.events():
                pass
            return self.loop.exit_code

    def fresh(self) -> State:
        return State(
            procedure_name="build",
            max_iterations=self.bounds.max_iterations,
            failure_threshold=self.bounds.failure_threshold,
            started_at=AT,
        )

    def saved(self) -> State | None:
        return read_state(self.root, "build")

    def told(self) -> list[str]:
        """Return the lines without their times."""
        return [line.partition("] ")[2] for line in self.lines]

    def with_answers(self, *acts: Act) -> Stage:
        """Return the same folder with another script."""
        return replace(self, script=Script(acts), lines=[])

    def _time(self) -> datetime:
        return datetime.fromisoformat(AT) + timedelta(seconds=self.script.clock[0])

    def _prompt(
        self, number: int, total: int, said: Sequence[str], last: Mapping[str, object]
    ) -> str:
        return " ".join((f"{self.prompt} {number}/{total}", *said))

    def _work(self) -> RunConfig:
        trees = self.trees
        return RunConfig(
            procedure=Procedure(
                name="build",
                description="",
                phases=dict.fromkeys(Phase, ()),
                success=self.success,
                failure=self.failure,
            ),
            bounds=self.bounds,
            agent=self.script,
            prompt=self._prompt,
            tokens=len,
            token_budget=self.budget,
            gates=Gates(self.gates, project=self.root, registry=Registry()),
            fingerprint=lambda: next(trees) if trees is not None else None,
            folder=self.root / "log",
        )
