"""The pure machine of a flow: whatever steps come to, it ends within its bound."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.flow.decide import after, next_step
from pytest_reflex.drivers.flow.model import ALL_PASS, FlowNode, OnError, Sensor
from pytest_reflex.drivers.flow.state import Frame, NodeStep, Position, SensorReading, all_pass
from pytest_reflex.drivers.flow.targets import by_component
from pytest_reflex.model.run import Spend
from pytest_reflex.model.stop import StopReason

pytestmark = pytest.mark.long

TEXTS = st.text(max_size=20)
STATES = st.sampled_from(["pass", "fail", "pending"])


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> FlowNode:
    """Return a flow of up to four levels."""
    names = ("root", "one", "two", "three")
    found: FlowNode | None = None
    for name in reversed(names[: draw(st.integers(1, depth + 1))]):
        found = FlowNode(
            id=name,
            controller=ALL_PASS,
            sensors=tuple(Sensor(name=f"s{n}") for n in range(draw(st.integers(0, 2)))),
            max_iterations=draw(st.integers(1, 3)),
            actuator="" if found else "act.md",
            child=found,
            on_error=draw(st.sampled_from(OnError)),
            budget=draw(st.sampled_from([{}, {}, {"calls": 3.0}])),
        )
    assert found is not None
    return found


def most_acts(node: FlowNode | None) -> int:
    """Return how many direct acts a flow has at most."""
    return node.max_iterations * (most_acts(node.child) if node.child else 1) if node else 0


def most_steps(node: FlowNode) -> int:
    """Return how many steps a flow has at most: those of an iteration, and those around them."""
    inner = most_steps(node.child) if node.child else 1
    return 2 + node.max_iterations * (4 + inner) + 4


@st.composite
def outcomes(draw: st.DrawFn, node: FlowNode, step: NodeStep, frame: Frame) -> dict[str, Any]:
    """Return anything that a step may come to."""
    found: dict[str, Any] = {"step": step.value, "node": frame.path, "label": frame.label}
    if step in (NodeStep.ENTER, NodeStep.MEASURE):
        readings = {
            one.name: {"state": draw(STATES), "value": draw(TEXTS), "summary": draw(TEXTS)}
            for one in node.sensors
        }
        return {**found, "readings": readings, "baseline": {"": "abc", draw(TEXTS): "x"}}
    if step is NodeStep.DECIDE:
        if draw(st.integers(0, 9)) == 0:
            return {**found, "error": "no decision"}
        met = draw(st.integers(0, 5)) == 0
        return {**found, "target_met": met, "plan": draw(TEXTS), "notes": {"Hints": draw(TEXTS)}}
    if step is NodeStep.ACT:
        bad = ["flow.yaml"] if draw(st.integers(0, 9)) == 0 else []
        return {**found, "changed": [draw(TEXTS)], "restored": bad, "action": draw(TEXTS)}
    if step is NodeStep.CHILD:
        return {**found, "spent": Spend(calls=draw(st.integers(0, 5))).to_json()}
    if step is NodeStep.EXHAUST:
        return {**found, "detail": "calls: 3 of 3 used"}
    return found


def begun(root: FlowNode) -> Position:
    return Position(frames=(Frame(path=root.id, task="task"),))


@settings(max_examples=150, deadline=None)
@given(root=trees(), data=st.data())
def test_whatever_steps_come_to_a_flow_ends_within_its_bound(
    root: FlowNode, data: st.DataObject
) -> None:
    position, spend, acts = begun(root), Spend(), 0
    committed: list[tuple[str, str]] = []
    for _ in range(most_steps(root)):
        step = next_step(root, position, spend)
        if isinstance(step, Stop):
            break
        frame = position.top
        node = root.find(frame.path)
        assert node is not None
        assert frame.acts <= node.max_iterations
        assert frame.iteration <= node.max_iterations + 1
        assert frame.label == ".".join(map(str, by_component(frame.label)))
        assert frame.label.count(".") == frame.path.count("/")
        if step in (NodeStep.COMMIT, NodeStep.COMMIT_ENTRY, NodeStep.COMMIT_RESULT):
            committed.append((frame.path, frame.label))
        acts += step is NodeStep.ACT
        if step in (NodeStep.DECIDE, NodeStep.ACT):
            spend = replace(spend, calls=spend.calls + 1)
        outcome = data.draw(outcomes(node, step, frame))
        wire = json.loads(json.dumps(position.to_json()))
        assert Position.from_json(wire) == position
        position = after(root, Position.from_json(wire), json.loads(json.dumps(outcome)))
    stop = next_step(root, position, spend)
    assert isinstance(stop, Stop)
    assert stop.reason in {
        *(StopReason.TARGET_MET, StopReason.ITERATION_LIMIT, StopReason.PHASE_ERROR),
        *(StopReason.TAMPERED, StopReason.BUDGET_EXCEEDED),
    }
    assert acts <= most_acts(root)
    assert len(committed) == len(set(committed))
    assert Position.from_json(json.loads(json.dumps(position.to_json()))) == position


@settings(max_examples=60, deadline=None)
@given(root=trees())
def test_a_flow_whose_target_is_never_met_acts_to_its_bound_exactly(root: FlowNode) -> None:
    root = _without_budgets(root)
    position, acts = begun(root), 0
    while not isinstance(step := next_step(root, position, Spend()), Stop):
        acts += step is NodeStep.ACT
        position = after(root, position, _outcome(step, {}))
    assert acts == most_acts(root)
    assert step.reason is StopReason.ITERATION_LIMIT


def test_the_second_change_of_protected_files_ends_a_flow_and_the_first_does_not() -> None:
    root = FlowNode(id="root", controller=ALL_PASS, sensors=(), max_iterations=9, actuator="act.md")
    position, acts = begun(root), 0
    while not isinstance(step := next_step(root, position, Spend()), Stop):
        acts += step is NodeStep.ACT
        bad = ["flow.yaml"] if step is NodeStep.ACT and acts in (2, 5) else []
        position = after(root, position, {**_outcome(step, {}), "restored": bad})
    assert (acts, step.reason) == (5, StopReason.TAMPERED)


def _outcome(step: NodeStep, readings: dict[str, Any]) -> dict[str, Any]:
    return {
        "step": step.value,
        "readings": readings,
        "baseline": {},
        "target_met": False,
        "plan": "go on",
        "notes": {},
        "changed": [],
        "restored": [],
        "action": "acted",
        "spent": Spend().to_json(),
    }


def _without_budgets(node: FlowNode) -> FlowNode:
    return replace(node, budget={}, child=node.child and _without_budgets(node.child))


@settings(max_examples=100, deadline=None)
@given(states=st.lists(STATES, max_size=4))
def test_all_sensors_pass_only_where_there_is_one_and_each_passes(states: list[str]) -> None:
    readings = {f"s{number}": SensorReading(state=state) for number, state in enumerate(states)}
    assert all_pass(readings) == (set(states) == {"pass"})


@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"frames": 3, "results": {}, "tampered": ""},
        {"frames": [{}], "results": {}, "tampered": ""},
        {"frames": [{"step": "dance"}], "results": {}, "tampered": ""},
        {"frames": [], "results": 3, "tampered": ""},
        {"frames": [], "results": {}},
    ],
)
def test_what_is_no_position_is_refused(wire: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"position|node|dance|iterable"):
        Position.from_json(wire)


def test_labels_sort_by_their_components() -> None:
    labels = ["1.10", "1.9", "2", "1", "1.9.1", "10"]
    assert sorted(labels, key=by_component) == ["1", "1.9", "1.9.1", "1.10", "2", "10"]
