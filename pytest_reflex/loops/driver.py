"""The Reflex loop: a generator of events, each durable before it is yielded (seed 000, SPEC 4).

It depends on hooks only: what plans, produces, judges and refines are plugins, the built-ins too.
The decisions are `decide.decide`; this module performs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Signal
from typing import Any

from pytest_reflex.loops import ending
from pytest_reflex.loops.decide import Act, Decision, decide
from pytest_reflex.loops.prepared import effective
from pytest_reflex.loops.requests import request_for
from pytest_reflex.loops.runfiles import RunFiles
from pytest_reflex.loops.seal import seal_of
from pytest_reflex.loops.steps import Done, perform, phase_error
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import RunState
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Level, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflexLoop:
    """A run and what drives it.

    `hooks` is a pluggy relay with the hooks of `hookspecs`; `project` the working directory of
    commands; `opening` the events that are durable and not yet told. Closing the generator, or an
    exception, leaves a run that `resume` continues.
    """

    files: RunFiles
    hooks: Any
    project: Path
    sequential: bool = False
    allow_agent_commands: bool = False
    opening: tuple[Event, ...] = ()
    cancel: Signal = field(default_factory=Signal)

    def events(self) -> Iterator[Event]:
        """Drive the run to its end; yield each event after it is on disk."""
        yield from self._recorded(self.opening)
        while True:
            yield from self._recorded(self.files.adopt_changes_by_hand())
            seal = seal_of(self.state.criteria, self.state.setup.get("plugins", ()))
            asked = self.files.stop_requested()
            decision = decide(self.state, stop_requested=asked, seal=seal)
            if decision.act is Act.NOTHING:
                return
            for done in self._perform(decision):
                yield from self._recorded([self.files.commit(done)])

    @property
    def state(self) -> RunState:
        return self.files.state

    def _recorded(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            self.hooks.pytest_reflex_record(event=event)
            yield event

    def _perform(self, decision: Decision) -> Iterator[Done]:
        if decision.act is Act.STOP:
            yield ending.stopped(self.state, decision, self.files.latest_events())
        elif decision.act is Act.SWITCH:
            levels = {"from": Level.A.value, "to": Level.B.value}
            yield Done(kind=EventKind.PHASE_SWITCHED, step=Step.EVALUATE, payload=levels)
        elif decision.act is Act.ADVANCE:
            following = {"iteration": self.state.iteration + 1}
            yield Done(kind=EventKind.ITERATION_ADVANCED, step=Step.REFINE, payload=following)
        elif decision.step is Step.EVALUATE:
            yield self._evaluate()
        elif decision.step is Step.PRODUCE_PREPARE:
            yield from self._produce_and_prepare()
        else:
            assert decision.step is not None
            yield self._step(decision.step)

    def _step(self, step: Step) -> Done:
        state = self.state
        request = request_for(
            step,
            state,
            artifact=self.files.artifact_text(),
            artifact_path=str(self.files.artifact_path),
            events=self.files.latest_events(),
            cancel=self.cancel,
        )
        return perform(step, state, request, self._ask, allow_commands=self.allow_agent_commands)

    def _produce_and_prepare(self) -> Iterator[Done]:
        """Run PRODUCE beside PREPARE; both depend on the plan only, each is durable when done."""
        if self.sequential:
            yield self._step(Step.PRODUCE)
            return
        pair = [step for step in (Step.PRODUCE, Step.PREPARE) if not self._is_done(step)]
        pool = ThreadPoolExecutor(len(pair))
        try:
            pending: list[Future[Done]] = [pool.submit(self._step, step) for step in pair]
            for future in as_completed(pending):
                yield future.result()
        except BaseException:
            self.cancel.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _is_done(self, step: Step) -> bool:
        return self.state.produced if step is Step.PRODUCE else self.state.prepared

    def _ask(self, request: StepRequest) -> Reply:
        """Ask the hook of a step; a fault in a hook names the hook and counts as an answer."""
        name = f"pytest_reflex_{request.step.value.lower()}"
        try:
            reply = getattr(self.hooks, name)(request=request)
        except Exception as error:  # a user's hook may raise anything
            message = f"hook {name} raised {type(error).__name__}: {error}"
            return Reply(text="", agent="hook", error=message)
        if isinstance(reply, Reply):
            return reply
        return Reply(text="", agent="hook", error=f"hook {name} returned {reply!r}, not a Reply")

    def _evaluate(self) -> Done:
        """Judge the artifact; the verdict binds to the bytes that the history knows."""
        evaluation = self.hooks.pytest_reflex_evaluate(target=self.target())
        if not isinstance(evaluation, Evaluation):
            message = f"hook pytest_reflex_evaluate returned {evaluation!r}, not an Evaluation"
            return phase_error(Step.EVALUATE, message)
        if evaluation.artifact_sha256 != self.state.artifact_sha256:
            return phase_error(Step.EVALUATE, "the artifact changed while it was evaluated")
        payload = {"evaluation": evaluation.to_json()}
        return Done(kind=EventKind.EVALUATION_DONE, step=Step.EVALUATE, payload=payload)

    def target(self) -> Target:
        """Return what EVALUATE judges now."""
        state = self.state
        base = state.setup.get("link_base")
        return Target(
            criteria=effective(state.criteria, state.checks),
            level=state.level,
            artifact=self.files.artifact_path,
            root=self.project,
            label=self.files.artifact_label,
            link_base=Path(base) if base else self.project,
            environment={
                "PYTEST_REFLEX_RUN_DIR": str(self.files.folder),
                "PYTEST_REFLEX_ITERATION": str(state.iteration),
            },
        )
