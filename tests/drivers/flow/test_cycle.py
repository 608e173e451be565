"""How a flow goes: how often each node acts, what a child gets and gives, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Reply
from tests.drivers.flow.stage import (
    ALL_PASS,
    COUNT,
    NOTE,
    OPEN,
    THREE,
    TWO,
    Call,
    Stage,
    decision,
    lines_of,
    node,
)

pytestmark = [pytest.mark.long, pytest.mark.variants]


def refuse(call: Call, output: Path) -> None:
    output.write_text(decision(met=False))


def test_a_flow_of_two_levels_reaches_its_target(stage: Stage) -> None:
    assert stage.flow(TWO).run() == 0
    assert stage.told() == [
        "outer 0: initial measurement",
        "outer/inner 1.0: initial entry (sensors skipped)",
        "outer/inner 1.1: Take out an open point",
        "outer/inner 1.2: Take out an open point",
        "outer/inner 1.3: target met",
        "outer 1: Take out an open point",
        "outer 2: target met",
    ]
    assert (stage.folder / NOTE).read_text() == "DONE 1\nDONE 2\n"
    assert stage.git("show", f"HEAD:{NOTE}") == "DONE 1\nDONE 2\n"


def test_a_flow_of_three_levels_reaches_its_target(stage: Stage) -> None:
    assert stage.flow(THREE).open_points(5).run() == 0
    labels = [one.label for one in stage.boundaries() if one.path == "outer/middle/inner"]
    assert labels == [
        *("1.1.0", "1.1.1", "1.1.2", "1.1.3"),
        *("1.2.0", "1.2.1", "1.2.2", "1.2.3"),
        *("1.3.0", "1.3.1", "1.3.2"),
    ]
    assert stage.told()[-3:] == [
        "outer/middle 1.4: target met",
        "outer 1: Take out an open point",
        "outer 2: target met",
    ]


def test_every_boundary_is_one_commit_of_a_node_and_an_iteration(stage: Stage) -> None:
    stage.flow(THREE).open_points(5).run()
    made = [(one.path, one.label) for one in stage.boundaries()]
    assert len(made) == len(set(made)) == int(stage.git("rev-list", "--count", "main..HEAD"))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_max_iterations_is_the_number_of_acts_and_a_closing_judgement_follows(
    stage: Stage, most: int
) -> None:
    stage.script.controller = refuse
    assert stage.flow(node("only", most=most)).open_points(9).run() == ExitCode.ITERATION_LIMIT
    assert stage.script.count("actuator") == most
    assert stage.script.count("controller") == most + 1
    last = stage.boundaries()[-1]
    assert (last.label, last.action) == (str(most + 1), "closing judgement")
    assert last.status == "max-iterations-reached"
    assert (stage.folder / NOTE).read_text().count("DONE") == most


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_target_that_the_last_act_meets_is_met(stage: Stage, most: int) -> None:
    assert stage.flow(node("only", most=most)).open_points(most).run() == 0
    assert stage.script.count("actuator") == most
    assert stage.boundaries()[-1].target_met


def test_a_target_that_is_met_at_first_needs_no_act(stage: Stage) -> None:
    assert stage.flow(TWO).open_points(0).run() == 0
    assert stage.script.count("actuator") == 0
    assert lines_of(stage.boundaries()) == [("outer", "0", "running"), ("outer", "1", "complete")]


def test_a_child_that_is_exhausted_returns_to_its_parent_which_measures_and_decides(
    stage: Stage,
) -> None:
    assert stage.flow(TWO).open_points(5).run() == 0
    statuses = [one.status for one in stage.boundaries() if one.path == "outer/inner"]
    assert statuses.count("max-iterations-reached") == 2
    seen = stage.script.prompts("controller")
    assert len(seen) == 4 + 3 + 3 + 2  # the outer one; the inner one, entered three times
    assert "3 | fail" not in seen  # the parent goes on by its own measurement
    measured = [dict(one.sensors) for one in stage.boundaries() if one.path == "outer"]
    assert measured == [{"open": "fail"}] * 3 + [{"open": "pass"}] * 2


def test_acts_are_bounded_by_the_product_of_the_limits(stage: Stage) -> None:
    stage.script.controller = refuse
    deep = node("outer", most=2, child=node("middle", most=3, child=node("inner", most=2)))
    assert stage.flow(deep).open_points(99).run() == ExitCode.ITERATION_LIMIT
    assert stage.script.count("actuator") == 2 * 3 * 2


def test_a_child_gets_the_action_plan_word_for_word(stage: Stage) -> None:
    plan = "- \"quoted\" 'too'\n\n```sh\n## Action Plan\n```\n\n[status] complete\n\tend  \\n {x}"

    def decide(call: Call, output: Path) -> None:
        output.write_text(decision("OPEN" not in Path(NOTE).read_text(), plan))

    stage.script.controller = decide
    stage.flow(TWO).run()
    inner = stage.output("outer/inner", "orchestrator-output.md")
    assert inner.endswith(f"\n# Task (setpoint)\n\n{plan}\n")


def test_a_heading_with_a_suffix_is_the_plan_too(stage: Stage) -> None:
    def decide(call: Call, output: Path) -> None:
        text = decision("OPEN" not in Path(NOTE).read_text(), "Do it")
        output.write_text(text.replace("## Action Plan", "## Action Plan (setpoint for inner)"))

    stage.script.controller = decide
    assert stage.flow(TWO).run() == 0
    assert "# Task (setpoint)\n\nDo it\n" in stage.output("outer/inner", "orchestrator-output.md")


def test_the_entry_of_a_child_measures_nothing(stage: Stage) -> None:
    log = {"name": "log", "command": "echo x >> .ai-loop/measured; test -e never"}
    stage.flow(node("outer", child=node("inner", most=1, sensors=[log]), most=1)).run()
    measured = (stage.folder / ".ai-loop/measured").read_text().split()
    assert len(measured) == 1  # behind its act
    entry = stage.boundaries()[1]
    assert (entry.label, dict(entry.sensors)) == ("1.0", {"log": "pending"})
    shown = stage.git("show", f"HEAD~4:.ai-loop/runs/{stage.run_id}/nodes/outer/inner/"
                      "sensor-log-output.md")  # fmt: skip
    assert shown == (
        "---\nsensor: log\nstatus: pending\n---\n# Sensor Output: log\n"
        "No baseline measurement — first iteration after parent controller decision.\n"
    )


def test_the_message_of_an_entry_is_that_of_the_seed(stage: Stage) -> None:
    stage.flow(TWO).run()
    entry = stage.git("log", "--format=%B", "--reverse", "main..HEAD").split("ai-loop[")[2]
    assert entry.startswith(
        "outer > inner]: iteration 1.0 — initial entry (sensors skipped)\n\n"
        "[node-path] outer/inner\n[level] 1\n[iteration] 1.0\n[status] running\n"
        "[target-met] false\n[sensors] open: pending\n[action] initial entry (sensors skipped)\n"
    )


def test_a_second_entry_of_a_child_knows_nothing_of_the_first(stage: Stage) -> None:
    stage.flow(TWO).open_points(5).run()
    entries = [one for one in stage.boundaries() if one.label in ("2.0", "3.0")]
    assert [dict(one.sensors) for one in entries] == [{"open": "pending"}] * 2
    assert "iterations-executed: 1\n" in stage.output("outer/inner", "result-output.md")


def test_a_result_is_made_of_sensors_and_decision_without_a_call(stage: Stage) -> None:
    stage.flow(node("only", sensors=[COUNT])).run()
    result = stage.output("only", "result-output.md")
    assert result.startswith(
        "---\nstatus: complete\ntarget-met: true\ntermination-reason: target-met\n"
        f"run-id: {stage.run_id}\nnode-id: only\nnode-path: only\nparent-node-path: root\n"
        "iterations-executed: 2\n---\n\n# Result: only\n\n## Summary\n"
    )
    assert "## Metrics Delta\n\n- count: fail (2) → pass (0)\n" in result
    assert "## Key Observations for Parent Controller\n" in result
    assert len(stage.script.asked) == 3 + 2


def test_the_metrics_of_a_child_begin_at_its_first_measurement(stage: Stage) -> None:
    stage.flow(node("outer", child=node("inner", sensors=[COUNT]))).open_points(3).run()
    assert "- count: fail (2) → pass (0)" in stage.output("outer/inner", "result-output.md")


def test_an_invalid_answer_of_a_controller_is_asked_for_once_more(stage: Stage) -> None:
    answers = iter(["no front matter", decision(met=False), decision(met=True)])
    stage.script.controller = lambda call, output: output.write_text(next(answers))
    assert stage.flow(node("only")).run() == 0
    refusals = ["Your last answer was refused" in one for one in stage.script.prompts("controller")]
    assert refusals == [False, True, False]
    assert "no front matter" in stage.script.prompts("controller")[1]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("---\ntarget-met: false\n---\n## Gap Analysis\nx\n", "Action Plan"),
        ("---\ntarget-met: false\n---\n## Action Plan\n\n \n## Hints\nx\n", "Action Plan"),
        ("---\ntarget-met: maybe\n---\n## Action Plan\nx\n", "maybe"),
        ("target-met: true", "front matter"),
        ("", "front matter"),
    ],
)
def test_two_invalid_answers_end_the_node(stage: Stage, answer: str, reason: str) -> None:
    stage.script.controller = lambda call, output: output.write_text(answer)
    assert stage.flow(node("only")).run() == ExitCode.PHASE_ERROR
    assert stage.script.count("controller") == 2
    assert reason in stage.record.detail
    last = stage.boundaries()[-1]
    assert (last.status, last.label) == ("error", "1")
    assert "status: error\n" in stage.run_state()


def test_a_controller_that_wrote_nothing_is_read_by_what_it_said(stage: Stage) -> None:
    stage.script.controller = lambda call, output: Reply(text=decision(met=True), agent="x")
    assert stage.flow(node("only")).run() == 0
    assert "target-met: true" in stage.output("only", "controller-output.md")


def test_what_an_earlier_iteration_left_is_no_decision(stage: Stage) -> None:
    def decide(call: Call, output: Path) -> None:
        if stage.script.count("controller") == 1:
            output.write_text(decision(met=False))

    stage.script.controller = decide
    assert stage.flow(node("only")).run() == ExitCode.PHASE_ERROR
    assert stage.script.count("controller") == 3


def broken_below(call: Call, output: Path) -> None:
    text = decision("OPEN" not in Path(NOTE).read_text(), "Do it")
    output.write_text("nothing" if call.node == "outer/inner" else text)


def test_an_error_of_a_child_ends_the_run(stage: Stage) -> None:
    stage.script.controller = broken_below
    assert stage.flow(TWO).run() == ExitCode.PHASE_ERROR
    assert lines_of(stage.boundaries())[-2:] == [
        ("outer/inner", "1.1", "error"),
        ("outer", "1", "error"),
    ]
    assert "outer/inner" in stage.record.detail


def test_with_on_error_continue_the_parent_measures_and_decides(stage: Stage) -> None:
    stage.script.controller = broken_below
    inner = node("inner", termination={"on_error": "continue"})
    assert stage.flow(node("outer", most=2, child=inner)).run() == ExitCode.ITERATION_LIMIT
    outer = [one for one in stage.boundaries() if one.path == "outer"]
    assert [(one.label, one.status) for one in outer] == [
        *(("0", "running"), ("1", "running"), ("2", "running")),
        ("3", "max-iterations-reached"),
    ]


def test_on_error_of_the_defaults_counts_where_a_node_has_none(stage: Stage) -> None:
    stage.script.controller = broken_below
    stage.flow(TWO, defaults={"termination": {"on_error": "continue"}})
    assert stage.run() == ExitCode.ITERATION_LIMIT
    assert stage.script.count("controller", "outer/inner") == 3 * 2


def test_an_actuator_that_fails_is_named_and_measured(stage: Stage) -> None:
    stage.script.actuator = lambda call, output: Reply(text="", agent="x", error="it crashed")
    assert stage.flow(node("only", most=1)).run() == ExitCode.ITERATION_LIMIT
    assert stage.told()[1] == "only 1: actuator failed: it crashed"
    assert stage.output("only", "actuator-output.md") == "it crashed\n"


def test_the_builtin_controller_needs_no_call(stage: Stage) -> None:
    flow = node("outer", controller=ALL_PASS, child=node("inner", controller=ALL_PASS))
    assert stage.flow(flow).run() == 0
    assert stage.script.count("controller") == 0
    task = stage.output("outer/inner", "orchestrator-output.md")
    assert "Make these sensors pass: open." in task
    assert "target-met: true\n" in stage.output("outer", "controller-output.md")


def test_a_node_without_sensors_is_not_met_by_the_builtin_controller(stage: Stage) -> None:
    flow = node("only", most=1, sensors=[], controller=ALL_PASS)
    code = stage.flow(flow).run()
    assert code in (ExitCode.ITERATION_LIMIT, ExitCode.USAGE)


def test_the_state_of_a_node_keeps_its_size(stage: Stage) -> None:
    sizes = []

    def act(call: Call, output: Path) -> None:
        sizes.append(len((output.parent / "orchestrator-output.md").read_text()))

    stage.script.actuator, stage.script.controller = act, refuse
    stage.flow(node("only", most=5)).run()
    assert len(set(sizes)) == 1


def test_run_state_follows_the_flow_into_a_child_and_back(stage: Stage) -> None:
    seen = []

    def look(call: Call, output: Path) -> None:
        state = stage.run_state()
        seen.append((call.node, "execution-stack:\n  - outer\n  - inner\n" in state))
        seen.append((call.node, f"active-node-path: {call.node}\n" in state))
        output.write_text(decision("OPEN" not in Path(NOTE).read_text()))

    stage.script.controller = look
    stage.flow(TWO).run()
    assert ("outer", True) in seen
    assert ("outer/inner", False) not in seen
    assert seen.count(("outer", False)) == 2  # the outer one is alone on the stack, twice
    assert "status: complete\n" in stage.run_state()


def test_progress_is_told_at_each_boundary(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(TWO).run()
    out = capsys.readouterr().out.splitlines()
    assert "[1] outer: Take out an open point (open pass)" in out
    assert "[1.1] outer > inner: Take out an open point (open fail)" in out
    assert "Branch: ai-loop/close-all-points (from main, 7 commits)" in out


def test_a_plan_of_many_lines_is_its_first_line_in_the_commit(stage: Stage) -> None:
    plan = f"\n1. {'very ' * 30}long\n2. more\n"
    stage.script.controller = lambda call, output: output.write_text(
        decision("OPEN" not in Path(NOTE).read_text(), plan)
    )
    stage.flow(node("only")).run()
    one = stage.boundaries()[1]
    assert one.summary.startswith("very very")
    assert len(one.summary) <= 72
    assert one.action == one.summary


def test_a_sensor_of_the_node_is_listed_with_its_target(stage: Stage) -> None:
    stage.flow(node("only", sensors=[OPEN, COUNT])).run()
    prompt = stage.script.prompts("controller")[0]
    folder = f".ai-loop/runs/{stage.run_id}/nodes/only"
    assert f"- open: {folder}/sensor-open-output.md (target: exit == 0)" in prompt
    assert "(target: value(/(\\d+)/) < 1)" in prompt
    assert "Control only." in prompt
