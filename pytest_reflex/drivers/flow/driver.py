"""The driver of a flow: performs what `decide` says, in files of the run, agents and commits.

Promises: a step that is done again after a crash ends as if it had been done once: files of the run
are written anew, a boundary that has its commit gets no second one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from pytest_reflex.contracts.validate import ContractError
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.common.record_file import Fields, NextStep
from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.drivers.flow import artifacts as texts
from pytest_reflex.drivers.flow import prompts
from pytest_reflex.drivers.flow.cycle import Cycle
from pytest_reflex.drivers.flow.decide import (
    CLOSING,
    after,
    find_node_limit,
    is_closing,
    next_step,
    node_of,
)
from pytest_reflex.drivers.flow.messages import Boundary
from pytest_reflex.drivers.flow.model import ALL_PASS, FlowNode
from pytest_reflex.drivers.flow.prompts import AgentFile, AgentRoles, Role
from pytest_reflex.drivers.flow.state import (
    PENDING,
    Frame,
    NodeStatus,
    NodeStep,
    Position,
    SensorReading,
    all_pass,
)
from pytest_reflex.drivers.flow.workspace import FlowWorkspace
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Spend

_TRIES = 2
_ENTRY = {True: "initial entry (sensors skipped)", False: "initial measurement"}


class FlowDriver:
    """One run of a flow (seed 002): `ground` is where it works, `staff` the agents that work."""

    name = "flow"

    def __init__(
        self,
        root: FlowNode,
        files: Mapping[str, AgentFile],
        *,
        ground: FlowWorkspace,
        staff: AgentRoles,
        cycle: Cycle,
        task: str,
    ) -> None:
        self._root, self._files, self._task = root, files, task
        self._ground, self._staff, self._cycle = ground, staff, cycle
        self._steps: Mapping[NodeStep, Callable[[Frame, DriverRecord, Tools], dict[str, Any]]] = {
            NodeStep.ENTER: self._enter,
            NodeStep.COMMIT_ENTRY: self._commit_entry,
            NodeStep.DECIDE: self._decide,
            NodeStep.ACT: self._act,
            NodeStep.CHILD: lambda frame, record, tools: {"spent": record.spend.to_json()},
            NodeStep.MEASURE: self._measure,
            NodeStep.REMEASURE: self._measure,
            NodeStep.COMMIT: self._commit,
            NodeStep.EXHAUST: self._exhaust,
            NodeStep.RESULT: self._result,
            NodeStep.COMMIT_RESULT: self._commit_result,
        }

    def start(self, given: Mapping[str, str]) -> Fields:
        """Return the data of a new run, at the root's entry."""
        frame = Frame(path=self._root.id, task=self._task)
        return {"task": self._task, **given, "position": Position(frames=(frame,)).to_json()}

    def decide(self, record: DriverRecord) -> NextStep | Stop:
        position = Position.from_json(record.data["position"])
        step = next_step(self._root, position, record.spend)
        if isinstance(step, Stop):
            return step
        ends = step is NodeStep.COMMIT and len(position.frames) == 1
        commits = step in (NodeStep.COMMIT, NodeStep.COMMIT_ENTRY, NodeStep.COMMIT_RESULT)
        return NextStep(
            step.value,
            ends_iteration=ends,
            interruptible=not commits,
            hears=step in (NodeStep.DECIDE, NodeStep.ACT),
        )

    def perform(self, step: NextStep, record: DriverRecord, tools: Tools) -> Fields:
        position = Position.from_json(record.data["position"])
        frame = position.top
        if step.name != NodeStep.ENTER or frame.parent:
            self._ground.require_branch()
        self._write_state(position, record)
        self._ground.take_restored()
        began = time.monotonic()
        try:
            outcome = self._steps[NodeStep(step.name)](frame, record, tools)
        finally:  # an agent, even an interrupted one, may have changed what judges
            if step.interruptible:
                self._ground.restore()
        restored = self._ground.take_restored()
        used = {"seconds": round(time.monotonic() - began, 3), "cost": tools.cost}
        own = {"step": step.name, "node": frame.path, "label": frame.label, "restored": restored}
        return {**own, **used, **outcome}

    def apply(self, data: Fields, outcome: Fields) -> Fields:
        position = after(self._root, Position.from_json(data["position"]), outcome)
        return {**data, "position": position.to_json()}

    def _write_state(self, position: Position, record: DriverRecord) -> None:
        """Write where the run stands, for people and other programs."""
        frame = position.top
        self._ground.write_run_state(
            status="running", stack=[one.path for one in position.frames], data=record.data
        )
        most = node_of(self._root, frame).max_iterations
        text = texts.orchestrator_output(frame, most, self._ground.run_id)
        self._ground.write(frame.path, texts.ORCHESTRATOR, text)

    # Entering and measuring

    def _enter(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        node = node_of(self._root, frame)
        if not frame.parent:
            self._ground.open_branch()
            return self._measure(frame, record, tools)
        self._ground.clear(frame.path)
        for sensor in node.sensors:
            name = texts.sensor_file(sensor.name)
            self._ground.write(frame.path, name, texts.sensor_stub(sensor.name))
        stubs = {sensor.name: SensorReading(state=PENDING) for sensor in node.sensors}
        return {"readings": _wire(stubs), "baseline": self._ground.look()}

    def _measure(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        node = node_of(self._root, frame)
        readings = self._cycle.measure(node, frame, tools)
        return {"readings": _wire(readings), "baseline": self._ground.look()}

    # Deciding

    def _decide(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        node, position = node_of(self._root, frame), Position.from_json(record.data["position"])
        if node.controller == ALL_PASS:
            decision = _by_sensors(frame, position)
            self._ground.write(frame.path, texts.CONTROLLER, texts.decision_text(decision))
            return _decision(decision)
        answer_error = ""
        for _ in range(_TRIES):
            self._ground.remove(frame.path, texts.CONTROLLER)
            reply = self._staff.ask(
                tools,
                Role.CHEAP
                if all_pass(frame.sensors) and self._staff.has_cheap
                else Role.CONTROLLER,
                prompts.controller_prompt(
                    self._files[node.controller],
                    node,
                    path=frame.path,
                    artifacts=self._ground.display_path(frame.path),
                    closing=is_closing(node, frame),
                    carried=position.carried,
                    refusal=position.refusal,
                    feedback=record.feedback.values(),
                    answer_error=answer_error,
                ),
                self._files[node.controller].model,
            )
            written = self._ground.read(frame.path, texts.CONTROLLER)
            text = reply.text if written is None else written
            try:
                decision = texts.read_decision(text)
            except ContractError as error:
                answer_error = one_line(reply.error or str(error), 500)
                continue
            if decision.target_met and position.carried:  # the hook has the last word
                decision = _by_sensors(frame, position)
                text = texts.decision_text(decision)
            if text != written:
                self._ground.write(frame.path, texts.CONTROLLER, text)
            return _decision(decision)
        return {"error": f"the controller gave no decision: {answer_error}"}

    # Acting

    def _act(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        node = node_of(self._root, frame)
        file = self._files[node.actuator]
        self._ground.remove(frame.path, texts.ACTUATOR)
        reply = self._staff.ask(
            tools,
            Role.ACTUATOR,
            prompts.actuator_prompt(
                file,
                artifacts=self._ground.display_path(frame.path),
                protected=self._ground.protected_names(),
                feedback=record.feedback.values(),
            ),
            file.model,
        )
        if self._ground.read(frame.path, texts.ACTUATOR) is None:
            said = reply.error or reply.text or "The actuator said nothing."
            self._ground.write(frame.path, texts.ACTUATOR, f"{said.rstrip()}\n")
        self._ground.restore()
        refused = self._ground.restore_unsaved()
        changed = self._ground.find_changed(frame.baseline)
        action = texts.action_of(frame, node.max_iterations)
        if reply.error:
            action = f"actuator failed: {one_line(reply.error, 60)}"
        if refused:
            action = f"refused to change unsaved {', '.join(refused)}; {action}"
        return {"changed": changed, "action": action}

    def _exhaust(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        return {"detail": find_node_limit(node_of(self._root, frame), frame, record.spend)}

    # Boundaries

    def _commit_entry(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        what = _ENTRY[bool(frame.parent)]
        return self._commit_boundary(frame, record, "entry", summary=what, action=what)

    def _commit(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        node = node_of(self._root, frame)
        summary = texts.action_of(frame, node.max_iterations)
        action = frame.action or summary
        return self._commit_boundary(frame, record, "iteration", summary=summary, action=action)

    def _result(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        text = texts.result_output(frame, self._ground.run_id)
        self._ground.write(frame.path, texts.RESULT, text)
        return {"status": frame.status.value}

    def _commit_result(self, frame: Frame, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        if not frame.parent:  # the last commit of the run has its end
            self._ground.write_run_state(
                status=frame.status.value, stack=[frame.path], data=record.data
            )
        node = node_of(self._root, frame)
        closing = is_closing(node, frame) and frame.status is not NodeStatus.COMPLETE
        words = {
            NodeStatus.COMPLETE: "target met",
            NodeStatus.MAX_ITERATIONS: CLOSING if closing else "budget used up",
            NodeStatus.ERROR: f"error: {frame.error}",
        }[frame.status]
        return self._commit_boundary(frame, record, "result", summary=words, action=words)

    def _commit_boundary(
        self, frame: Frame, record: DriverRecord, kind: str, *, summary: str, action: str
    ) -> dict[str, Any]:
        if frame.restored:
            action = f"{texts.format_restored(frame.restored)}; {action}"
        boundary = Boundary(
            path=frame.path,
            label=frame.label,
            summary=summary,
            action=action,
            status=frame.status.value,
            target_met=frame.target_met,
            sensors={name: one.state for name, one in frame.sensors.items()},
            run=self._ground.run_id,
            key=f"{frame.path}:{frame.label}:{kind}",
            setpoint=texts.first_line(frame.task) if kind == "entry" else "",
            spent=Spend.from_json(frame.used),
        )
        position = Position.from_json(record.data["position"])
        tried = (
            sorted({*position.carried, *frame.changed}) if kind == "iteration" else frame.changed
        )
        made = self._ground.commit(boundary, tried)
        carried, refusal = position.carried, position.refusal
        if tried:
            carried, refusal = (tuple(tried), made.refusal) if made.refusal else ((), "")
        return {
            "commit": made.id,
            "action": made.boundary.action,
            "sensors": dict(boundary.sensors),
            "carried": list(carried),
            "refusal": refusal,
        }


def _by_sensors(frame: Frame, position: Position) -> texts.ControllerDecision:
    """Return the decision of the controller that needs no agent."""
    failing = {name: one for name, one in frame.sensors.items() if one.state != "pass"}
    if all_pass(frame.sensors) and not position.carried:
        return texts.ControllerDecision(
            target_met=True, notes={"Gap Analysis": "All sensors pass."}
        )
    lines = [f"- {name}: {one.summary or one.state}" for name, one in failing.items()]
    parts = [f"Make these sensors pass: {', '.join(failing)}."] if failing else []
    if position.carried:
        parts.append(f"Make the hook of git accept {', '.join(position.carried)}.")
        lines += [f"- {line}" for line in position.refusal.splitlines() if line.strip()]
    plan = " ".join(parts) + "\n\n" + "\n".join(lines)
    return texts.ControllerDecision(
        target_met=False, plan=plan, notes={"Gap Analysis": "\n".join(lines)}
    )


def _decision(decision: texts.ControllerDecision) -> dict[str, Any]:
    return {
        "target_met": decision.target_met,
        "plan": decision.plan,
        "notes": dict(decision.notes),
    }


def _wire(readings: Mapping[str, SensorReading]) -> dict[str, dict[str, str]]:
    return {
        name: {"state": one.state, "value": one.value, "summary": one.summary}
        for name, one in readings.items()
    }
