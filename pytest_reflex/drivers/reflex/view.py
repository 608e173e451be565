"""What a Reflex loop at work shows: its steps, the scores, the spend."""

from __future__ import annotations

from pytest_reflex.drivers.common.console import DriverView
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.reports.lines import Line
from pytest_reflex.reports.run_lines import RunningStep, loop_rows, start_line

_IMMEDIATE = "offline"  # an agent that answers at once: no wait is shown


class LoopView(DriverView):
    """The view of a loop: what it knows of the run is its state."""

    beat = 30.0
    idle = "between two steps"

    def __init__(self, loop: ReflexLoop) -> None:
        self._loop = loop
        self.resume = f"pytest-reflex loop resume {loop.files.alias}"

    def rows(self, run: str) -> list[Line]:
        return loop_rows(self._loop.state, run)

    def start_line(self, running: RunningStep) -> str:
        asks = running.agent and running.agent != _IMMEDIATE
        return start_line(running) if asks else ""
