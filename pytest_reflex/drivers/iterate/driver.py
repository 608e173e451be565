"""The iteration loop: iterations one after the other, each by a fresh process, until one of its
ends.

Promises: an iteration is decided once, counted once, and on the disk before it is reported; an
interrupted iteration is not counted and is run again; whatever ends the loop leaves a state that
can be resumed, or none where there is nothing left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Event

from pytest_reflex.agents.command import LEFT, partial_output, was_killed
from pytest_reflex.agents.stream import DENIED
from pytest_reflex.checks.command import LEFT_TEXT
from pytest_reflex.drivers.common import drive
from pytest_reflex.drivers.common.control import StopControl
from pytest_reflex.drivers.common.drive import Inputs, Stop
from pytest_reflex.drivers.common.events import DriverEvent, Listener
from pytest_reflex.drivers.common.lease import RUN_DIR
from pytest_reflex.drivers.iterate.commits import commit_message
from pytest_reflex.drivers.iterate.decide import (
    decide,
    doubt,
    outcome_of_answer,
    outcome_with_gates,
    unread_feedback,
)
from pytest_reflex.drivers.iterate.gates import ITERATION_VARIABLE
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.logfile import begins, keep_partial, waits
from pytest_reflex.drivers.iterate.model import (
    Baseline,
    CutIteration,
    FailureCause,
    GateResult,
    Iteration,
    State,
)
from pytest_reflex.drivers.iterate.procedures import is_over, over_budget_text
from pytest_reflex.drivers.iterate.progress import compare, last_of_gates
from pytest_reflex.drivers.iterate.run_config import RunConfig, other_limits
from pytest_reflex.drivers.iterate.store import IterateStore
from pytest_reflex.drivers.iterate.tree import TreeChangeDetector
from pytest_reflex.errors import StateError
from pytest_reflex.model.plain import boundary
from pytest_reflex.model.run import cost_of, total_cost
from pytest_reflex.model.steps import Question, Reply
from pytest_reflex.model.stop import StopReason
from pytest_reflex.reports.run_lines import not_held, unknown_of
from pytest_reflex.storage.user_state import remove_planted_votes

_KEPT = 2_000
_ANSWER = 20_000


@dataclass(frozen=True, slots=True)
class RunIteration:
    """The next iteration is run; a person may have its tool ended."""

    number: int
    interruptible: bool = True


class IterateDriver:
    """What the iterations of one sitting do; nothing is durable here.

    `wait` gets an event for whatever the tool is waited for.
    """

    def __init__(
        self,
        work: RunConfig,
        log: Log,
        *,
        store: IterateStore,
        control: StopControl,
        cancel: Event,
        clock: Callable[[], float],
        wait: Listener,
    ) -> None:
        self._work, self._log, self._store, self._wait = work, log, store, wait
        self._control, self._cancel, self._clock = control, cancel, clock
        self._began = clock()
        self._unchanged, self._warned_not_held = 0, False
        self._person: str | None = None
        self._refused = self._denied = ""
        self._watch = TreeChangeDetector(work.fingerprint, work.seen)

    def decide(self, state: State, inputs: Inputs) -> RunIteration | Stop:
        """Return the next iteration, or why there is none."""
        stop = decide(
            state,
            self._work.bounds,
            inputs,
            unchanged=self._unchanged,
            person=self._person,
            refused=self._refused,
            denied=self._denied,
        )
        return stop or RunIteration(state.iteration + 1)

    def report_lost_lock(self, unknown: Collection[str]) -> None:
        """Warn once of the parts of a budget that cannot be held, since they are `unknown`."""
        bounds = self._work.bounds
        text = not_held(bounds.budget, unknown, other_limits(bounds))
        if text and not self._warned_not_held:
            self._warned_not_held = True
            self._log.warning(text)

    def announce(self, action: RunIteration) -> Iterator[DriverEvent]:
        """Yield that the tool is waited for."""
        yield begins(self._store.state, self._work.agent.name)

    def _report_wait(self, reason: str) -> None:
        self._log.warning(reason)
        self._wait(waits(self._store.state, reason))

    def perform(self, action: RunIteration) -> Iterator[Iteration | CutIteration | Baseline]:
        """Run the tool once, and behind a good answer the gates."""
        try:
            yield from self._perform(action)
        except BaseException:
            self._store.count_pending_calls()
            raise

    def _perform(self, action: RunIteration) -> Iterator[Iteration | CutIteration | Baseline]:
        number, total = action.number, self._work.bounds.max_iterations
        self._log.round_starts(number, total)
        if number == 1 and (before := self._baseline()):
            yield before
        if self._control.has_cancelled:
            yield CutIteration(cost=self._store.calls.take())
            return
        prompt = self._prompt(number, total)
        self._look_before()
        started = self._clock()
        self._store.keep()
        call = self._store.calls.begin()
        with remove_planted_votes(self._work.gates.project):
            reply = self._work.agent.ask(self._question(prompt, number))
        seconds = self._clock() - started
        self._store.keep()
        self._store.calls.end(call, cost_of(reply))
        done = self._evaluate(number, reply, seconds)
        if isinstance(done, CutIteration):
            self._refused = done.limit
            yield done
            return
        # A gate that was cut short judged nothing.
        if done.gates and self._control.has_cancelled:
            yield CutIteration(cost=done.cost)
            return
        if self._denied and (done.failed or not done.changed):
            yield CutIteration(cost=done.cost)  # it is done again where it is allowed
            return
        self._person = done.detail if done.needs_person else None
        yield done
        self._report_progress(done, total)
        self._commit(done, total)

    def _baseline(self) -> Baseline | None:
        """Return what gates come to before the first iteration, where that is compared later."""
        if self._store.state.known_failures:
            return None
        on_result = partial(self._log.report_gate, 1, before=True)
        results = self._work.gates.run(
            1, cancel=self._cancel, on_result=on_result, compared=True, calls=self._store.calls
        )
        if not results or self._control.has_cancelled:
            return None
        cost = total_cost(result.cost for result in results)
        return Baseline(known=compare(results, {}).known, last=last_of_gates(results), cost=cost)

    def _look_before(self) -> None:
        """Look at what is compared behind the tool."""
        self._watch.begin()
        self._work.gates.before_agent()
        if self._work.commits is not None:
            self._work.commits.before_agent()

    def _commit(self, done: Iteration, total: int) -> None:
        """Have git keep what the iteration changed; what it refuses is reported and stops
        nothing.
        """
        if self._work.commits is None:
            return
        made = self._work.commits.commit(commit_message(self._work.procedure.name, done, total))
        self._log.report_commit(done.number, made)

    def _prompt(self, number: int, total: int) -> str:
        feedback = tuple(self._store.state.feedback.values())
        prompt = self._work.prompt(number, total, feedback, self._store.state.last)
        tokens = self._work.tokens(prompt)
        if is_over(tokens, self._work.token_budget):
            self._log.warning(over_budget_text(tokens, self._work.token_budget))
        return prompt

    def _question(self, prompt: str, number: int) -> Question:
        return Question(
            prompt=prompt,
            may_edit=True,
            environment={ITERATION_VARIABLE: str(number), RUN_DIR: str(self._work.folder)},
            seconds_left=self._seconds_left(),
            cancel=self._cancel,
            tell=self._report_wait,
            keep_partial=partial(self._keep_partial, number),
        )

    def _seconds_left(self) -> float | None:
        bounds, spend = self._work.bounds, self._store.state.spend
        elapsed = self._clock() - self._began
        return drive.seconds_left(bounds.budget, spend, bounds.wall_time, elapsed)

    def _keep_partial(self, number: int, text: str) -> None:
        """Keep what a tool had written when it was stopped or failed: it was paid for."""
        if not text.strip():
            return
        try:
            kept = keep_partial(self._work.folder, self._store.state.run, number, text)
        except StateError as error:
            self._log.partial(number, problem=error.problems[0].message)
        else:
            self._log.partial(number, path=kept)

    def _evaluate(self, number: int, reply: Reply, seconds: float) -> Iteration | CutIteration:
        """Decide what an iteration came to: the answer first, and behind a good one the gates."""
        if self._control.has_cancelled:
            return CutIteration(cost=cost_of(reply))
        changed, files = self._watch.has_changed(), self._watch.files()
        self._denied = str(reply.details.get(DENIED, ""))
        self._work.gates.after_agent()
        if self._work.commits is not None:
            self._work.commits.after_agent()
        procedure = self._work.procedure
        found = outcome_of_answer(reply, offers_success=procedure.success)
        self._report_reply(number, reply, limited=found.limited)
        results: tuple[GateResult, ...] = ()
        if found.cause is None and (changed or not self._denied):
            self._report_doubts(reply, changed)
            on_result = partial(self._log.report_gate, number)
            results = self._work.gates.run(
                number, cancel=self._cancel, on_result=on_result, calls=self._store.calls
            )
            found = outcome_with_gates(found, results, self._store.state.known_failures)
        cost = total_cost([cost_of(reply), *(result.cost for result in results)])
        if found.limited:
            return CutIteration(cost=cost, limit=found.detail)
        if changed is not None:
            self._unchanged = 0 if changed else self._unchanged + 1
        return Iteration(
            number=number,
            seconds=seconds,
            cause=found.cause,
            detail=found.detail,
            promised_success=found.promised_success,
            needs_person=procedure.failure and found.cause is FailureCause.PROMISED_FAILURE,
            gates=results,
            failing=found.failing,
            progress=found.progress,
            known=found.known,
            changed=changed,
            files=files,
            usd=reply.usd,
            tokens=reply.tokens,
            cost=cost,
            output=_last_words(reply) if found.cause and not results else "",
            answer="" if reply.error else _end(reply.text, _ANSWER),
        )

    def _report_reply(self, number: int, reply: Reply, *, limited: bool) -> None:
        """Report what a tool said, and keep what it had written where that was cut short."""
        text = partial_output(reply)
        # The log has the end of what a tool wrote that failed by itself.
        self._keep_partial(number, text if was_killed(reply) or len(text) > _KEPT else "")
        if reply.details.get(LEFT):
            self._log.warning(f"AI CLI {LEFT_TEXT}")
        if not reply.error and not limited:
            self._log.report_answer(number, _end(reply.text, _ANSWER), len(reply.text))

    def _report_doubts(self, reply: Reply, changed: bool | None) -> None:
        offered = self._work.procedure.success
        doubts = doubt(reply.text, changed=changed)
        for warning in filter(None, (unread_feedback(reply.text, offers_success=offered), doubts)):
            self._log.warning(warning)

    def _report_progress(self, done: Iteration, total: int) -> None:
        bounds, state = self._work.bounds, self._store.state
        stop = decide(state, bounds, person=self._person)
        self._log.report_iteration(
            done,
            total,
            failures=state.consecutive_failures,
            threshold=bounds.failure_threshold,
            aborting=stop is not None and stop.reason is StopReason.FAILURES,
        )
        self._log.report_spend(done, state)
        self.report_lost_lock(unknown_of(state.spend))
        if bounds.unchanged and self._unchanged and self._unchanged % bounds.unchanged == 0:
            self._log.report_unchanged(self._unchanged, bounds.unchanged)


def _last_words(reply: Reply) -> str:
    """Return the end of what a tool wrote, on stderr where it wrote there."""
    return _end(str(reply.details.get("stderr") or reply.text).strip(), _KEPT)


def _end(text: str, most: int) -> str:
    return text[boundary(text, max(len(text) - most, 0)) :]
