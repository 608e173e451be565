"""One measurement of a node: every sensor in its order, one call for all that are agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_reflex.contracts.extract import ContractError
from pytest_reflex.drivers.common.content_hash import changed_between
from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    Measure,
    Measurement,
    MeasurementStatus,
)
from pytest_reflex.drivers.common.protection import modified_text
from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.drivers.flow import artifacts as texts
from pytest_reflex.drivers.flow import prompts, sensing
from pytest_reflex.drivers.flow.agent_file import AgentFile
from pytest_reflex.drivers.flow.ground import Ground
from pytest_reflex.drivers.flow.model import Node, RunWhen, Sensor
from pytest_reflex.drivers.flow.staff import Role, Staff
from pytest_reflex.drivers.flow.state import FAIL, PENDING, Frame, Reading
from pytest_reflex.integrity.tool_inputs import configured_options
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.temporary import private_caches

Measures = Mapping[tuple[str, str], Measure]
"""What the program measures, by the path of a node and the name of a sensor."""


class Cycle:
    """Measures a node; every reading is written as the seed has it."""

    def __init__(
        self, measures: Measures, files: Mapping[str, AgentFile], ground: Ground, staff: Staff
    ) -> None:
        self._measures, self._files = measures, files
        self._ground, self._staff = ground, staff

    def measure(self, node: Node, frame: Frame, tools: Tools) -> dict[str, Reading]:
        """Return what every sensor of a node says now, or said last where it need not be run."""
        due = [sensor for sensor in node.sensors if self._is_due(sensor, frame)]
        known = {
            sensor.name: self._kept(frame, sensor) for sensor in node.sensors if sensor not in due
        }
        found = {**known, **self._by_program(node, frame, due, tools)}
        found |= self._by_agent(frame, [one for one in due if one.agent], tools)
        return {sensor.name: found[sensor.name] for sensor in node.sensors}

    def _is_due(self, sensor: Sensor, frame: Frame) -> bool:
        if sensor.run_when is RunWhen.CHANGED and self._ground.knows_changes:
            last = frame.sensors.get(sensor.name)
            return last is None or last.state == PENDING or self._has_changed(frame)
        return True

    def _has_changed(self, frame: Frame) -> bool:
        return bool(self._ground.differing(frame.baseline))

    def _kept(self, frame: Frame, sensor: Sensor) -> Reading:
        return frame.sensors.get(sensor.name) or Reading(state=PENDING)

    def _by_program(
        self, node: Node, frame: Frame, due: list[Sensor], tools: Tools
    ) -> dict[str, Reading]:
        ours = [sensor for sensor in due if not sensor.agent]
        measures = {one.name: self._measures[frame.path, one.name] for one in ours}
        measured = self._measured(node, ours, measures, tools)
        found = {}
        for sensor in ours:
            one = measured[sensor.name]
            found[sensor.name] = reading = sensing.reading_of(one)
            text = texts.sensor_output(sensor.name, reading, sensor.target.text, one.evidence)
            self._ground.write(frame.path, texts.sensor_file(sensor.name), text)
        return found

    def _measured(
        self, node: Node, sensors: list[Sensor], measures: Mapping[str, Measure], tools: Tools
    ) -> Mapping[str, Measurement]:
        """Measure without caches from before; nothing passes by files that were modified."""
        if not measures:
            return {}
        self._ground.restore()
        options = (*(one.command for one in sensors), *configured_options(self._ground.project))
        with private_caches(inherited(), options) as caches:
            attempt = Attempt({**tools.environment, **caches}, tools.cancel, tools.calls)
            found = sensing.measure_all(measures, attempt, parallel=node.parallel)
        if modified := sorted({*self._ground.restore(), *self._ground.lost()}):
            told = one_line(modified_text(modified), SUMMARY)
            status = MeasurementStatus.FAILED
            return {
                name: replace(one, status=status, summary=told) if one.passed else one
                for name, one in found.items()
            }
        return found

    def _by_agent(self, frame: Frame, due: list[Sensor], tools: Tools) -> dict[str, Reading]:
        if not due:
            return {}
        for sensor in due:
            self._ground.remove(frame.path, texts.sensor_file(sensor.name))
        before = self._ground.dirty()
        asked = [(sensor, self._files[sensor.agent]) for sensor in due]
        prompt = prompts.sensors_prompt(asked, self._ground.shown(frame.path))
        model = next((file.model for _, file in asked if file.model), "")
        reply = self._staff.ask(tools, Role.SENSOR, prompt, model)
        meddled = sorted({*self._ground.restore(), *changed_between(before, self._ground.dirty())})
        return {sensor.name: self._of_agent(frame, sensor, reply.error, meddled) for sensor in due}

    def _of_agent(self, frame: Frame, sensor: Sensor, error: str, meddled: list[str]) -> Reading:
        name = texts.sensor_file(sensor.name)
        text = self._ground.read(frame.path, name)
        try:
            if text is None:
                raise ContractError(error or "the agent wrote no output file")
            reading = texts.read_sensor_output(text)
            if meddled:
                told = f"the sensor changed {one_line(', '.join(meddled), 200)}"
                return replace(reading, state=FAIL, summary=told)
            return reading
        except ContractError as problem:
            reading = Reading(state=FAIL, summary=one_line(f"not measured: {problem}", 300))
            written = texts.sensor_output(sensor.name, reading, "status: pass", "")
            self._ground.write(frame.path, name, written)
            return reading
