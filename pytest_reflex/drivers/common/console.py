"""What a run shows people, for all drivers: styled lines, and what is under way.

Reports give lines of pieces with a tone; here, and nowhere else, they get a style. A stream without
colours takes the style out again. `Progress` is a reader of events: a live view draws its `lines`,
elsewhere `beat` says from time to time that a step goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.model.plain import escape_control
from pytest_reflex.reports.lines import Line, wrap_lines
from pytest_reflex.reports.run_lines import (
    LEAVING,
    SPINNER,
    RunningStep,
    agent_text,
    clock,
    waiting_line,
)

_STYLES: Mapping[str, Mapping[str, Any]] = {
    "good": {"fg": "green", "bold": True},
    "bad": {"fg": "red", "bold": True},
    "mild": {"fg": "yellow"},
    "strong": {"bold": True},
    "faint": {"dim": True},
    "done": {"fg": "green"},
    "open": {"fg": "yellow", "bold": True},
}


def style_lines(lines: Iterable[Line], width: int = 0) -> str:
    """Return lines with their style, control characters visible; with a `width`, broken there."""
    shown = ([(escape_control(text), tone) for text, tone in line] for line in lines)
    return "\n".join(map(_style_line, wrap_lines(shown, width) if width else shown))


def _style_line(line: Line) -> str:
    pieces = ((text, _STYLES.get(tone)) for text, tone in line)
    return "".join(click.style(text, **style) if style else text for text, style in pieces)


class DriverView:
    """What a driver shows while it works; `beat` are the seconds after which that is reported.

    `resume` is the command by which the run goes on, `idle` what is said where nothing runs.
    """

    beat: float
    idle: str
    resume: str

    def begins(self, event: DriverEvent) -> Mapping[str, str]:
        """Return what is under way from a waiting event on, with the agents that are asked."""
        steps: Mapping[str, str] = event.fields.get("steps", {})
        return steps

    def hear(self, event: DriverEvent) -> None:
        """Learn of any other event."""

    def note(self) -> str:
        """Return what is to be said behind what is under way."""
        return ""

    def rows(self, run: str) -> list[Line]:
        """Return the lines below; `run` is the time since the sitting began."""
        return []

    def start_line(self, running: RunningStep) -> str:
        """Return the plain line at the start of what may take long; empty for none."""
        return ""

    def goes_on(self, running: Sequence[RunningStep]) -> str:
        """Return the plain line that says that it goes on."""
        return waiting_line(running)


class Progress:
    """What runs now and since when, from events.

    `say` prints plain lines, None where they are not wanted; `seconds` is a clock that never goes
    back; `leaving` says whether the run was interrupted and what runs is given time to end.
    """

    def __init__(
        self,
        view: DriverView,
        *,
        say: Callable[[str], object] | None = None,
        seconds: Callable[[], float] = time.monotonic,
        leaving: Callable[[], bool] = lambda: False,
    ) -> None:
        self.view, self.say = view, say
        self._seconds, self._leaving = seconds, leaving
        self._began, self._turn = seconds(), 0
        self._since: dict[str, tuple[str, float]] = {}

    def hear(self, event: DriverEvent) -> None:
        """Learn what begins, and what has ended."""
        if event.kind is not DriverEventKind.WAITING:
            self._ends(event)
            self.view.hear(event)
        elif begun := self.view.begins(event):
            now = self._seconds()
            self._since = {name: (agent, now) for name, agent in begun.items()}
            for text in filter(None, map(self.view.start_line, self._running_steps())):
                self._report(text)

    def _ends(self, event: DriverEvent) -> None:
        """Forget a step that has ended; a driver that names none has one at a time."""
        if step := event.fields.get("step"):
            self._since.pop(step, None)
        elif event.kind is DriverEventKind.ACTED:
            self._since.clear()

    def lines(self) -> list[Line]:
        """Return the live view as it is now; lines may be cut at their end."""
        self._turn += 1
        first: Line = [(SPINNER[self._turn % len(SPINNER)] + " ", "good")]
        for number, one in enumerate(self._running_steps()):
            first += [(" · ", "faint")] if number else []
            first += [(one.name, "strong"), (f" {clock(one.seconds)}{agent_text(one)}", "")]
        first.append((self.view.note() if self._since else self.view.idle, ""))
        resume: Line = [(f"  Ctrl-C interrupts; go on with: {self.view.resume}", "faint")]
        last = LEAVING if self._leaving() else resume
        return [first, *self.view.rows(clock(self._seconds() - self._began)), last]

    def beat(self) -> None:
        """Report that what runs goes on, in a plain line."""
        if running := self._running_steps():
            # A timer calls this, perhaps in the middle of a line: then that line is enough.
            with suppress(RuntimeError):
                self._report(self.view.goes_on(running))

    def _running_steps(self) -> list[RunningStep]:
        now = self._seconds()
        return [RunningStep(name, agent, now - at) for name, (agent, at) in self._since.items()]

    def _report(self, text: str) -> None:
        if self.say:
            self.say(text)
