"""What an iteration loop shows between two lines of its log: what runs, how long, a trend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_reflex.drivers.common.console import View
from pytest_reflex.drivers.common.events import DriverEvent, Kind
from pytest_reflex.drivers.iterate.messages import RESUME, place_text
from pytest_reflex.drivers.iterate.statistics import statistics_of
from pytest_reflex.reports.lines import Line
from pytest_reflex.reports.run_lines import Running, bar
from pytest_reflex.verdict.formatting import lasted

_MARKS = 6


class IterateView(View):
    """The view of a run: the log reports which gates of an iteration are done, events the rest."""

    beat = 60.0
    idle = "between two iterations"

    def __init__(self, procedure: str) -> None:
        self._procedure = procedure
        self.resume = f"{RESUME} {procedure}"
        self._failures = self._number = self._total = 0
        self._seconds: list[float] = []
        self._tones: list[str] = []
        self._acted: Mapping[str, object] = {}
        self._gates: list[str] = []

    def begins(self, event: DriverEvent) -> Mapping[str, str]:
        if "max_iterations" not in event.fields:  # an agent is given time
            return {}
        self._total, self._gates = event.fields["max_iterations"], []
        return {place_text(event.iteration, self._total): ""}

    def gate_done(self, name: str) -> None:
        """Learn that a gate of this iteration was tried."""
        self._gates.append(name)

    def hear(self, event: DriverEvent) -> None:
        fields = event.fields
        if event.kind is Kind.ACTED:
            self._acted = fields
        elif event.kind is Kind.ITERATION:
            self._number, self._failures = event.iteration, fields["failures"]
            good = self._acted["changed"] is not False and fields["outcome"] == "success"
            self._seconds.append(float(str(self._acted["seconds"])))
            failed = fields["outcome"] == "failure"
            self._tones.append("bad" if failed else "good" if good else "mild")

    def note(self) -> str:
        return f" · gates done: {', '.join(self._gates)}" if self._gates else ""

    def rows(self, run: str) -> list[Line]:
        failed = f" · {self._failures} failed in a row" if self._failures else ""
        return [
            [(f"  {self._procedure} · run {run}", ""), (failed, "bad")],
            [("  iterations ", ""), *self._trend()],
        ]

    def _trend(self) -> Line:
        """Return a bar and the time of each of the last iterations, the mean, and what is to
        come.
        """
        if not self._seconds:
            return [("none yet", "")]
        last = list(zip(self._seconds, self._tones, strict=True))[-_MARKS:]
        longest = max(seconds for seconds, _ in last) or 1.0
        line: Line = [("… ", "faint")] if len(self._seconds) > _MARKS else []
        line += [(f"{bar(seconds / longest)} {lasted(seconds)} ", tone) for seconds, tone in last]
        mean = statistics_of(self._seconds).mean
        left = self._total - self._number
        to_go = f", about {lasted(mean * left)} to go" if self._total and left > 0 else ""
        return [*line, (f"mean {lasted(mean)}{to_go}", "faint")]

    def goes_on(self, running: Sequence[Running]) -> str:
        return ", ".join(f"{one.name} is at work since {lasted(one.seconds)}" for one in running)
