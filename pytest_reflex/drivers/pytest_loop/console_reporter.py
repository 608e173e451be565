"""Reports to a person what a loop over a session does, on standard output like pytest itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import click

from pytest_reflex.drivers.common.console import style_lines
from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.drivers.pytest_loop.child import Runner, Session
from pytest_reflex.drivers.pytest_loop.files import counts, project_of
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.events import EVENT
from pytest_reflex.drivers.reflex.view import LoopView
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import INTERRUPTED, EventKind
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.deadline import interval_timer
from pytest_reflex.process.signals import Interruptions
from pytest_reflex.reports import iteration
from pytest_reflex.reports.lines import WIDTH, Line, lines_of, plain, wrap_lines
from pytest_reflex.reports.run_lines import RunningStep, allow_text, extend_command, waiting_line

_MOST_FILES = 20
_TAIL = 30


@dataclass(slots=True, kw_only=True)
class ConsoleReporter:
    """With `verbose` each session is shown whole, with `quiet` only how it ended.

    With `no_stdout` it prints on standard error: the events stand on standard output.
    """

    verbose: bool
    quiet: bool
    color: bool | None
    no_stdout: bool = False
    interruptions: Interruptions = field(default_factory=Interruptions)
    failed: Evaluation | None = None
    """What did not pass and no critique has addressed yet."""

    def say(self, text: str, tone: str = "") -> None:
        """Print lines, control characters visible; what cannot be printed stops nothing."""
        try:
            click.echo(style_lines([[(text, tone)]]), color=self.color, err=self.no_stdout)
            (sys.stderr if self.no_stdout else sys.stdout).flush()
        except OSError:
            return

    def note(self, text: str) -> None:
        self._print_wrapped(lines_of(escape_control(text)))

    def _print_wrapped(self, lines: Iterable[Line]) -> None:
        """Print lines as they are, broken on a terminal where they are too long."""
        on_terminal = (sys.stderr if self.no_stdout else sys.stdout).isatty()
        self.say(plain(wrap_lines(lines, WIDTH) if on_terminal else lines))

    def begin(self, loop: ReflexLoop) -> None:
        """Report what could not be read when the run was taken up."""
        for line in loop.files.recovered:
            self.note(line)
        for path in loop.files.aside:
            self.note(f"Recovered from the history; what could not be read is kept as {path.name}")
        self._report_refusals(loop)

    def first(self, runner: Runner) -> Session:
        """Run the first session, show it, and return it."""
        began = time.monotonic()

        def beat() -> None:
            seconds = time.monotonic() - began
            self.say(waiting_line([RunningStep(Step.EVALUATE.value, "", seconds)]))

        self.begin_session()
        with nullcontext() if self.quiet else interval_timer(LoopView.beat, beat):
            session = runner.run()
        self.show(session)
        return session

    def begin_session(self) -> None:
        """Report that a session is run now."""
        if not self.quiet:
            self.say("Session ...")

    def show(self, session: Session) -> None:
        """Show a session: its closing line, all of it with -v, its tail where it is unusable."""
        output = escape_control(session.output).rstrip("\n")
        if self.verbose:
            self.say(output)
        elif session.ended:
            self.say("\n".join(output.splitlines()[-_TAIL:]))
        if not self.quiet:
            self.say(f"Session: {escape_control(session.last_line)}")

    def report(self, event: DriverEvent, loop: ReflexLoop) -> None:
        """Report one event."""
        kind, payload = event.fields.get(EVENT), event.fields.get("payload", {})
        if kind:
            self._report_refusals(loop)
        if self.quiet:
            return
        if kind == EventKind.EVALUATION_DONE:
            self._block(loop)
        elif kind == EventKind.CRITIQUE_DONE:
            self.say("Critique:")
            # Agents get details; people get one line for each rule.
            self._report_tampering()
        elif event.kind is DriverEventKind.STOPPED:
            self._report_tampering()
        elif kind == EventKind.REFINEMENT_DONE:
            by, same = payload.get("agent", ""), payload["before"] == payload["after"]
            self.say(f"Refined by: {by}{' (nothing was changed)' if same else ''}\n")
        elif kind == EventKind.PHASE_ERROR and not {"denied", INTERRUPTED} & payload.keys():
            self.note(
                f"{payload['step']} gave nothing usable: {escape_control(payload['message'])}"
            )
        elif kind == EventKind.ARTIFACT_CREATED and payload["by"] == "hand":
            self.note("The files differ from the history; they are evaluated as they are")

    def _report_tampering(self) -> None:
        """Say what was found against the session that was evaluated last, once."""
        if self.failed is not None and not self.quiet:
            self.say(plain(iteration.critique_lines(self.failed, None)))
        self.failed = None

    def _report_refusals(self, loop: ReflexLoop) -> None:
        for why in project_of(loop.files).take_refusals():
            self.note(f"{why}: it was taken away, and what the history has is in its place")

    def _block(self, loop: ReflexLoop) -> None:
        state = loop.state
        evaluation = state.evaluation
        assert evaluation is not None
        self.failed = None if evaluation.passed else evaluation
        # A section of the artifact is a file here, and one that comes in is none that was added.
        changed, label = _format_changed(state.changed), loop.files.artifact_label
        title, *rest = iteration.block(state, evaluation, label, changed)
        self.say(plain([title]), "good" if evaluation.passed else "open")
        self._print_wrapped(rest)

    def end(self, loop: ReflexLoop) -> None:
        """Print the summary, and what was changed since the start."""
        files, state = project_of(loop.files), loop.state
        changed = counts(files.initial_texts, files.editable_files.read())
        self._print_wrapped(
            [*([] if self.quiet else [[]]), *iteration.summary(state, advises=False)]
        )
        rows = [f"  {escape_control(path)} | +{plus} -{minus}" for path, plus, minus in changed]
        if len(rows) > _MOST_FILES:
            rows = [*rows[:_MOST_FILES], f"  and {len(rows) - _MOST_FILES} more"]
        self.say("\n".join(["Changed:", *rows]) if rows else "Changed: nothing")
        if advice := _advice(state):
            self.note(f"Next: {advice}")

    def report_interrupt(self, alias: str) -> None:
        self._report_tampering()
        self.say(
            "\nInterrupted; nothing durable is lost. Continue with:\n"
            f"  pytest --reflex-loop --reflex-resume {alias}"
        )


def _advice(state: RunState) -> str:
    """Return what to do after a run that is not success."""
    if state.stop.offered:
        return allow_text(state, of_session=True)
    if state.stop.reason is StopReason.TAMPERED:
        return "the files are left as they are; review what was modified, then start a new loop"
    if state.stop.passed:
        return ""
    return f"fix by hand what is left, or go on with `{extend_command(state, of_session=True)}`"


def _format_changed(changed: Mapping[str, Any]) -> str:
    if not changed or changed.get("initial"):
        return "nothing yet"
    names = {name for word in ("added", "modified", "removed") for name in changed[word]}
    return ", ".join(sorted(names)) or "nothing"
