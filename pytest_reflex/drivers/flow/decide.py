"""What a flow does next, and where it stands then: two pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_reflex.drivers.common.drive import Stop, find_exhausted, usage_of
from pytest_reflex.drivers.flow.model import FlowNode, OnError
from pytest_reflex.drivers.flow.state import (
    Frame,
    NodeStatus,
    NodeStep,
    Position,
    SensorReading,
)
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Spend
from pytest_reflex.model.stop import StopReason

MOST_OFFENCES = 2
CLOSING = "closing judgement"
_ENDS = {
    NodeStatus.COMPLETE: StopReason.TARGET_MET,
    NodeStatus.MAX_ITERATIONS: StopReason.ITERATION_LIMIT,
    NodeStatus.ERROR: StopReason.PHASE_ERROR,
}


def next_step(root: FlowNode, position: Position, spend: Spend) -> NodeStep | Stop:
    """Return the step of the innermost node, or why the flow has come to its end."""
    if not position.frames:
        return _end(root, position)
    frame = position.top
    pays = frame.step in (NodeStep.DECIDE, NodeStep.ACT, NodeStep.CHILD)
    return (
        NodeStep.EXHAUST
        if pays and find_node_limit(node_of(root, frame), frame, spend)
        else frame.step
    )


def node_of(root: FlowNode, frame: Frame) -> FlowNode:
    """Return the node that a frame stands in."""
    node = root.find(frame.path)
    assert node is not None, frame.path
    return node


def find_node_limit(node: FlowNode, frame: Frame, spend: Spend) -> str:
    """Return which part of the budget of a node is used up since it was entered, in words."""
    before = usage_of(Spend.from_json(frame.spent))
    return find_exhausted({key: most + before[key] for key, most in node.budget.items()}, spend)


def refusal_text(position: Position) -> str:
    """Return in a line which paths a hook refuses to have committed, and what it says."""
    paths = one_line(", ".join(position.carried), 200)
    return f"a hook of git refuses the commit of {paths}: {one_line(position.refusal, 300)}"


def is_closing(node: FlowNode, frame: Frame) -> bool:
    """Return whether the node's current decision is its last one, which nothing follows."""
    return frame.iteration > node.max_iterations


def after(root: FlowNode, position: Position, outcome: Mapping[str, Any]) -> Position:
    """Return the position behind a step that came to an outcome, which names the step.

    Protected files that were changed while it was done count as one offence of the node.
    """
    position = position.with_top(used=_add_usage(position.top, outcome))
    restored = tuple(outcome.get("restored", ()))
    if not restored:
        return _after(root, position, outcome)
    frame = position.top
    position = position.with_top(restored=(*frame.restored, *restored), offences=frame.offences + 1)
    behind = _after(root, position, outcome)
    if position.top.offences < MOST_OFFENCES or position.tampered:  # ended once is enough
        return behind
    text = ", ".join(restored)
    behind = behind.with_top(target_met=False)
    ended = _end_node(behind, NodeStatus.ERROR, f"protected files were modified again: {text}")
    return replace(ended, tampered=text)


def _after(root: FlowNode, position: Position, outcome: Mapping[str, Any]) -> Position:
    frame, step = position.top, NodeStep(outcome["step"])
    node = node_of(root, frame)
    if step is NodeStep.ENTER:
        readings = _readings(outcome)
        return position.with_top(
            sensors=readings,
            first=readings,
            baseline=outcome["baseline"],
            step=NodeStep.COMMIT_ENTRY,
        )
    position = _carry_refusals(position, outcome)
    if step in (NodeStep.COMMIT_ENTRY, NodeStep.COMMIT):
        return _begin_iteration(position.with_top(iteration=frame.iteration + 1))
    if step is NodeStep.DECIDE:
        return _apply_decision(position, node, outcome)
    if step is NodeStep.ACT:
        return _apply_act(position, outcome)
    if step is NodeStep.CHILD:
        assert node.child is not None
        return position.enter(node.child.id, outcome["spent"])
    if step is NodeStep.MEASURE:
        readings = _readings(outcome)
        first = {**readings, **frame.first} if _is_measured(frame.first) else readings
        return position.with_top(
            sensors=readings, first=first, baseline=outcome["baseline"], step=NodeStep.COMMIT
        )
    if step is NodeStep.REMEASURE:
        readings = _readings(outcome)
        at_first = frame.first or readings
        changes = {"first": at_first, "sensors": readings, "baseline": outcome["baseline"]}
        return _begin_iteration(position.with_top(**changes))
    if step is NodeStep.EXHAUST:
        text = f"the budget of the node is used up: {outcome['detail']}"
        return _end_node(position, NodeStatus.MAX_ITERATIONS, text)
    if step is NodeStep.RESULT:
        return position.with_top(step=NodeStep.COMMIT_RESULT)
    return _leave_node(root, position)


