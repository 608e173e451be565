"""The iteration loop: rounds one after the other, each by a fresh process, until one of its ends.

Promises: a round is decided once, counted once, and on the disk before it is told; an interrupted
round is not counted and is run again; whatever ends the loop leaves a state that can be resumed,
or none where there is nothing left to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event

from pytest_reflex.agents.command import LEFT
from pytest_reflex.agents.partial import partial_output, was_killed
from pytest_reflex.checks.command_run import LEFT_TEXT
from pytest_reflex.errors import ExitCode, ReflexError, StateError
from pytest_reflex.iterations.budget import is_over, over_budget_text
from pytest_reflex.iterations.decide import counted, decide, ended, exit_code
from pytest_reflex.iterations.gate_start import starts_from_json
from pytest_reflex.iterations.gates import ITERATION_VARIABLE, Gates
from pytest_reflex.iterations.log import Log
from pytest_reflex.iterations.logfile import keep_partial
from pytest_reflex.iterations.model import Bounds, Ending, GateResult, Procedure, Round, State
from pytest_reflex.iterations.outcome import (
    doubt,
    outcome_of_answer,
    outcome_with_gates,
    unheard,
)
from pytest_reflex.iterations.protection import modified_text
from pytest_reflex.iterations.statefile import RUN_DIR, StateFile
from pytest_reflex.iterations.tree import Watch
from pytest_reflex.iterations.wording import unpassable
from pytest_reflex.model.plain import boundary, one_line
from pytest_reflex.model.steps import Askable, Question, Reply

_KEPT = 2_000


def utc_now() -> str:
    """Return the time as the state file has it."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the rounds of a run are made of.

    `prompt` returns that of a round by its number and the limit (0: none), `tokens` their count;
    `fingerprint` that of the working tree, None where nobody can tell. `folder` is told to tools
    and gates: by that a resume finds what was left running.
    """

    procedure: Procedure
    bounds: Bounds
    agent: Askable
    prompt: Callable[[int, int], str]
    tokens: Callable[[str], int]
    token_budget: int
    gates: Gates
    fingerprint: Callable[[], str | None]
    folder: Path


class IterationLoop:
    """One sitting of a loop: `state` is where it stands, durable in `file` and told to `log`."""

    def __init__(
        self,
        work: Work,
        *,
        state: State,
        file: StateFile,
        log: Log,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._work, self._file, self._log = work, file, log
        self._clock, self._now = clock, now
        self._cancel = Event()
        self._began = clock()
        self._unchanged = 0
        self._watch = Watch(work.fingerprint)
        work.gates.compare_with(starts_from_json(state.gates_at_start, "gates_at_start"))
        work.gates.remember(state.modified_files)
        starts = {name: start.to_json() for name, start in work.gates.starts().items()}
        self.state = replace(state, gates_at_start=starts)

    def run(self) -> ExitCode:
        """Drive the loop to its end and return the exit status.

        A KeyboardInterrupt comes through, with the state saved as interrupted; see `interrupted`.
        """
        try:
            self._file.save(self.state)
            self._tell_modified()
            while (ending := self._decide()) is None:
                self._round()
            return self._end(ending)
        except BaseException as error:
            self._cancel.set()
            self.state = ended(self._with_modified(self.state), Ending.INTERRUPTED)
            self._file.save(self.state)
            if isinstance(error, Exception):
                self.interrupted()
            raise

    def interrupted(self) -> None:
        """Tell how an interrupted loop goes on; who has a KeyboardInterrupt does that then."""
        self._log.ended(Ending.INTERRUPTED, self.state, saved=self._file.saved)

    def _decide(self) -> Ending | None:
        seconds = self._clock() - self._began
        return decide(self.state, self._work.bounds, seconds=seconds, unchanged=self._unchanged)

    def _round(self) -> None:
        number, total = self.state.iteration + 1, self._work.bounds.max_iterations
        self._log.round_starts(number, total)
        prompt = self._prompt(number, total)
        self._watch.begin()
        self._work.gates.before_agent()
        started = self._clock()
        self._file.keep()
        reply = self._work.agent.ask(self._question(prompt, number))
        self._file.keep()
        done = self._judged(number, reply, started)
        # Counted in one go: whoever interrupts us finds the round done, or not begun.
        self.state = self._with_modified(counted(self.state, done, self._now()))
        self._file.save(self.state)
        self._tell(done, total)

    def _with_modified(self, state: State) -> State:
        """Return a state that has the files of gates that are modified: a resume goes on so."""
        try:
            return replace(state, modified_files=self._work.gates.modified())
        except ReflexError:  # not readable at this moment: the gates report that themselves
            return state

    def _tell_modified(self) -> None:
        """Tell before the first round which gates cannot pass, so that nobody pays for it."""
        with suppress(ReflexError):
            for name, files in self._work.gates.modified().items():
                self._log.warning(unpassable(one_line(name), modified_text(list(files))))

    def _prompt(self, number: int, total: int) -> str:
        prompt = self._work.prompt(number, total)
        tokens = self._work.tokens(prompt)
        if is_over(tokens, self._work.token_budget):
            self._log.warning(over_budget_text(tokens, self._work.token_budget))
        return prompt

    def _question(self, prompt: str, number: int) -> Question:
        wall = self._work.bounds.wall_time
        return Question(
            prompt=prompt,
            environment={ITERATION_VARIABLE: str(number), RUN_DIR: str(self._work.folder)},
            seconds_left=wall - (self._clock() - self._began) if wall else None,
            cancel=self._cancel,
            tell=self._log.warning,
            keep_partial=partial(self._keep_partial, number),
        )

    def _keep_partial(self, number: int, text: str) -> None:
        """Keep what a tool had written when it was stopped or failed: it was paid for."""
        if not text.strip():
            return
        try:
            kept = keep_partial(self._work.folder, self.state.started_at, number, text)
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
            output=_last_words(reply) if found.cause and not results else "",
        )

    def _tell(self, done: Round, total: int) -> None:
        bounds = self._work.bounds
        self._log.round_ended(
            done,
            total,
            failures=self.state.consecutive_failures,
            threshold=bounds.failure_threshold,
            aborting=self._decide() is Ending.FAILURES,
        )
        if bounds.unchanged and self._unchanged and self._unchanged % bounds.unchanged == 0:
            self._log.unchanged(self._unchanged, bounds.unchanged)

    def _end(self, ending: Ending) -> ExitCode:
        self.state = ended(self.state, ending)
        code = exit_code(ending, self.state)
        if ending in (Ending.SUCCESS, Ending.LIMIT):
            self._file.remove()
        else:
            self._file.save(self.state)
        self._log.ended(ending, self.state, saved=self._file.saved)
        return code if self._file.saved or code else ExitCode.NOT_PERSISTED


def _last_words(reply: Reply) -> str:
    """Return the end of what a tool wrote, on stderr where it wrote there."""
    text = str(reply.details.get("stderr") or reply.text).strip()
    return text[boundary(text, max(len(text) - _KEPT, 0)) :]
