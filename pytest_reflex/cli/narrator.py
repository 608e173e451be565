"""Reports to a person what a loop does: progress on stderr, the result on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from pytest_reflex.cli.display import Display
from pytest_reflex.cli.streams import give, give_artifact, give_json, verdict, width_of
from pytest_reflex.drivers.common.console import Progress, style_lines
from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind, Listener
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.events import EVENT
from pytest_reflex.drivers.reflex.named_files import deliver, not_written
from pytest_reflex.drivers.reflex.project_watch import unread_text
from pytest_reflex.drivers.reflex.statefile import run_json
from pytest_reflex.drivers.reflex.view import LoopView
from pytest_reflex.errors import StateError
from pytest_reflex.model.events import INTERRUPTED, EventKind
from pytest_reflex.model.plain import escape_control, pluralize
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.stop import ENDS, RunStatus
from pytest_reflex.reports import iteration
from pytest_reflex.reports.lines import Line, lines_of
from pytest_reflex.reports.run_lines import not_held, refusal_of, unknown_of
from pytest_reflex.storage.files import lock_warning

_REPORTED_ELSEWHERE = frozenset(("limited", "denied", INTERRUPTED))


class Narrator:
    """Listens to the events of one run, as `log` does. With `quiet` only the artifact is printed.

    With `no_stdout` the result is not printed at all: the events stand there.
    """

    def __init__(
        self, loop: ReflexLoop, log: Listener, *, quiet: bool, as_json: bool, no_stdout: bool
    ) -> None:
        self.loop, self.quiet, self.as_json = loop, quiet, as_json
        self._log, self._no_stdout = log, no_stdout
        self._display, self._warned_not_held = Display(), False
        self._failed: Evaluation | None = None
        said = None if quiet else lambda text: self._say(text)
        self._progress = Progress(LoopView(loop), say=said, leaving=loop.cancel.is_set)

    @contextmanager
    def follow_events(self) -> Iterator[Iterator[DriverEvent]]:
        """Yield the events of the run, with a display for as long as it is driven."""
        loop = replace(self.loop, listen=self.report, notice=self._notice)
        live = not (self.quiet or self.as_json)
        with (
            self._display.show(self._progress, live=live),
            closing(loop.events()) as events,
        ):
            yield events

    def begin(self) -> None:
        """Report what could not be read, and what still ran, when the run was taken up."""
        if self.loop.leftovers:
            number = self.loop.leftovers
            what = pluralize(number, "process", "processes")
            self._print_wrapped(f"Ended {what} that the interrupted run had left running")
        if unread := self.loop.watch.unread:
            self._print_wrapped(unread_text(unread))
        if warning := lock_warning(self.loop.files.folder):
            self._print_wrapped(warning)
        for line in self.loop.files.recovered:
            self._print_wrapped(line)
        for path in self.loop.files.aside:
            self._print_wrapped(
                f"Recovered from the history; what could not be read is kept as {path.name}"
            )

    def report(self, event: DriverEvent) -> None:
        """Log one event, and report it on stderr."""
        self._log(event)
        self._progress.hear(event)
        if self.quiet:
            return
        if event.kind is DriverEventKind.WAITING:
            if reason := event.fields.get("reason"):
                self._print_wrapped(reason)
            return
        kind, payload = event.fields.get(EVENT), event.fields.get("payload", {})
        if kind:
            self._budget()
        if kind == EventKind.EVALUATION_DONE:
            self._block()
        elif kind == EventKind.CRITIQUE_DONE:
            self._critique(payload["issues"])
        elif kind in (EventKind.CHECKS_PREPARED, EventKind.RUN_ADOPTED):
            self._checks(payload)
        elif kind == EventKind.REFINEMENT_DONE:
            for rule_id, reason in payload.get("not_fixed", {}).items():
                self._print_wrapped(f"The fix of {rule_id} changed nothing: {reason}", "mild")
            for line in iteration.guard_lines(payload):
                self._lines([line])
            self._say(f"Refined by: {_author(payload)}\n")
        elif kind == EventKind.PHASE_SWITCHED:
            self._say("\nPhase A passed; phase B evaluates the same artifact:\n")
            self._say(escape_control(self.loop.files.artifact_text()))
        elif kind == EventKind.PHASE_ERROR and not _REPORTED_ELSEWHERE & payload.keys():
            message = refusal_of(payload)
            self._print_wrapped(f"{payload['step']} gave nothing usable: {message}", "mild")
        elif event.kind is DriverEventKind.STOPPED:
            self._without_critique()
            self._say("")

    def _budget(self) -> None:
        """Say once that a budget cannot be held, because a tool does not report what it counts."""
        limits = self.loop.state.limits
        others = ["max_iterations", *(["wall_time"] if limits.wall_time else [])]
        text = not_held(limits.budget, unknown_of(self.loop.state.spend), others)
        if text and not self._warned_not_held:
            self._warned_not_held = True
            self._print_wrapped(text)

    def _notice(self, text: str) -> None:
        if not self.quiet:
            self._print_wrapped(text)

    def _block(self) -> None:
        state = self.loop.state
        evaluation = state.evaluation
        assert evaluation is not None
        self._lines(iteration.block(state, evaluation, self.loop.files.artifact_label))
        self._failed = None if evaluation.passed else evaluation

    def _checks(self, payload: Mapping[str, Any]) -> None:
        if commands := payload.get("agent_commands"):
            self._say("Commands that an agent made:")
            self._lines(list(iteration.command_lines(commands)))
        for rule_id, reason in payload.get("without_checks", {}).items():
            self._print_wrapped(f"{rule_id} has no check and is not measured: {reason}", "mild")

    def _critique(self, issues: Any) -> None:
        evaluation, self._failed = self.loop.state.evaluation, None
        assert evaluation is not None
        self._say(style_lines([iteration.CRITIQUE, *iteration.critique_lines(evaluation, issues)]))

    def _without_critique(self) -> None:
        """Say what the checks found, below a block that no critique follows."""
        if self._failed is not None and not self.quiet:
            self._say(style_lines(iteration.critique_lines(self._failed, None)))
        self._failed = None

    def end(self, *, why: bool = True) -> int:
        """Deliver the artifact, print summary and artifact, and return the exit status.

        With `why` false the reason of a failure is left to the error that is raised next. Raises
        StateError where the artifact could not be delivered, after all is printed.
        """
        state, files = self.loop.state, self.loop.files
        failure = None
        try:
            delivered = deliver(files, self.loop.project)
        except StateError as error:
            failure, delivered = error, not_written(f": {error}")
        assert state.stop.reason is not None
        status = failure.exit_code if failure else ENDS[state.stop.reason].exit_code
        with verdict(status):
            self._print(delivered)
        if failure:
            raise failure
        if why and self.quiet and state.status is RunStatus.FAILED:
            self._print_wrapped(f"{state.stop.reason.value}: {escape_control(state.stop.detail)}")
        return status

    def _print(self, delivered: Line) -> None:
        """Print how the run ended, and its artifact."""
        state, files = self.loop.state, self.loop.files
        if self.as_json:
            give_json(run_json(state))
            return
        if not self.quiet:
            width = width_of(sys.stderr if self._no_stdout else sys.stdout)
            text = style_lines(iteration.summary(state, delivered), width)
            self._say(text) if self._no_stdout else give(f"{text}\n\n")
        if self._no_stdout:
            return
        give_artifact(files.artifact_text())
        if not self.quiet and sys.stdout.isatty():  # the summary may have scrolled away
            self._lines([[], iteration.verdict_line(state, files.artifact_label)])

    def report_interrupt(self) -> None:
        """Say how to go on."""
        self._without_critique()
        self._say(
            f"\nInterrupted; nothing durable is lost. Continue with:\n"
            f"  pytest-reflex loop resume {self.loop.files.alias}"
        )

    def _print_wrapped(self, text: str, tone: str = "") -> None:
        self._lines(lines_of(escape_control(text), tone))

    def _lines(self, lines: list[Line]) -> None:
        self._say(style_lines(lines, width_of(sys.stderr)))

    def _say(self, text: str) -> None:
        self._display.say(text)


def _author(refined: Mapping[str, Any]) -> str:
    same = refined["before"] == refined["after"]
    return f"{refined['by']} (nothing was changed)" if same else str(refined["by"])
