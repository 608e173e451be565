"""The Reflex loop: what each decision does (seed 000, SPEC 4).

It depends on hooks only: what plans, produces, judges and refines are plugins, the built-ins too.
The decisions are `decide.decide`; the frame drives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import Any

from pytest_reflex.drivers.common.control import StopControl
from pytest_reflex.drivers.common.drive import Inputs, PollResult, Stop, drive
from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind, Listener, StepEvents
from pytest_reflex.drivers.reflex.decide import Action, Decision, calls_left, decide, seconds_left
from pytest_reflex.drivers.reflex.evaluate_step import evaluate
from pytest_reflex.drivers.reflex.events import goes_on, of_history, of_run
from pytest_reflex.drivers.reflex.finish import Verified, end_run, evaluate_again
from pytest_reflex.drivers.reflex.history import evaluation_key, is_unverified
from pytest_reflex.drivers.reflex.hook_calls import ask, record
from pytest_reflex.drivers.reflex.lost_calls import keep_in_run
from pytest_reflex.drivers.reflex.prepared_checks import needs_agent
from pytest_reflex.drivers.reflex.project_watch import Calls, ProjectWatch
from pytest_reflex.drivers.reflex.run_integrity import IntegrityWatch
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.scope_guard import apply_guard
from pytest_reflex.drivers.reflex.steps import StepOutcome, denial, obstacle, perform, request_for
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.pool import await_all, iterate_done
from pytest_reflex.process.run import kill_running


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflexLoop:
    """A run and what drives it.

    `hooks` is a pluggy relay with the hooks of `hookspecs`; `project` the working directory of
    commands; `opening` the events that are durable and not yet reported; `leftovers` how many
    processes of a former owner had to be killed; `watch` looks at the project, and the steps in
    `free` call nothing outside; `agents` are the names of the agents by step; `notice` is called
    with a line about what is kept or evaluated again, `listen` with what is waited for (without it,
    that comes before the next event); `suspicion` says what else was tampered with, empty for
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
    cancel: Signal = field(default_factory=Cancel)
    agents: Mapping[Step, str] = field(default_factory=dict)
    listen: Listener | None = None
    suspicion: Callable[[], str] = lambda: ""
    notice: Callable[[str], object] = lambda text: None
    clock: Callable[[], float] = time.monotonic

    def events(self) -> Generator[DriverEvent, None, None]:
        """Drive the run to its end; yield each event after it is on disk."""
        control, waits = StopControl(self.files.requests, self.cancel), StepEvents(self.listen)
        driver = ReflexDriver(self, control, waits)
        store = ReflexStore(
            self.files,
            self.hooks,
            new=self.files.lost + len(self.opening),
            verified=driver.verified,
            calls=driver.calls,
            listen=waits.send,
        )
        driven = drive(
            driver,
            store,
            control,
            clock=self.clock,
            tampering=driver.find_tampering,
            announce=driver.announce,
        )
        with closing(driven):
            yield from waits.before(driven)

    @property
    def state(self) -> RunState:
        return self.files.state


