"""Limits and what people ask: budgets of the tree and of a node, stop, feedback, no git, --new."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.control import ControlFile, Requests
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.drivers.flow import messages
from pytest_reflex.errors import ExitCode
from tests.drivers.flow.stage import (
    NOTE,
    OPEN,
    TWO,
    Call,
    Stage,
    close_one,
    decide_by_note,
    decision,
    node,
    sense_pass,
)

pytestmark = pytest.mark.long


def ask(stage: Stage, **what: object) -> None:
    """Ask the run something, as `flow stop` and `flow feedback` of another process do."""
    file: ControlFile = RunFile(stage.folder, "flow", stage.run_id).control
    file.ask(Requests(**what))  # type: ignore[arg-type]


def test_a_budget_of_the_run_counts_all_calls_of_the_tree(stage: Stage) -> None:
    code = stage.flow(TWO).open_points(9).run("close them", "--budget", "calls=4")
    assert code == ExitCode.BUDGET_EXCEEDED
    assert len(stage.script.asked) == 4
    assert "calls: 4 of 4 used" in stage.record.detail


def test_a_run_whose_budget_is_used_up_goes_on_with_more(stage: Stage) -> None:
    stage.flow(TWO).run("close them", "--budget", "calls=3")
    assert stage.resume("--budget", "calls=+20") == 0
    assert stage.told()[-1] == "outer 2: target met"
    made = [(one.path, one.label) for one in stage.boundaries()]
    assert len(made) == len(set(made)) == 7
    assert len(stage.script.asked) == 7


def test_the_budget_of_a_node_bounds_each_entry_of_it(stage: Stage) -> None:
    inner = node("inner", most=9, termination={"budget": {"calls": 2}})
    assert stage.flow(node("outer", most=4, child=inner)).open_points(3).run() == 0
    entries = [one.label for one in stage.boundaries() if one.path == "outer/inner"]
    assert entries == ["1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "3.0", "3.1", "3.2"]
    ends = [one for one in stage.boundaries() if one.label in ("1.2", "2.2")]
    assert {one.status for one in ends} == {"max-iterations-reached"}
    assert {one.action for one in ends} == {"budget used up"}
    assert "calls: 2 of 2 used" not in stage.output("outer/inner", "controller-output.md")


def test_the_budget_of_the_root_ends_the_run(stage: Stage) -> None:
    flow = node("outer", child=node("inner"), termination={"budget": {"calls": 3}})
    assert stage.flow(flow).open_points(9).run() == ExitCode.BUDGET_EXCEEDED
    assert "budget" in stage.output("outer", "result-output.md")
    assert stage.boundaries()[-1].path == "outer"


def test_a_run_that_is_asked_to_stop_stops_before_its_next_step_and_goes_on(stage: Stage) -> None:
    def act(call: Call, output: Path) -> None:
        close_one(call, output)
        if stage.script.count("actuator") == 1:
            ask(stage, stop="lunch")

    stage.script.actuator = act
    assert stage.flow(TWO).run() == ExitCode.USER_STOP
    assert stage.record.detail == "lunch"
    assert stage.told()[-1] == "outer/inner 1.0: initial entry (sensors skipped)"
    assert "status: running\n" in stage.run_state()
    assert stage.resume() == 0
    assert len(stage.told()) == 7
    assert stage.script.count("actuator") == 2


def test_a_run_that_is_asked_to_stop_at_once_does_the_step_again(stage: Stage) -> None:
    def act(call: Call, output: Path) -> None:
        close_one(call, output)
        if stage.script.count("actuator") == 1:
            ask(stage, stop="now", now=True)
            control = RunFile(stage.folder, "flow", stage.run_id).control
            assert control.read().now

    stage.script.actuator = act
    assert stage.flow(TWO).open_points(3).run() == ExitCode.USER_STOP
    assert stage.resume() == 0
    made = [(one.path, one.label) for one in stage.boundaries()]
    assert len(made) == len(set(made))


def test_feedback_reaches_the_agent_that_is_asked_next_and_no_other(stage: Stage) -> None:
    def act(call: Call, output: Path) -> None:
        close_one(call, output)
        if stage.script.count("actuator") == 1:
            ask(stage, feedback={"k1": 'Mind the {gap} & "all"'})

    stage.script.actuator = act
    stage.flow(TWO).run()
    heard = [(one.role, one.node) for one in stage.script.asked if "Mind the {gap} &" in one.prompt]
    assert heard == [("controller", "outer/inner")]


def test_feedback_outlives_a_measurement_by_an_agent(stage: Stage) -> None:
    def act(call: Call, output: Path) -> None:
        close_one(call, output)
        if stage.script.count("actuator") == 1:
            ask(stage, feedback={"k1": "Mind the gap"})

    stage.script.actuator = act
    file = stage.agent("look")
    stage.flow(node("only", sensors=[OPEN, file])).run()
    heard = [one.role for one in stage.script.asked if "Mind the gap" in one.prompt]
    assert heard == ["controller"]


def test_feedback_before_a_resume_is_heard(stage: Stage) -> None:
    stage.flow(TWO).run("close them", "--budget", "calls=1")
    assert main(["flow", "feedback", "Mind the gap", "--run", stage.run_id]) == 0
    stage.resume("--budget", "calls=+9")
    heard = [one.role for one in stage.script.asked if "Mind the gap" in one.prompt]
    assert heard == ["controller"]


def test_an_interrupted_step_is_done_again(stage: Stage) -> None:
    def act(call: Call, output: Path) -> None:
        close_one(call, output)
        if stage.script.count("actuator") == 1:
            raise KeyboardInterrupt

    stage.script.actuator = act
    assert stage.flow(TWO).open_points(3).run() == 130
    assert stage.record.spend.calls == 3
    assert stage.resume() == 0
    assert stage.git("show", f"HEAD:{NOTE}") == "DONE 0\nDONE 1\nDONE 2\n"
    made = [(one.path, one.label) for one in stage.boundaries()]
    assert len(made) == len(set(made))


def test_a_decision_that_was_interrupted_leaves_no_output_that_counts(stage: Stage) -> None:
    def decide(call: Call, output: Path) -> None:
        output.write_text(decision(met=True))
        if stage.script.count("controller") == 1:
            raise KeyboardInterrupt
        decide_by_note(call, output)

    stage.script.controller = decide
    assert stage.flow(node("only")).run() == 130
    assert stage.resume() == 0
    assert stage.script.count("controller") == 4


def test_without_git_the_same_lines_are_in_a_log(stage: Stage) -> None:
    assert stage.flow(TWO).run("close all points", "--no-git") == 0
    log = stage.log()
    without = [messages.read(part) for part in log.split("\n\n\n") if part.strip()]
    assert stage.git("branch", "--format=%(refname:short)") == "main\n"
    assert stage.git("rev-list", "--count", "HEAD") == "1\n"
    assert all(without)
    assert [f"{one.path} {one.label}: {one.action}" for one in without if one] == [
        "outer 0: initial measurement",
        "outer/inner 1.0: initial entry (sensors skipped)",
        "outer/inner 1.1: Take out an open point",
        "outer/inner 1.2: Take out an open point",
        "outer/inner 1.3: target met",
        "outer 1: Take out an open point",
        "outer 2: target met",
    ]
    stage.write(NOTE, "OPEN 1\nOPEN 2\n")
    assert stage.run("close all points", "--new") == 0
    with_git = stage.git("log", "--reverse", "--format=%B", "main..HEAD")
    assert [line for line in log.splitlines() if line.startswith(("ai-loop", "["))] == [
        line for line in with_git.splitlines() if line.startswith(("ai-loop", "["))
    ]


def test_a_run_without_git_is_resumed_with_each_line_once(stage: Stage) -> None:
    stage.flow(TWO).run("close all points", "--no-git", "--budget", "calls=3")
    assert stage.resume("--budget", "calls=+9") == 0
    assert stage.log().count("\nReflex-Boundary: ") == 7


def test_an_unfinished_run_is_in_the_way_until_it_is_left(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def decide(call: Call, output: Path) -> None:
        raise KeyboardInterrupt

    stage.script.controller = decide
    stage.flow(TWO).run()
    first = stage.run_id
    assert stage.run("another") == ExitCode.USAGE
    told = capsys.readouterr().err
    assert f"the run {first} is not finished" in told
    assert "flow resume, or --new" in told
    stage.script.controller = decide_by_note
    assert stage.run("another", "--new") == 0
    assert (stage.run_id, stage.record.data["branch"]) != (first, "ai-loop/close-all-points")
    left = RunFile(stage.folder, "flow", first).load()
    assert left.reason == "abandoned"


def test_a_run_that_has_met_its_target_cannot_go_on(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("only")).run()
    assert stage.resume(stage.run_id) == ExitCode.USAGE
    assert "has ended" in capsys.readouterr().err


def test_a_run_that_used_up_its_iterations_cannot_go_on_either(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("only", most=1)).open_points(5).run()
    assert "Go on:" not in capsys.readouterr().out
    assert stage.resume(stage.run_id) == ExitCode.USAGE
    assert "has ended" in capsys.readouterr().err


def test_sensors_of_agents_cost_too(stage: Stage) -> None:
    stage.script.sensor = sense_pass
    file = stage.agent("look")
    stage.flow(node("only", sensors=[file])).run("look", "--budget", "calls=1")
    assert stage.record.spend.calls == 1
    assert stage.record.reason == "budget_exceeded"
