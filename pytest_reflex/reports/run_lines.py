"""What a loop that is at work shows of itself: what runs, how long, the scores, the spend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from pytest_reflex.model.enums import Level
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Mark, RunState
from pytest_reflex.reports.lines import Line
from pytest_reflex.reports.spending import spend_text
from pytest_reflex.verdict.formatting import plain, shown_score

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LEAVING: Line = [("  leaving: what runs is given time to end; once more kills it", "mild")]
_BARS = "▁▂▃▄▅▆▇█"
_MARKS = 6
_NAME = 40


@dataclass(frozen=True, slots=True)
class Running:
    """A step that runs: for how many seconds, and the agent that was asked ("" for none)."""

    name: str
    agent: str
    seconds: float


def loop_rows(state: RunState, run: str) -> list[Line]:
    """Return what a live view shows of a loop; `run` is the time since the driver began.

    Lines may be cut at the end: what matters most comes first.
    """
    place = (
        f"iteration {state.iteration}/{state.limits.max_iterations} · phase {state.level.value} · "
        f"run {run}"
    )
    return [
        [("  " + place, "")],
        [("  score ", ""), *trend(state)],
        [(f"  spend {spend_text(state.spend)}", "")],
    ]


def started_line(running: Running) -> str:
    """Return what is reported at the start of a step that may take long."""
    return f"{running.name} ...{asked(running)}"


def waiting_line(running: Iterable[Running]) -> str:
    """Return what is reported while steps go on and nothing else happens."""
    steps = (f"{one.name} {clock(one.seconds)}{asked(one)}" for one in running)
    return "still at work: " + ", ".join(steps)


def asked(running: Running) -> str:
    """Return the agent that is asked, as it stands behind a step."""
    return f" (agent {one_line(running.agent, _NAME)})" if running.agent else ""


def trend(state: RunState) -> Line:
    """Return a bar and the score of each of the last evaluations, and what is needed now."""
    needed = plain(state.criteria.thresholds[state.level])
    if not state.marks:
        return [(f"none yet, needs {needed}", "")]
    line: Line = [("… ", "faint")] if len(state.marks) > _MARKS else []
    level: Level | None = None
    for mark in state.marks[-_MARKS:]:
        if mark.level is not level:
            line.append((f"{mark.level.value} ", "faint"))
            level = mark.level
        line.append((f"{bar(mark.score)} {shown_score(mark.score)} ", _tone(mark)))
    return [*line, (f"needs {needed}", "faint")]


def bar(share: Fraction | float) -> str:
    """Return a bar for a share from 0 to 1."""
    return _BARS[min(int(share * len(_BARS)), len(_BARS) - 1)]


def _tone(mark: Mark) -> str:
    if mark.passed:
        return "good"
    return "bad" if mark.blockers else "mild"


def clock(seconds: float) -> str:
    """Return a duration as a clock shows it: 0:42, 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