class ReflexDriver:
    """The steps of a run, and what this process has evaluated itself (`verified`)."""

    def __init__(self, loop: ReflexLoop, control: StopControl, waits: StepEvents) -> None:
        self._loop, self._control, self._waits = loop, control, waits
        self._seal = IntegrityWatch(loop.files.latest_events()[0].payload, loop.project)
        self.calls = Calls(loop.watch, loop.files.alias, loop.free, loop.files.begin_call)
        self.verified: Verified = set()
        self._denied = ""

    def find_tampering(self) -> str:
        """Return what was done to what judges, or in a session."""
        return self._seal.find_tampering() or self._loop.suspicion() or self.calls.tampering

    def decide(self, state: RunState, inputs: Inputs) -> Decision | Stop | None:
        """Return what comes next."""
        decision = decide(
            state,
            stop_requested=inputs.stop,
            tampering=inputs.tampering,
            elapsed=inputs.elapsed,
            unverified=is_unverified(state, self.verified),
        )
        if decision.act is Action.NOTHING:
            return None
        if decision.act is Action.STOP:
            assert decision.reason is not None
            return Stop(decision.reason, decision.detail)
        return decision

    def announce(self, decision: Decision) -> Iterator[DriverEvent]:
        """Yield that a step is waited for, and the agent that it asks (empty: none)."""
        loop, step = self._loop, decision.step
        parts = [] if step is None else [step]
        if step is Step.PRODUCE_PREPARE:
            parts = [Step.PRODUCE] if loop.sequential else [Step.PRODUCE, Step.PREPARE]
        if parts:
            yield self._waiting_event(steps={part.value: self._agent(part) for part in parts})

    def _waiting_event(self, **fields: Any) -> DriverEvent:
        state = self._loop.state
        return of_run(state, DriverEventKind.WAITING, state.iteration, **fields)

    def _agent(self, step: Step) -> str:
        criteria, level = self._loop.state.criteria, self._loop.state.level
        asks = step is not Step.PREPARE or needs_agent(criteria.active(level))
        return self._loop.agents.get(step, "") if asks else ""

    def _wait(self, step: Step, reason: str) -> None:
        """Report that an agent is given time, and why."""
        self._waits.send(self._waiting_event(step=step.value, reason=reason))

    def perform(self, decision: Decision) -> Generator[StepOutcome, None, None]:
        """Do what was decided; raises LimitError where a rate limit stayed in the way of a step.

        Where an agent was not allowed to do its work it is DeniedError, before one is paid again.
        """
        resume = f"pytest-reflex loop resume {self._loop.files.alias}"
        if self._denied and self._is_paid(decision):
            raise denial(self._denied, resume)
        left, holds = None, decision.act is Action.VERIFY
        with closing(self._outcomes(decision)) as outcomes:
            for done in outcomes:
                holds = done.kind is EventKind.EVALUATION_DONE
                done = self._mark_interrupted(done)
                left = obstacle(done, resume) or left
                yield done
                self._denied = done.payload.get("denied", self._denied)
        if holds and self._loop.state.evaluation:
            self.verified.add(evaluation_key(self._loop.state.evaluation))
        if left:
            raise left

    def _is_paid(self, decision: Decision) -> bool:
        """Return whether a step asks an agent; what was done is measured before."""
        step = decision.step
        return step not in (None, Step.EVALUATE, *self._loop.free)

    def _mark_interrupted(self, done: StepOutcome) -> StepOutcome:
        """Return what a step came to; one that a person ended has not failed."""
        if done.kind is not EventKind.PHASE_ERROR or not self._control.has_cancelled:
            return done
        ended = {"cancelled": True, "message": "cancelled by the user"}
        return replace(done, payload={**done.payload, **ended})

    def _outcomes(self, decision: Decision) -> Generator[StepOutcome, None, None]:
        loop, state = self._loop, self._loop.state
        if decision.act is Action.SWITCH:
            levels = {"from": Level.A.value, "to": Level.B.value}
            yield StepOutcome(kind=EventKind.PHASE_SWITCHED, step=Step.EVALUATE, payload=levels)
        elif decision.act is Action.ADVANCE:
            following = {"iteration": state.iteration + 1}
            yield StepOutcome(
                kind=EventKind.ITERATION_ADVANCED, step=Step.REFINE, payload=following
            )
        elif decision.act is Action.VERIFY:
            yield from evaluate_again(loop.files, loop.hooks, loop.project, loop.watch, loop.notice)
        elif decision.step is Step.EVALUATE:
            alone = Step.EVALUATE in loop.free
            yield evaluate(loop.files, loop.hooks, loop.project, loop.watch, alone=alone)
        elif decision.step is Step.PRODUCE_PREPARE:
            yield from self._produce_and_prepare()
        else:
            assert decision.step is not None
            yield self._step(self._request(decision.step))

    def _request(self, step: Step) -> StepRequest:
        loop, state = self._loop, self._loop.state
        request = request_for(
            step,
            state,
            artifact=loop.files.artifact_text(),
            artifact_path=str(loop.files.artifact_path),
            events=loop.files.latest_events(),
            cancel=loop.cancel,
        )
        return replace(
            request,
            tell=partial(self._wait, step),
            seconds_left=seconds_left(state),
            keep_partial=partial(self._keep_partial, step),
        )

    def _step(self, request: StepRequest) -> StepOutcome:
        loop, state = self._loop, self._loop.state
        done = perform(
            request.step,
            state,
            request,
            partial(self.calls.watch_call, partial(ask, loop.hooks)),
            allow_commands=loop.allow_agent_commands,
            project=loop.project,
        )
        return apply_guard(done, state, loop.files.latest_events())

    def _keep_partial(self, step: Step, text: str) -> None:
        """Keep what an agent had written where the run ends before it does."""
        if text.strip():
            message = keep_in_run(self._loop.files.folder, step, text)[1]
            self._loop.notice(f"{step.value}: {message}")

    def _produce_and_prepare(self) -> Iterator[StepOutcome]:
        """Run PRODUCE beside PREPARE; both depend on the plan only, each is durable when done."""
        state = self._loop.state
        if self._loop.sequential or calls_left(state) < 2:
            yield self._step(self._request(Step.PRODUCE))
            return
        is_done = {Step.PRODUCE: state.produced, Step.PREPARE: state.prepared}
        # Made before either has answered: neither request depends on the other answer.
        pair = [self._request(step) for step, done in is_done.items() if not done]
        with ThreadPoolExecutor(len(pair)) as pool:
            pending = [pool.submit(self._step, request) for request in pair]
            try:
                for future in iterate_done(pending):
                    yield future.result()
            except BaseException:
                self._end(pending)
                raise

    def _end(self, pending: list[Future[StepOutcome]]) -> None:
        """Have the agents end; a second interruption while they are given time kills them."""
        self._loop.cancel.set()
        try:
            await_all(pending)
        except BaseException:
            kill_running()
            await_all(pending)
            raise


