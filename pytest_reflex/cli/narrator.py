"""Tells a person what a loop does: progress on stderr, the result on stdout."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from pytest_reflex.cli.paint import painted
from pytest_reflex.cli.progress import Display, displayed
from pytest_reflex.cli.streams import give, give_artifact, give_json, say, terminal_width, verdict
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.project_watch import unread_text
from pytest_reflex.drivers.reflex.result import deliver
from pytest_reflex.drivers.reflex.statefile import run_json
from pytest_reflex.errors import StateError
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.plain import visible
from pytest_reflex.model.stop import ENDS, RunStatus
from pytest_reflex.model.words import Step
from pytest_reflex.reports import iteration
from pytest_reflex.reports.refusal import refusal_of
from pytest_reflex.reports.spending import not_held, unknown_of
from pytest_reflex.store.filesystem import lock_warning

_NARROWEST = 20


class Narrator:
    """Listens to the events of one run. With `quiet` only the artifact is printed, at the end."""

    def __init__(self, loop: ReflexLoop, *, quiet: bool, as_json: bool) -> None:
        self.loop, self.quiet, self.as_json = loop, quiet, as_json
        self._display: Display | None = None
        self._told_not_held = False

    @contextmanager
    def attending(self, agents: Mapping[Step, str]) -> Iterator[Iterator[Event]]:
        """Yield the events of the run, with a display for as long as it is driven."""
        with displayed(self.loop, agents, quiet=self.quiet, plain=self.as_json) as display:
            self._display = display
            loop = replace(self.loop, starting=display.starting, notice=self._notice)
            try:
                with closing(loop.events()) as events:
                    yield events
            finally:
                self._display = None

    def begin(self) -> None:
        """Tell what could not be read, and what still ran, when the run was taken up."""
        if self.loop.leftovers:
            number = self.loop.leftovers
            what = "1 process" if number == 1 else f"{number} processes"
            self._wrapped(f"Ended {what} that the interrupted run had left running")
        if unread := self.loop.watch.unread:
            self._wrapped(unread_text(unread))
        if warning := lock_warning(self.loop.files.folder):
            self._wrapped(warning)
        for line in self.loop.files.recovered:
            self._wrapped(line)
        for path in self.loop.files.aside:
            self._wrapped(
                f"Recovered from the history; what could not be read is kept as {path.name}"
            )

    def tell(self, event: Event) -> None:
        """Tell of one event on stderr."""
        if self._display:
            self._display.done(event)
        if self.quiet:
            return
        self._budget()
        if event.kind is EventKind.EVALUATION_DONE:
            self._block()
        elif event.kind is EventKind.CRITIQUE_DONE:
            self._critique(event.payload["issues"])
        elif event.kind is EventKind.CHECKS_PREPARED and event.payload.get("agent_commands"):
            self._say("Commands that an agent made:")
            self._wrapped("\n".join(iteration.command_lines(event.payload["agent_commands"])))
        elif event.kind is EventKind.REFINEMENT_DONE:
            for rule_id, reason in event.payload.get("not_fixed", {}).items():
                self._wrapped(f"The fix of {rule_id} changed nothing: {reason}")
            for name, said in iteration.guard_lines(event.payload):
                self._wrapped(f"{name}: {visible(said)}")
            self._say(f"Refined by: {_author(event.payload)}\n")
        elif event.kind is EventKind.PHASE_SWITCHED:
            self._say("\nPhase A passed; phase B judges the same artifact:\n")
            self._say(visible(self.loop.files.artifact_text()))
        elif event.kind is EventKind.PHASE_ERROR and not event.payload.get("limited"):
            message = refusal_of(event.payload)
            self._wrapped(f"{event.payload['step']} gave nothing usable: {message}")
        elif event.kind in (EventKind.STOPPED, EventKind.FAILED):
            self._say("")

    def _budget(self) -> None:
        """Say once that a budget cannot be held, because a tool does not tell what it counts."""
        limits = self.loop.state.limits
        others = ["max_iterations", *(["wall_time"] if limits.wall_time else [])]
        text = not_held(limits.budget, unknown_of(self.loop.state.spend), others)
        if text and not self._told_not_held:
            self._told_not_held = True
            self._wrapped(text)

    def _notice(self, text: str) -> None:
        if not self.quiet:
            self._wrapped(visible(text))

    def _block(self) -> None:
        state = self.loop.state
        assert state.evaluation is not None
        self._wrapped(iteration.block(state, state.evaluation, self.loop.files.artifact_label))

    def _critique(self, issues: Any) -> None:
        evaluation = self.loop.state.evaluation
        assert evaluation is not None
        self._wrapped("\n".join(["Critique:", *iteration.critique_lines(evaluation, issues)]))

    def end(self) -> int:
        """Deliver the artifact, print summary and artifact, and return the exit status.

        Raises StateError where the artifact could not be delivered, after all is printed.
        """
        state, files = self.loop.state, self.loop.files
        failure = None
        try:
            delivered = deliver(files, self.loop.project)
        except StateError as error:
            failure, delivered = error, f"Not written: {error}"
        assert state.stop.reason is not None
        status = failure.exit_code if failure else ENDS[state.stop.reason].exit_code
        with verdict(status):
            self._print(delivered)
        if failure:
            raise failure
        if self.quiet and state.status is RunStatus.FAILED:
            self._wrapped(f"{state.stop.reason.value}: {visible(state.stop.detail)}")
        return status

    def _print(self, delivered: str) -> None:
        """Print how the run ended, and its artifact."""
        state, files = self.loop.state, self.loop.files
        if self.as_json:
            give_json(run_json(state))
            return
        if not self.quiet:
            give(painted(wrapped(iteration.summary(state, delivered))) + "\n\n")
        give_artifact(files.artifact_text())
        if not self.quiet and sys.stdout.isatty():  # the summary may have scrolled away
            self._wrapped("\n" + iteration.verdict_line(state, files.artifact_label))

    def interrupted(self) -> None:
        """Say how to go on."""
        self._say(
            f"\nInterrupted; nothing durable is lost. Continue with:\n"
            f"  pytest-reflex loop resume {self.loop.files.alias}"
        )

    def _wrapped(self, text: str) -> None:
        self._say(painted(wrapped(visible(text))))

    def _say(self, text: str) -> None:
        (self._display.say if self._display else say)(text)


def _author(refined: Mapping[str, Any]) -> str:
    same = refined["before"] == refined["after"]
    return f"{refined['by']} (nothing was changed)" if same else str(refined["by"])


def wrapped(text: str, width: int = 80, indent: int = 4) -> str:
    """Return lines broken at blanks, with what follows indented under its line.

    A narrower terminal than `width` gets its own width.
    """
    columns = terminal_width()
    width = max(min(width, columns), _NARROWEST) if columns else width
    return "\n".join(
        textwrap.fill(
            line,
            width,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
        for line in text.splitlines()
    )
