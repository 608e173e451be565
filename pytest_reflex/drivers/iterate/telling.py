"""What an iteration loop at work shows between two lines of its log: what runs, how long, a trend.

A live view draws `lines` anew; elsewhere `beat` tells from time to time that a round goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from pytest_reflex.drivers.iterate.model import Round
from pytest_reflex.drivers.iterate.statistics import statistics_of
from pytest_reflex.drivers.iterate.wording import RESUME, place_text
from pytest_reflex.reports.progress import LEAVING, SPINNER, Line, bar, clock
from pytest_reflex.verdict.figures import lasted

BEAT = 60.0  # seconds after which a round that goes on is told of in plain lines
_MARKS = 6


class Progress:
    """What runs now and since when; the log tells it what begins and ends.

    `seconds` is a clock that never goes back; `leaving` says whether the run was interrupted and
    what runs is given time to end.
    """

    def __init__(
        self,
        procedure: str,
        *,
        seconds: Callable[[], float] = time.monotonic,
        leaving: Callable[[], bool] = lambda: False,
    ) -> None:
        self.procedure, self._seconds, self._leaving = procedure, seconds, leaving
        self._began = seconds()
        self._rounds: list[Round] = []
        self._failures, self._turn = 0, 0
        self._number, self._total = 0, 0
        self._since: float | None = None
        self._done_gates: list[str] = []

    def begins(self, number: int, total: int) -> None:
        """Learn that round `number` of `total` (0: no limit) begins."""
        self._number, self._total, self._done_gates = number, total, []
        self._since = self._seconds()

    def gate_done(self, name: str) -> None:
        """Learn that a gate of this round was tried."""
        self._done_gates.append(name)

    def ends(self, round_: Round, failures: int) -> None:
        """Learn how the round ended; `failures` in a row count it too."""
        self._rounds.append(round_)
        self._failures, self._since = failures, None

    def lines(self) -> list[Line]:
        """Return the live view as it is now; lines may be cut at their end."""
        self._turn += 1
        wheel = (SPINNER[self._turn % len(SPINNER)] + " ", "good")
        run = f"  {self.procedure} · run {clock(self._seconds() - self._began)}"
        failed = f" · {self._failures} failed in a row" if self._failures else ""
        resume = f"  Ctrl-C interrupts; go on with: {RESUME} {self.procedure}"
        return [
            [wheel, *self._place()],
            [(run, ""), (failed, "bad")],
            [("  rounds ", ""), *self._trend()],
            LEAVING if self._leaving() else [(resume, "faint")],
        ]

    def _place(self) -> Line:
        if self._since is None:
            return [("between two iterations", "")]
        gates = f" · gates done: {', '.join(self._done_gates)}" if self._done_gates else ""
        running = clock(self._seconds() - self._since)
        return [(place_text(self._number, self._total), "strong"), (f" {running}{gates}", "")]

    def _trend(self) -> Line:
        """Return a bar and the time of each of the last rounds, the mean, and what is to come."""
        if not self._rounds:
            return [("none yet", "")]
        last = self._rounds[-_MARKS:]
        longest = max(one.seconds for one in last) or 1.0
        line: Line = [("… ", "faint")] if len(self._rounds) > _MARKS else []
        line += [
            (f"{bar(one.seconds / longest)} {lasted(one.seconds)} ", _tone(one)) for one in last
        ]
        mean = statistics_of(one.seconds for one in self._rounds).mean
        left = self._total - self._rounds[-1].number
        to_go = f", about {lasted(mean * left)} to go" if self._total and left > 0 else ""
        return [*line, (f"mean {lasted(mean)}{to_go}", "faint")]

    def beat(self, say: Callable[[str], object]) -> None:
        """Tell in a plain line that a round goes on, where one does."""
        if self._since is not None:
            running = lasted(self._seconds() - self._since)
            # A timer calls this, perhaps in the middle of a line: then that line is enough.
            with suppress(RuntimeError):
                say(f"{place_text(self._number, self._total)} is at work since {running}")


def _tone(one: Round) -> str:
    if one.failed:
        return "bad"
    return "mild" if one.changed is False else "good"
