"""What an iteration loop at work shows between the lines of its log."""

from __future__ import annotations

import pytest

from pytest_reflex.cli.iterate_drive import IterateView
from pytest_reflex.drivers.common.console import Progress
from pytest_reflex.drivers.iterate import logfile
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.model import (
    FailureCause,
    GateResult,
    Iteration,
    IterationGate,
    State,
)
from pytest_reflex.reports.lines import Line


class Stage:
    """A progress under a clock that the test sets, fed by the events of a driver."""

    def __init__(self) -> None:
        self.now, self.leaving = 0.0, False
        self.view, self.said = IterateView("build"), list[str]()
        self.progress = Progress(
            self.view,
            say=self.said.append,
            seconds=lambda: self.now,
            leaving=lambda: self.leaving,
        )

    def begins(self, number: int, total: int) -> None:
        self.progress.hear(logfile.begins(self.state(number - 1, total), "tool"))

    def state(self, number: int, total: int, failures: int = 0) -> State:
        return State(
            procedure_name="build",
            max_iterations=total,
            failure_threshold=3,
            started_at="",
            iteration=number,
            consecutive_failures=failures,
        )

    def round(self, number: int, total: int, seconds: float, *, failures: int = 0) -> None:
        self.begins(number, total)
        self.now += seconds
        cause = FailureCause.EXIT if failures else None
        ended = Iteration(number=number, seconds=seconds, cause=cause, changed=number % 2 == 0)
        for event in logfile.of_outcome(self.state(number, total, failures), ended):
            self.progress.hear(event)

    def lines(self) -> list[str]:
        return ["".join(text for text, _ in line)[2:] for line in self.progress.lines()]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_round_that_runs_is_shown_with_its_time(stage: Stage) -> None:
    stage.begins(1, 3)
    stage.now += 62
    assert stage.lines() == [
        "Iteration 1/3 1:02",
        "build · run 1:02",
        "iterations none yet",
        "Ctrl-C interrupts; go on with: pytest-reflex iterate resume build",
    ]


def test_finished_rounds_are_a_trend_with_what_is_to_come(stage: Stage) -> None:
    stage.round(1, 4, 30.0)
    stage.round(2, 4, 60.0)
    assert stage.lines()[:3] == [
        "between two iterations",
        "build · run 1:30",
        "iterations ▅ 30.0s █ 1m0s mean 45.0s, about 1m30s to go",
    ]


def test_only_the_last_rounds_are_shown_and_no_end_where_there_is_none(stage: Stage) -> None:
    for number in range(1, 9):
        stage.round(number, 0, number)
    assert stage.lines()[2] == "iterations … ▄ 3.0s ▅ 4.0s ▆ 5.0s ▇ 6.0s █ 7.0s █ 8.0s mean 4.5s"


def test_failures_in_a_row_are_shown_until_a_round_succeeds(stage: Stage) -> None:
    stage.round(1, 0, 1.0, failures=1)
    stage.round(2, 0, 1.0, failures=2)
    assert stage.lines()[1] == "build · run 0:02 · 2 failed in a row"
    stage.round(3, 0, 1.0)
    assert "failed" not in stage.lines()[1]


def test_a_round_has_the_colour_of_its_end(stage: Stage) -> None:
    stage.round(1, 0, 1.0, failures=1)
    stage.round(2, 0, 1.0)
    stage.round(3, 0, 1.0)
    trend: Line = stage.progress.lines()[2]
    assert [tone for text, tone in trend if "1.0s " in text] == ["bad", "good", "mild"]


def test_gates_that_were_tried_are_named(stage: Stage) -> None:
    stage.begins(1, 0)
    gate = IterationGate(name="tests", command="pytest")
    log = Log("build", lambda text: None, gate_done=stage.view.gate_done)
    log.report_gate(1, GateResult(gate=gate, outcome="pass", summary="", seconds=1))
    assert stage.lines()[0] == "Iteration 1 0:00 · gates done: tests"


def test_who_leaves_is_told_what_is_waited_for(stage: Stage) -> None:
    stage.leaving = True
    assert "leaving: what runs is given time to end" in stage.lines()[3]


def test_rounds_that_take_no_time_have_a_bar(stage: Stage) -> None:
    stage.round(1, 0, 0.0)
    assert stage.lines()[2] == "iterations ▁ 0.0s mean 0.0s"


def test_a_pipe_is_told_from_time_to_time_that_a_round_goes_on(stage: Stage) -> None:
    stage.progress.beat()
    stage.begins(2, 5)
    stage.now += 60
    stage.progress.beat()
    assert stage.said == ["Iteration 2/5 has been running for 1m0s"]


def test_a_beat_in_the_middle_of_another_line_is_left_out(stage: Stage) -> None:
    tried: list[str] = []

    def busy(text: str) -> None:
        tried.append(text)
        raise RuntimeError("reentrant call")

    stage.begins(1, 1)
    stage.now += 60
    stage.progress.say = busy
    stage.progress.beat()
    assert tried == ["Iteration 1/1 has been running for 1m0s"]
