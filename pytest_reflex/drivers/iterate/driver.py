"""The iteration loop: rounds one after the other, each by a fresh process, until one of its ends.

Promises: a round is decided once, counted once, and on the disk before it is told; an interrupted
round is not counted and is run again; whatever ends the loop leaves a state that can be resumed,
or none where there is nothing left to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event

from pytest_reflex.agents.command import LEFT
from pytest_reflex.agents.partial import partial_output, was_killed
from pytest_reflex.checks.command_run import LEFT_TEXT
from pytest_reflex.drivers.common import limits
from pytest_reflex.drivers.common.control import Control
from pytest_reflex.drivers.common.drive import Inputs, Stop, drive
from pytest_reflex.drivers.common.events import DriverEvent, Listener, Waits
from pytest_reflex.drivers.common.lease import RUN_DIR
from pytest_reflex.drivers.common.protection import modified_text
from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.drivers.iterate.budget import is_over, over_budget_text
from pytest_reflex.drivers.iterate.decide import decide
from pytest_reflex.drivers.iterate.events import begins, started, waits
from pytest_reflex.drivers.iterate.gate_start import starts_from_json
from pytest_reflex.drivers.iterate.gates import ITERATION_VARIABLE, Gates
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.logfile import keep_partial
from pytest_reflex.drivers.iterate.model import Bounds, Cut, GateResult, Procedure, Round, State
from pytest_reflex.drivers.iterate.outcome import (
    doubt,
    outcome_of_answer,
    outcome_with_gates,
    unheard,
)
from pytest_reflex.drivers.iterate.store import IterateStore
from pytest_reflex.drivers.iterate.tree import Watch
from pytest_reflex.drivers.iterate.wording import unpassable
from pytest_reflex.errors import ExitCode, ReflexError, StateError
from pytest_reflex.model.plain import boundary, one_line
from pytest_reflex.model.run import cost_of, total_cost, unknown_cost
from pytest_reflex.model.steps import Askable, Question, Reply
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.reports.spending import not_held, unknown_of

_KEPT = 2_000


def utc_now() -> str:
    """Return the time as the state file has it."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the rounds of a run are made of.

    `prompt` returns that of an iteration by its number, the limit (0: none) and what people said of
    the work, `tokens` their count;
    `fingerprint` that of the working tree, None where nobody can tell. `folder` is told to tools
    and gates: by that a resume finds what was left running.
    """

    procedure: Procedure
    bounds: Bounds
    agent: Askable
    prompt: Callable[[int, int, Sequence[str]], str]
    tokens: Callable[[str], int]
    token_budget: int
    gates: Gates
    fingerprint: Callable[[], str | None]
    folder: Path


@dataclass(frozen=True, slots=True)
class Iteration:
    """The next iteration is run; a person may have its tool ended."""

    number: int
    interruptible: bool = True


class IterateDriver:
    """What the iterations of one sitting do; nothing is durable here.

    `wait` hears what the tool is given time for.
    """

    def __init__(
        self,
        work: Work,
        log: Log,
        *,
        store: IterateStore,
        control: Control,
        cancel: Event,
        clock: Callable[[], float],
        wait: Listener,
    ) -> None:
        self._work, self._log, self._store, self._wait = work, log, store, wait
        self._control, self._cancel, self._clock = control, cancel, clock
        self._began = clock()
        self._unchanged, self._told_not_held = 0, False
        self._watch = Watch(work.fingerprint)

    def decide(self, state: State, inputs: Inputs) -> Iteration | Stop:
        """Return the next iteration, or why there is none."""
        stop = decide(state, self._work.bounds, inputs, unchanged=self._unchanged)
        return stop or Iteration(state.iteration + 1)

    def tell_not_held(self, unknown: Collection[str]) -> None:
        """Warn once of the parts of a budget that cannot be held, since they are `unknown`."""
        bounds = self._work.bounds
        text = not_held(bounds.budget, unknown, other_limits(bounds))
        if text and not self._told_not_held:
            self._told_not_held = True
            self._log.warning(text)

    def announce(self, action: Iteration) -> Iterator[DriverEvent]:
        """Yield that the tool is waited for."""
        yield begins(self._store.state, self._work.agent.name)

    def _tell_wait(self, reason: str) -> None:
        self._log.warning(reason)
        self._wait(waits(self._store.state, reason))

    def perform(self, action: Iteration) -> Iterator[Round | Cut]:
        """Run the tool once, and behind a good answer the gates."""
        number, total = action.number, self._work.bounds.max_iterations
        self._log.round_starts(number, total)
        prompt = self._prompt(number, total)
        self._watch.begin()
        self._work.gates.before_agent()
        started = self._clock()
        self._store.keep()
        reply: Reply | None = None
        try:
            reply = self._work.agent.ask(self._question(prompt, number))
            self._store.keep()
            done = None if self._control.has_cancelled else self._judged(number, reply, started)
        except BaseException:
            unknown = unknown_cost(self._clock() - started)
            self._store.interrupted(unknown if reply is None else cost_of(reply))
            raise
        # A gate that was cut short judged nothing.
        if done is None or (done.gates and self._control.has_cancelled):
            yield Cut(cost=cost_of(reply) if done is None else done.cost)
            return
        yield done
        self._tell(done, total)

    def _prompt(self, number: int, total: int) -> str:
        feedback = tuple(self._store.state.feedback.values())
        prompt = self._work.prompt(number, total, feedback)
        tokens = self._work.tokens(prompt)
        if is_over(tokens, self._work.token_budget):
            self._log.warning(over_budget_text(tokens, self._work.token_budget))
        return prompt

    def _question(self, prompt: str, number: int) -> Question:
        return Question(
            prompt=prompt,
            environment={ITERATION_VARIABLE: str(number), RUN_DIR: str(self._work.folder)},
            seconds_left=self._seconds_left(),
            cancel=self._cancel,
            tell=self._tell_wait,
            keep_partial=partial(self._keep_partial, number),
        )

    def _seconds_left(self) -> float | None:
        bounds, spend = self._work.bounds, self._store.state.spend
        elapsed = self._clock() - self._began
        return limits.seconds_left(bounds.budget, spend, bounds.wall_time, elapsed)

    def _keep_partial(self, number: int, text: str) -> None:
        """Keep what a tool had written when it was stopped or failed: it was paid for."""
        if not text.strip():
            return
        try:
            kept = keep_partial(self._work.folder, self._store.state.started_at, number, text)
        except StateError as error:
            self._log.partial(number, problem=error.problems[0].message)
        else:
            self._log.partial(number, path=kept)

    def _judged(self, number: int, reply: Reply, started: float) -> Round:
        """Decide what a round came to: the answer first, and behind a good one the gates."""
        changed = self._watch.changed()
        self._work.gates.after_agent()
        text = partial_output(reply)
        # The log has the end of what a tool wrote that failed by itself.
        self._keep_partial(number, text if was_killed(reply) or len(text) > _KEPT else "")
        offered = self._work.procedure.success
        if reply.details.get(LEFT):
            self._log.warning(f"AI CLI {LEFT_TEXT}")
        found = outcome_of_answer(reply, offers_success=offered)
        results: tuple[GateResult, ...] = ()
        if found.cause is None:
            doubts = doubt(reply.text, changed=changed)
            for warning in filter(None, (unheard(reply.text, offers_success=offered), doubts)):
                self._log.warning(warning)
            told = partial(self._log.gate_ended, number)
            results = self._work.gates.run(number, cancel=self._cancel, told=told)
            found = outcome_with_gates(found, results)
        if changed is not None:
            self._unchanged = 0 if changed else self._unchanged + 1
        return Round(
            number=number,
            seconds=self._clock() - started,
            cause=found.cause,
            detail=found.detail,
            limited=found.limited,
            promised_success=found.promised_success,
            gates=results,
            changed=changed,
            usd=reply.usd,
            tokens=reply.tokens,
            cost=total_cost([cost_of(reply), *(result.cost for result in results)]),
            output=_last_words(reply) if found.cause and not results else "",
        )

    def _tell(self, done: Round, total: int) -> None:
        bounds, state = self._work.bounds, self._store.state
        stop = decide(state, bounds)
        self._log.round_ended(
            done,
            total,
            failures=state.consecutive_failures,
            threshold=bounds.failure_threshold,
            aborting=stop is not None and stop.reason is StopReason.FAILURES,
        )
        self.tell_not_held(unknown_of(state.spend))
        if bounds.unchanged and self._unchanged and self._unchanged % bounds.unchanged == 0:
            self._log.unchanged(self._unchanged, bounds.unchanged)


class IterationLoop:
    """One sitting of a loop: `state` is where it stands, durable in `file` and told to `log`.

    One that is `fresh` begins a run; `listen` hears at once what is waited for within an iteration.
    """

    def __init__(
        self,
        work: Work,
        *,
        state: State,
        file: SnapshotFile[State],
        log: Log,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = utc_now,
        fresh: bool = False,
        listen: Listener | None = None,
    ) -> None:
        work.gates.compare_with(starts_from_json(state.gates_at_start, "gates_at_start"))
        work.gates.remember(state.modified_files)
        starts = {name: start.to_json() for name, start in work.gates.starts().items()}
        state = replace(state, gates_at_start=starts)
        self._work, self.log, self._clock = work, log, clock
        self._cancel, self._waits = Cancel(), Waits(listen)
        self._store = IterateStore(
            state, file=file, log=log, modified=work.gates.modified, now=now, fresh=fresh
        )

    @property
    def state(self) -> State:
        return self._store.state

    @property
    def exit_code(self) -> ExitCode:
        """The exit status of a run that has ended."""
        return self._store.exit_code

    def events(self) -> Generator[DriverEvent, None, None]:
        """Drive the loop to its end; yield each event when it is durable.

        Closing the generator leaves a run that a resume continues. A KeyboardInterrupt comes
        through, with the state saved as interrupted; see `interrupted`.
        """
        control = Control(self._store.requests, self._cancel)
        driver = IterateDriver(
            self._work,
            self.log,
            store=self._store,
            control=control,
            cancel=self._cancel,
            clock=self._clock,
            wait=self._waits.tell,
        )
        driven = drive(driver, self._store, control, clock=self._clock, announce=driver.announce)
        try:
            self._store.begin()
            self._tell_modified()
            driver.tell_not_held(limits.unreported(self._work.agent))
            yield started(self.state)
            with closing(driven):
                yield from self._waits.before(driven)
        except BaseException as error:
            self._cancel.set()
            self._store.leave()
            gone = isinstance(error, GeneratorExit) and not self._store.has_ended
            if gone or isinstance(error, Exception):
                self.interrupted()
            raise

    def interrupted(self) -> None:
        """Tell how an interrupted loop goes on; who has a KeyboardInterrupt does that then."""
        self.log.ended(StopReason.INTERRUPTED, self.state, saved=self._store.saved)

    def _tell_modified(self) -> None:
        """Tell before the first iteration which gates cannot pass: nobody is to pay for it."""
        with suppress(ReflexError):
            for name, files in self._work.gates.modified().items():
                self.log.warning(unpassable(one_line(name), modified_text(list(files))))


def other_limits(bounds: Bounds) -> list[str]:
    """Return the names of the limits that hold whatever a tool reports."""
    holding = {
        "max_iterations": bounds.max_iterations,
        "wall_time": bounds.wall_time,
        "unchanged": bounds.unchanged if bounds.stop_unchanged else 0,
    }
    return [name for name, value in holding.items() if value]


def _last_words(reply: Reply) -> str:
    """Return the end of what a tool wrote, on stderr where it wrote there."""
    text = str(reply.details.get("stderr") or reply.text).strip()
    return text[boundary(text, max(len(text) - _KEPT, 0)) :]
