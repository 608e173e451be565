"""The Reflex loop: a generator of events, each durable before it is yielded (seed 000, SPEC 4).

It depends on hooks only: what plans, produces, judges and refines are plugins, the built-ins too.
The decisions are `decide.decide`; this module performs them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import Any

from pytest_reflex.errors import LimitError
from pytest_reflex.loops import ending
from pytest_reflex.loops.asking import ask, record
from pytest_reflex.loops.calls import Calls
from pytest_reflex.loops.decide import Act, Decision, calls_left, decide, seconds_left
from pytest_reflex.loops.guard import guarded
from pytest_reflex.loops.judging import evaluate
from pytest_reflex.loops.partial import keep_in_run
from pytest_reflex.loops.project_watch import ProjectWatch
from pytest_reflex.loops.recorded import judged_at
from pytest_reflex.loops.requests import request_for
from pytest_reflex.loops.runfiles import RunFiles
from pytest_reflex.loops.seal import Watch
from pytest_reflex.loops.steps import Done, perform, refused_by_limit
from pytest_reflex.loops.verifying import Verified, evaluate_again, is_unverified
from pytest_reflex.loops.wishes import Wishes
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.words import Level, Step
from pytest_reflex.process.pool import as_ended, await_all
from pytest_reflex.process.run import kill_running


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflexLoop:
    """A run and what drives it.

    `hooks` is a pluggy relay with the hooks of `hookspecs`; `project` the working directory of
    commands; `opening` the events that are durable and not yet told; `leftovers` how many processes
    of a former owner had to be killed; `watch` looks at the project, and the steps in `free` call
    nobody outside; `starting` is called with each step when it begins, `notice`
    with a line about what takes long; `suspicion` says what else was tampered with, empty for
    nothing; `clock` gives seconds. Closing the generator, or an exception, leaves a run that
    `resume` continues.
    """

    files: RunFiles
    hooks: Any
    project: Path
    watch: ProjectWatch
    free: frozenset[Step] = frozenset()
    sequential: bool = False
    allow_agent_commands: bool = False
    opening: tuple[Event, ...] = ()
    leftovers: int = 0
    cancel: Signal = field(default_factory=Signal)
    starting: Callable[[Step], object] = lambda step: None
    suspicion: Callable[[], str] = lambda: ""
    notice: Callable[[str], object] = lambda text: None
    clock: Callable[[], float] = time.monotonic

    def events(self) -> Generator[Event, None, None]:
        """Drive the run to its end; yield each event after it is on disk."""
        started = self.clock()
        yield from self._recorded(self.opening)
        wishes = Wishes(self.files, self.cancel)
        seal = Watch(self.files.latest_events()[0].payload, self.project)
        calls = Calls(self.watch, self.files.alias, self.free)
        verified: Verified = set()
        while True:
            yield from self._recorded(self.files.adopt_changes_by_hand())
            yield from self._recorded(self.files.adopt_feedback())
            decision = decide(
                self.state,
                stop_requested=wishes.stop_reason(),
                tampering=self._tampering(seal) or calls.tampering,
                elapsed=self.clock() - started,
                unverified=is_unverified(self.state, verified),
            )
            if decision.act is Act.NOTHING:
                return
            if decision.step is not None:
                self.starting(decision.step)
            # Closed here, not when it is forgotten: agents may have to be waited for.
            steps_of = self._perform(decision, calls, verified)
            with closing(steps_of) as steps, wishes.polled(decision.step):
                limited, told = "", self.state.last_seq
                holds = decision.act is Act.VERIFY
                for done in steps:
                    holds = done.kind is EventKind.EVALUATION_DONE
                    done = wishes.marked(done)
                    if done.step is Step.EVALUATE:  # its votes are durable already
                        yield from self._recorded(self.files.latest_events()[told:])
                    yield from self._recorded([self.files.commit(done)])
                    limited = refused_by_limit(done) or limited
            if holds and self.state.evaluation:
                verified.add(judged_at(self.state.evaluation))
            if limited:
                later = f"pytest-reflex loop resume {self.files.alias}"
                raise LimitError(limited, hint=f"go on later: {later}")

    def _tampering(self, seal: Watch) -> str:
        """Return what was done to the run's record, to what judges, or in a session."""
        return self.files.forgery() or seal.tampering() or self.suspicion()

    @property
    def state(self) -> RunState:
        return self.files.state

    def _recorded(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            record(self.hooks, event)
            yield event

    def _perform(
        self, decision: Decision, calls: Calls, verified: Verified
    ) -> Generator[Done, None, None]:
        if decision.act is Act.STOP:
            yield ending.stopped(self.state, decision, self.files.latest_events(), verified)
        elif decision.act is Act.SWITCH:
            levels = {"from": Level.A.value, "to": Level.B.value}
            yield Done(kind=EventKind.PHASE_SWITCHED, step=Step.EVALUATE, payload=levels)
        elif decision.act is Act.ADVANCE:
            following = {"iteration": self.state.iteration + 1}
            yield Done(kind=EventKind.ITERATION_ADVANCED, step=Step.REFINE, payload=following)
        elif decision.act is Act.VERIFY:
            yield from evaluate_again(self.files, self.hooks, self.project, self.watch, self.notice)
        elif decision.step is Step.EVALUATE:
            yield evaluate(self.files, self.hooks, self.project, self.watch)
        elif decision.step is Step.PRODUCE_PREPARE:
            yield from self._produce_and_prepare(calls)
        else:
            assert decision.step is not None
            yield self._step(decision.step, calls)

    def _step(self, step: Step, calls: Calls) -> Done:
        state = self.state
        request = request_for(
            step,
            state,
            artifact=self.files.artifact_text(),
            artifact_path=str(self.files.artifact_path),
            events=self.files.latest_events(),
            cancel=self.cancel,
        )
        request = replace(
            request,
            tell=self.notice,
            seconds_left=seconds_left(state),
            keep_partial=partial(self._keep_partial, step),
        )
        done = perform(
            step,
            state,
            request,
            partial(calls.watched, partial(ask, self.hooks)),
            allow_commands=self.allow_agent_commands,
            project=self.project,
        )
        return guarded(done, state, self.files.latest_events())

    def _keep_partial(self, step: Step, text: str) -> None:
        """Keep what an agent had written where the run ends before it does."""
        if text.strip():
            self.notice(f"{step.value}: {keep_in_run(self.files.folder, step, text)[1]}")

    def _produce_and_prepare(self, calls: Calls) -> Iterator[Done]:
        """Run PRODUCE beside PREPARE; both depend on the plan only, each is durable when done."""
        if self.sequential or calls_left(self.state) < 2:
            yield self._step(Step.PRODUCE, calls)
            return
        pair = [step for step in (Step.PRODUCE, Step.PREPARE) if not self._is_done(step)]
        with ThreadPoolExecutor(len(pair)) as pool:
            pending = [pool.submit(self._step, step, calls) for step in pair]
            try:
                for future in as_ended(pending):
                    yield future.result()
            except BaseException:
                self._end(pending)
                raise

    def _end(self, pending: list[Future[Done]]) -> None:
        """Have the agents end; who asks again while they are given time has them killed."""
        self.cancel.set()
        try:
            await_all(pending)
        except BaseException:
            kill_running()
            await_all(pending)
            raise

    def _is_done(self, step: Step) -> bool:
        return self.state.produced if step is Step.PRODUCE else self.state.prepared