def _carry_refusals(position: Position, outcome: Mapping[str, Any]) -> Position:
    """Return it with the paths that a hook refused, where the step was a commit."""
    if "carried" not in outcome:  # no commit, or one of an older version
        return position
    return replace(position, carried=tuple(outcome["carried"]), refusal=outcome["refusal"])


def _add_usage(frame: Frame, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a node used since its last boundary; a step counts with all the time it took."""
    before = Spend.from_json(frame.used)
    seconds = before.seconds + outcome.get("seconds", 0)
    return replace(before.plus(outcome.get("cost")), seconds=seconds).to_json()


def _begin_iteration(position: Position) -> Position:
    """Return it at the beginning of an iteration: nothing of the one before counts."""
    return position.with_top(
        step=NodeStep.DECIDE, plan="", notes={}, changed=(), restored=(), action="", used={}
    )


def _apply_decision(position: Position, node: FlowNode, outcome: Mapping[str, Any]) -> Position:
    frame = position.top
    if outcome.get("error"):
        return _end_node(position, NodeStatus.ERROR, outcome["error"])
    position = position.with_top(plan=outcome["plan"], notes=outcome["notes"])
    if outcome["target_met"]:
        return _end_node(position.with_top(target_met=True), NodeStatus.COMPLETE)
    if is_closing(node, frame):
        return _end_node(position, NodeStatus.MAX_ITERATIONS)
    return position.with_top(step=NodeStep.CHILD if node.child else NodeStep.ACT)


def _apply_act(position: Position, outcome: Mapping[str, Any]) -> Position:
    return position.with_top(
        changed=tuple(outcome["changed"]),
        acts=position.top.acts + 1,
        action=outcome["action"],
        step=NodeStep.MEASURE,
    )


def _end_node(position: Position, status: NodeStatus, error: str = "") -> Position:
    """Return it at the end of the innermost node; a run does not end well with work left behind."""
    if position.carried and len(position.frames) == 1 and status is not NodeStatus.ERROR:
        status, error = NodeStatus.ERROR, refusal_text(position)
        position = position.with_top(target_met=False)
    return position.with_top(status=status, error=error, step=NodeStep.RESULT)


def _leave_node(root: FlowNode, position: Position) -> Position:
    """Return it behind the innermost node; an error ends the nodes above too, where it should."""
    done = position.top
    fails_fast = node_of(root, done).on_error is OnError.FAIL_FAST or bool(position.tampered)
    position = position.leave()
    if position.frames and done.status is NodeStatus.ERROR and fails_fast:
        return _end_node(position, NodeStatus.ERROR, f"{done.path}: {done.error}")
    return position


def _end(root: FlowNode, position: Position) -> Stop:
    result = position.results[root.id]
    if position.tampered:
        return Stop(StopReason.TAMPERED, position.tampered)
    reason = _ENDS[NodeStatus(result["status"])]
    if reason is StopReason.ITERATION_LIMIT and result["error"]:
        reason = StopReason.BUDGET_EXCEEDED
    return Stop(reason, result["error"])


def _readings(outcome: Mapping[str, Any]) -> dict[str, SensorReading]:
    return {name: SensorReading(**wire) for name, wire in outcome["readings"].items()}


def _is_measured(readings: Mapping[str, SensorReading]) -> bool:
    return any(one.state != "pending" for one in readings.values())
