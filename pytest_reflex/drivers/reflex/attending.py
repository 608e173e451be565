"""What a Reflex loop at work shows: its steps, the scores, the spend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_reflex.drivers.common.events import DriverEvent
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.reports.lines import Line
from pytest_reflex.reports.progress import Running, loop_rows, started_line, waiting_line

_IMMEDIATE = "offline"  # an agent that answers at once: nobody waits for it


class LoopView:
    """The view of a loop: what it knows of the run is its state."""

    beat = 30.0
    idle = "between two steps"

    def __init__(self, loop: ReflexLoop) -> None:
        self._loop = loop
        self.resume = f"pytest-reflex loop resume {loop.files.alias}"

    def begins(self, event: DriverEvent) -> Mapping[str, str]:
        steps: Mapping[str, str] = event.fields.get("steps", {})
        return steps

    def hear(self, event: DriverEvent) -> None:
        """The state says it all."""

    def note(self) -> str:
        return ""

    def rows(self, run: str) -> list[Line]:
        return loop_rows(self._loop.state, run)

    def started(self, running: Running) -> str:
        asks = running.agent and running.agent != _IMMEDIATE
        return started_line(running) if asks else ""

    def goes_on(self, running: Sequence[Running]) -> str:
        return waiting_line(running)
