"""Who is asked in a flow, with which words: one call for all sensors, models, the cheap judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.model.steps import Reply
from tests.drivers.flow.stage import (
    ALL_PASS,
    CONFIG,
    NOTE,
    OPEN,
    Call,
    Stage,
    decision,
    node,
    staged,
)

pytestmark = [pytest.mark.long, pytest.mark.variants]

ROLES = """\
[flow.agents]
cheap = "thrifty"
[agents.thrifty]
kind = "script"
thrifty = true
"""
AGENT_SENSOR = "---\nsensor: look\nstatus: {}\nvalue: 7 of 9\n---\nLooked at it.\n"


def look(stage: Stage, *names: str) -> list[str]:
    return [
        stage.agent(name, f"Look as {name} does.\nTell {{output-path}} and {{mine}}.")
        for name in names
    ]


def test_all_sensors_that_are_agents_share_one_call_of_a_cycle(stage: Stage) -> None:
    files = look(stage, "first", "second", "third")
    assert stage.flow(node("only", sensors=[OPEN, *files])).run() == 0
    assert stage.script.count("sensor") == 1 + 2  # at the entry, and behind each act
    prompt = stage.script.prompts("sensor")[0]
    folder = f".ai-loop/runs/{stage.run_id}/nodes/only"
    for name in ("first", "second", "third"):
        assert prompt.count(f"Look as {name} does.") == 1
        assert f"Output file: {folder}/sensor-{name}-output.md" in prompt
        assert f"Tell {folder}/sensor-{name}-output.md and {{mine}}." in prompt
    assert prompt.index("first") < prompt.index("second") < prompt.index("third")


def test_sensors_are_told_to_read_alone_to_judge_nothing_and_to_report_errors(
    stage: Stage,
) -> None:
    stage.flow(node("only", sensors=look(stage, "first"))).run()
    prompt = stage.script.prompts("sensor")[0]
    for rule in ("change\nno other file", "do not judge", "Report an error as it is"):
        assert rule in prompt


@pytest.mark.parametrize(
    ("said", "state"), [("pass", "pass"), ("fail", "fail"), ("error", "fail"), ("great", "fail")]
)
def test_what_a_sensor_wrote_is_its_reading(stage: Stage, said: str, state: str) -> None:
    stage.script.sensor = lambda call, output: output.write_text(AGENT_SENSOR.format(said))
    stage.flow(node("only", most=1, sensors=look(stage, "first"))).run()
    assert dict(stage.boundaries()[0].sensors) == {"first": state}


@pytest.mark.parametrize("error", ["", "it crashed"])
def test_a_sensor_that_wrote_nothing_fails_and_says_so(stage: Stage, error: str) -> None:
    stage.script.sensor = lambda call, output: Reply(text="", agent="x", error=error)
    stage.flow(node("only", most=1, sensors=look(stage, "first"))).run()
    assert dict(stage.boundaries()[-1].sensors) == {"first": "fail"}
    output = stage.output("only", "sensor-first-output.md")
    assert output.startswith("---\nsensor: first\nstatus: fail\n")
    assert f"not measured: {error or 'the agent wrote no output file'}" in output


def test_the_output_of_an_earlier_cycle_is_no_measurement(stage: Stage) -> None:
    def sense(call: Call, output: Path) -> None:
        if stage.script.count("sensor") == 1:
            output.write_text(AGENT_SENSOR.format("pass"))

    stage.script.sensor = sense
    stage.script.controller = lambda call, output: output.write_text(decision(met=False))
    stage.flow(node("only", most=1, sensors=look(stage, "first"))).run()
    states = [one.sensors["first"] for one in stage.boundaries()]
    assert states == ["pass", "fail", "fail"]


def test_a_sensor_that_changes_a_file_does_not_pass(stage: Stage) -> None:
    def sense(call: Call, output: Path) -> None:
        Path("README.md").write_text("better")
        output.write_text(AGENT_SENSOR.format("pass"))

    stage.script.sensor = sense
    stage.flow(node("only", most=1, sensors=look(stage, "first"))).run()
    assert stage.boundaries()[0].sensors["first"] == "fail"


def test_a_sensor_of_the_program_writes_the_same_output_file(stage: Stage) -> None:
    stage.flow(node("only", most=1)).run()
    output = stage.output("only", "sensor-open-output.md")
    assert output.startswith('---\nsensor: open\nstatus: fail\ntarget: "exit == 0"\nvalue: "1"\n')
    assert "# Sensor Output: open\n\nexit status 1\n" in output
    assert "OPEN 2" in output


@pytest.mark.parametrize("role", ["controller", "actuator", "sensor"])
def test_the_model_of_an_agent_file_wins(stage: Stage, role: str) -> None:
    file = stage.agent("mine", model="large")
    where: dict[str, Any] = {
        "controller": {"controller": file},
        "sensor": {"sensors": [OPEN, file]},
    }
    flow = node("only", **where.get(role, {}))
    if role == "actuator":
        flow["actuator"]["agent"] = file
    stage.flow(flow).run()
    models = {one.agent.get("model", "") for one in stage.script.asked if one.role == role}
    assert models == {"large"}
    others = {one.agent.get("model", "") for one in stage.script.asked if one.role != role}
    assert others <= {""}


def test_inherit_is_no_model(stage: Stage) -> None:
    stage.flow(node("only", controller=stage.agent("mine", model="inherit"))).run()
    assert {one.agent.get("model", "") for one in stage.script.asked} == {""}


def test_the_cheap_role_judges_where_all_sensors_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with staged(tmp_path, config=CONFIG + ROLES) as stage:
        controller = stage.agent("mine", model="large")
        assert stage.flow(node("only", sensors=[OPEN], controller=controller)).run() == 0
        judged = [
            (one.agent.get("thrifty", False), one.agent.get("model", ""))
            for one in stage.script.asked
            if one.role == "controller"
        ]
    assert judged == [(False, "large"), (False, "large"), (True, "")]


def test_the_cheap_role_does_not_judge_where_a_sensor_that_is_an_agent_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with staged(tmp_path, config=CONFIG + ROLES) as stage:
        stage.script.sensor = lambda call, output: output.write_text(AGENT_SENSOR.format("fail"))
        stage.flow(node("only", most=1, sensors=[OPEN, *look(stage, "first")])).open_points(0).run()
        assert [one for one in stage.script.asked if one.agent.get("thrifty")] == []


def test_without_a_cheap_role_the_controller_judges(stage: Stage) -> None:
    stage.flow(node("only", controller=stage.agent("mine", model="large"))).run()
    models = [one.agent.get("model") for one in stage.script.asked if one.role == "controller"]
    assert models == ["large"] * 3


def test_an_actuator_is_told_its_files_and_to_run_no_commands(stage: Stage) -> None:
    stage.flow(node("only")).run()
    prompt = stage.script.prompts("actuator")[0]
    folder = f".ai-loop/runs/{stage.run_id}/nodes/only"
    assert (
        f"Do what {folder}/controller-output.md says, tell {folder}/actuator-output.md." in prompt
    )
    assert "Run no commands" in prompt
    assert ".ai-loop/flow.yaml" in prompt


def test_the_child_is_named_to_a_composite_controller_alone(stage: Stage) -> None:
    file = stage.agent("mine", "First line.\nGive it to {child-node-id}.\nLast line.")
    stage.flow(node("outer", controller=file, child=node("inner", controller=file))).run()
    prompts = {one.node: one.prompt for one in stage.script.asked if one.role == "controller"}
    assert "First line.\nGive it to inner.\nLast line." in prompts["outer"]
    assert "First line.\nLast line." in prompts["outer/inner"]


def test_controller_and_actuator_follow_each_other(stage: Stage) -> None:
    stage.flow(node("only", sensors=look(stage, "first"))).run()
    assert [one.role for one in stage.script.asked][:4] == [
        *("sensor", "controller", "actuator", "sensor"),
    ]


def test_sensors_side_by_side_are_told_in_their_order(stage: Stage) -> None:
    wait = "while ! test -e .git/{}; do sleep 0.01; done"
    # Each waits for the other one: one after the other they would never end.
    pair = [
        {"name": "one", "command": f"touch .git/one; {wait.format('two')}"},
        {"name": "two", "command": f"touch .git/two; {wait.format('one')}"},
    ]
    flow = node("only", sensors=pair, parallel=True, controller=ALL_PASS)
    assert stage.flow(flow).run() == 0
    assert list(stage.boundaries()[0].sensors.items()) == [("one", "pass"), ("two", "pass")]


def test_sensors_are_run_in_their_order(stage: Stage) -> None:
    chain = [
        {"name": "one", "command": "echo 1 >> .git/order"},
        {"name": "two", "command": "echo 2 >> .git/order"},
        {"name": "three", "command": "echo 3 >> .git/order"},
    ]
    stage.flow(node("only", sensors=chain, controller=ALL_PASS)).run()
    assert (stage.folder / ".git/order").read_text().split() == ["1", "2", "3"]


def counting(name: str, when: str) -> dict[str, str]:
    return {
        "name": name,
        "command": f"echo x >> .git/{name}; ! grep OPEN note.txt",
        "run_when": when,
    }


def times(stage: Stage, name: str) -> int:
    return len((stage.folder / ".git" / name).read_text().split())


def test_a_sensor_for_changes_is_not_run_behind_an_act_that_changed_nothing(stage: Stage) -> None:
    def act(call: Call, output: Path) -> None:
        if stage.script.count("actuator") == 1:
            Path(NOTE).write_text("OPEN still\n")

    stage.script.actuator = act
    sensors = [counting("changes", "changed"), counting("always", "always")]
    stage.flow(node("only", most=3, sensors=sensors)).run()
    assert (times(stage, "always"), times(stage, "changes")) == (4, 2)


def test_a_sensor_for_changes_of_a_parent_is_run_where_a_child_has_changed_something(
    stage: Stage,
) -> None:
    outer = node("outer", sensors=[counting("changes", "changed")], child=node("inner", most=1))
    assert stage.flow(outer).run() == 0
    assert times(stage, "changes") == 1 + 2


def test_a_sensor_for_changes_of_a_parent_keeps_its_reading_where_a_child_changed_nothing(
    stage: Stage,
) -> None:
    stage.script.actuator = lambda call, output: output.write_text("nothing to do\n")
    outer = node("outer", sensors=[counting("changes", "changed")], child=node("inner", most=1))
    stage.flow(outer).run()
    assert times(stage, "changes") == 1
    assert stage.boundaries()[-1].sensors["changes"] == "fail"


def test_a_sensor_for_the_root_is_not_run_in_a_child(stage: Stage) -> None:
    sensors = [counting("root", "root"), OPEN]
    stage.flow(node("outer", sensors=sensors, child=node("inner", sensors=sensors))).run()
    inner = [one for one in stage.boundaries() if one.path == "outer/inner"]
    assert [set(one.sensors) for one in inner] == [{"open"}] * len(inner)
    assert times(stage, "root") == 1 + 1


def test_a_child_is_done_without_the_sensor_that_is_left_to_the_root(stage: Stage) -> None:
    sensors = [counting("root", "root"), OPEN]
    child = node("inner", sensors=sensors, controller=ALL_PASS)
    stage.flow(node("outer", sensors=sensors, child=child)).run()
    assert [one.status for one in stage.boundaries() if one.path == "outer/inner"][-1] == "complete"