class ReflexStore:
    """The history of a run as a store: listeners get each event before it is yielded.

    The last `new` events are durable and not yet reported; `calls` knows those that were paid and
    came to nothing, which are reported to `listen` at the end.
    """

    def __init__(
        self,
        files: RunFiles,
        hooks: Any,
        *,
        new: int,
        verified: Verified,
        calls: Calls,
        listen: Listener,
    ) -> None:
        self._files, self._hooks, self._verified = files, hooks, verified
        self._calls, self._listen = calls, listen
        self._reported = len(files.latest_events()) - new
        began = (EventKind.RUN_STARTED, EventKind.RUN_EXTENDED, EventKind.RUN_ADOPTED)
        self._goes_on = not any(e.kind in began for e in files.latest_events()[self._reported :])

    @property
    def state(self) -> RunState:
        return self._files.state

    def poll(self) -> Generator[DriverEvent, None, PollResult]:
        """Take up an artifact that was changed by hand, and what people say of it.

        A listener may take time: then everything is looked at again.
        """
        files = self._files
        if self._goes_on:
            self._goes_on = False
            yield goes_on(self.state)
        yield from self._unreported_events()
        while True:
            requests = files.requests()
            if not files.adopt_changes_by_hand() and not files.adopt_feedback(requests.feedback):
                return PollResult(requests=requests, forgery=files.forgery())
            yield from self._unreported_events()

    def commit(self, outcome: StepOutcome) -> Iterator[DriverEvent]:
        """Make a step durable; votes that were given in it are so already, and reported first."""
        last = self.state.last_seq
        try:
            self._files.commit(outcome)
        finally:  # an event counts, also where run.json could not be written behind it
            if self.state.last_seq > last:
                self._calls.settle(outcome.step)
        yield from self._unreported_events()

    def end(self, stop: Stop) -> Iterator[DriverEvent]:
        """Make the last event durable; the best artifact stands then."""
        past = self._files.latest_events()
        done = end_run(self.state, stop, past, self._verified)
        if stop.reason is StopReason.TAMPERED and stop.detail == self._calls.tampering:
            done = replace(done, payload={**done.payload, **self._calls.offer()})
        yield from self.commit(done)

    def leave(self) -> None:
        """Count and report what was interrupted; a history without an end goes on."""
        with suppress(ReflexError, OSError):  # the disk may be the very reason
            for done in (*self._calls.interrupted_calls(), *self._files.unrecorded_votes()):
                self._files.commit(done)
            self._files.end_calls()
            for event in self._unreported_events():
                self._listen(event)

    def _unreported_events(self) -> Iterator[DriverEvent]:
        for event in self._files.latest_events()[self._reported :]:
            self._reported += 1
            record(self._hooks, event)
            yield from of_history(event, self.state)
