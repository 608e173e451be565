"""What a loop at work says of itself: the lines of the live view and those of a pipe."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_reflex.drivers.common.console import Progress
from pytest_reflex.drivers.common.control import StopControl
from pytest_reflex.drivers.common.events import DriverEvent, StepEvents
from pytest_reflex.drivers.reflex.decide import Action, Decision
from pytest_reflex.drivers.reflex.driver import ReflexDriver, ReflexLoop
from pytest_reflex.drivers.reflex.view import LoopView
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import EvaluationMark, RunState, Spend
from pytest_reflex.reports.lines import Line
from pytest_reflex.reports.run_lines import RunningStep, clock, loop_rows, trend, waiting_line
from pytest_reflex.settings import STEPS
from tests.drivers.reflex.stage import CRITERIA, Script, Stage

AGENTS = {Step(name.upper()): "writer" for name in STEPS}


def mark(score: str, level: Level = Level.A, blockers: tuple[str, ...] = ()) -> EvaluationMark:
    exact = Fraction(score)
    return EvaluationMark(
        iteration=1,
        level=level,
        score=exact,
        passed=exact > Fraction(9, 10),
        blockers=blockers,
        failing=blockers,
        sha256="",
    )


@pytest.fixture
def state(tmp_path: Path) -> RunState:
    with Stage(tmp_path).begin(Script()) as loop:
        return loop.state


def text(line: Line) -> str:
    return "".join(piece for piece, _ in line)


TRENDS = {
    "nothing yet": ([], "none yet, needs 0.8"),
    "one": ([mark("0")], "A ▁ 0.000 needs 0.8"),
    "rising into B": (
        [mark("1/2"), mark("1"), mark("3/4", Level.B)],
        "A ▅ 0.500 █ 1.000 B ▇ 0.750 needs 0.8",
    ),
    "the last six": (
        [mark(f"{n}/10") for n in range(8)],
        "… A ▂ 0.200 ▃ 0.300 ▄ 0.400 ▅ 0.500 ▅ 0.600 ▆ 0.700 needs 0.8",
    ),
}


@pytest.mark.parametrize(("marks", "line"), TRENDS.values(), ids=TRENDS.keys())
def test_the_trend_has_a_mark_for_each_evaluation(
    marks: list[EvaluationMark], line: str, state: RunState
) -> None:
    assert text(trend(replace(state, marks=tuple(marks)))) == line


def test_a_mark_has_the_colour_of_its_verdict(state: RunState) -> None:
    marks = (mark("1"), mark("1/2"), mark("1/2", blockers=("a.x.alpha",)))
    tones = [tone for piece, tone in trend(replace(state, marks=marks)) if "." in piece]
    assert tones == ["good", "mild", "bad", "faint"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (59.9, "0:59"), (60, "1:00"), (3723, "1:02:03")]
)
def test_a_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_what_a_tool_did_not_tell_is_called_unknown(state: RunState) -> None:
    spent = replace(state, spend=Spend(calls=2, seconds=3.0, unknown=2, unknown_tokens=2))
    assert "unknown" in text(loop_rows(spent, "0:00")[2])


def test_t06_the_name_of_an_agent_cannot_act() -> None:
    line = waiting_line([RunningStep("PLAN", "\x1b[2J", 31.0)])
    assert line == "still at work: PLAN 0:31 (agent \\x1b[2J)"


def running(progress: Progress) -> str:
    return text(progress.lines()[0])[2:]


def begin(loop: ReflexLoop, step: Step) -> DriverEvent:
    """Return that a step is waited for, as the driver says it."""
    driver = ReflexDriver(loop, StopControl(loop.files.requests, loop.cancel), StepEvents(None))
    (event,) = driver.announce(Decision(Action.STEP, step))
    return event


def test_the_pair_runs_side_by_side_until_each_is_done(tmp_path: Path) -> None:
    prose = CRITERIA + "  - {id: a.x.prose, description: good, severity: info, check: reads well}\n"
    with Stage(tmp_path, prose).begin(Script(produce="alpha beta")) as loop:
        loop = replace(loop, agents=AGENTS)
        progress = Progress(LoopView(loop))
        progress.hear(begin(loop, Step.PRODUCE_PREPARE))
        assert running(progress) == "PRODUCE 0:00 (agent writer) · PREPARE 0:00 (agent writer)"
        events = loop.events()
        created = next(e for e in events if e.fields.get("event") == EventKind.ARTIFACT_CREATED)
        events.close()
        progress.hear(created)
        assert running(progress) == "PREPARE 0:00 (agent writer)"


def test_checks_of_the_rules_need_no_agent(tmp_path: Path) -> None:
    with Stage(tmp_path).begin(Script()) as loop:
        loop = replace(loop, agents=AGENTS)
        progress = Progress(LoopView(loop))
        progress.hear(begin(loop, Step.PREPARE))
        assert running(progress) == "PREPARE 0:00"


def test_one_after_the_other_only_one_runs(tmp_path: Path) -> None:
    with Stage(tmp_path).begin(Script(), sequential=True) as loop:
        loop = replace(loop, agents=AGENTS)
        progress = Progress(LoopView(loop))
        progress.hear(begin(loop, Step.PRODUCE_PREPARE))
        assert running(progress) == "PRODUCE 0:00 (agent writer)"


def test_between_two_steps_nothing_runs(tmp_path: Path) -> None:
    with Stage(tmp_path).begin(Script()) as loop:
        assert running(Progress(LoopView(loop))) == "between two steps"


def test_who_is_leaving_is_told_how_to_leave_at_once(tmp_path: Path) -> None:
    with Stage(tmp_path).begin(Script()) as loop:
        progress = Progress(LoopView(loop), leaving=loop.cancel.is_set)
        assert text(progress.lines()[-1]).endswith("pytest-reflex loop resume words")
        loop.cancel.set()
        assert text(progress.lines()[-1]).endswith("once more kills it")


def test_agents_that_answer_at_once_are_not_announced(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    with Stage(tmp_path).begin(Script()) as loop:
        loop = replace(loop, agents={Step.PLAN: "offline", Step.REFINE: "writer"})
        progress = Progress(LoopView(loop), say=said.append)
        for step in (Step.PLAN, Step.EVALUATE, Step.REFINE):
            progress.hear(begin(loop, step))
        progress.beat()
        assert said == ["REFINE ... (agent writer)", "still at work: REFINE 0:00 (agent writer)"]
