"""One measurement of a node: sensors in their order, and the files that they rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from pytest_reflex.checks.command import last_lines
from pytest_reflex.checks.registry import Registry
from pytest_reflex.contracts.validate import ContractError
from pytest_reflex.drivers.common.gate_files import find_relied_files
from pytest_reflex.drivers.common.git import diff_snapshots
from pytest_reflex.drivers.common.kept_files import KeptFiles
from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    CommandMeasure,
    Measure,
    Measurement,
    MeasurementStatus,
    run_measure,
)
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.drivers.common.protection import ReliedFiles, Sections, format_modified
from pytest_reflex.drivers.common.record import RUNNING, DriverRecord
from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.drivers.flow import artifacts as texts
from pytest_reflex.drivers.flow import prompts
from pytest_reflex.drivers.flow.model import FlowNode, RunWhen, Sensor
from pytest_reflex.drivers.flow.prompts import AgentFile, AgentRoles, Role
from pytest_reflex.drivers.flow.state import FAIL, PASS, PENDING, Frame, SensorReading
from pytest_reflex.drivers.flow.targets import SensorTarget
from pytest_reflex.drivers.flow.workspace import FlowWorkspace
from pytest_reflex.errors import LockedError
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.integrity.tool_inputs import read_pytest_options
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.guard import private_caches
from pytest_reflex.process.run import Finished
from pytest_reflex.search.patterns import SearchError, compile_pattern
from pytest_reflex.verdict.formatting import format_score, plain

_MOST_MATCHES = 10_000
_SEARCH_SECONDS = 5.0
_WORKERS = 4


def measure_of(sensor: Sensor, *, project: Path, registry: Registry, timeout: float) -> Measure:
    """Return what a sensor measures; raises ReflexError where that cannot work."""
    if sensor.criteria:
        criteria = CriteriaMeasure(
            sensor.criteria, sensor.artifacts, project=project, registry=registry
        )
        return lambda attempt: _by_score(criteria(attempt), sensor.target)
    return CommandMeasure(
        sensor.command,
        folder=project,
        timeout=sensor.timeout or timeout,
        read=lambda finished: _by_output(finished, sensor.target),
    )


def measure_all(
    measures: Mapping[str, Measure], attempt: Attempt, *, parallel: bool
) -> dict[str, Measurement]:
    """Return what each measure finds, in their order; one after the other, or side by side."""
    names = list(measures)
    measure: Callable[[str], Measurement] = lambda name: run_measure(measures[name], attempt)  # noqa: E731
    if not parallel or len(names) < 2:
        return {name: measure(name) for name in names}
    with ThreadPoolExecutor(min(_WORKERS, len(names))) as pool:
        return dict(zip(names, pool.map(measure, names), strict=True))


def reading_of(found: Measurement) -> SensorReading:
    """Return a measurement as a sensor's output has it: what could not be measured fails."""
    value = "" if found.value is None else plain(found.value)
    return SensorReading(
        state=PASS if found.passed else FAIL,
        value=f"{value} {found.unit}".strip(),
        summary=found.summary,
    )


def _by_score(found: Measurement, target: SensorTarget) -> Measurement:
    if target.what == "passed" or found.value is None:
        return found
    if found.status not in (MeasurementStatus.PASSED, MeasurementStatus.FAILED):
        return found
    summary = f"score {format_score(found.value)}, wanted {target.text.removeprefix('score ')}"
    return _measurement(target.holds(found.value), summary, found.value, found.evidence)


def _by_output(finished: Finished, target: SensorTarget) -> Measurement:
    evidence, code = last_lines(finished), finished.returncode or 0
    if target.what == "exit":
        return _measurement(target.holds(code), f"exit status {code}", Fraction(code), evidence)
    output = finished.stdout.decode("utf-8", "replace")
    try:
        texts = _matches(target.pattern, output)
    except SearchError as error:
        status = MeasurementStatus.ERROR
        return Measurement(status=status, summary=str(error), evidence=evidence)
    if target.what == "stdout":
        what = f"its output {'has' if texts else 'has not'} /{target.pattern}/"
        return _measurement(bool(texts), what, None, evidence)
    numbers = [number for text in texts if (number := _number(text)) is not None]
    if not numbers:
        return _measurement(False, f"no number in its output by /{target.pattern}/", None, evidence)
    wanted = f"{target.op} {plain(target.number)}"
    message = f"{plain(numbers[-1])}, wanted {wanted}"
    return _measurement(target.holds(numbers[-1]), message, numbers[-1], evidence)


def _measurement(is_met: bool, summary: str, value: Fraction | None, evidence: str) -> Measurement:
    status = MeasurementStatus.PASSED if is_met else MeasurementStatus.FAILED
    return Measurement(status=status, summary=summary, value=value, evidence=evidence)


def _matches(source: str, output: str) -> Sequence[str]:
    """Return what a pattern matches: its first group where it has one."""
    import re

    pattern = compile_pattern(source, key="target")
    template = r"\1" if re.compile(source).groups else r"\g<0>"
    found = pattern.expand(output, template, limit=_MOST_MATCHES, seconds=_SEARCH_SECONDS)
    return [text for _, _, text in found]


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip().replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return None


Measures = Mapping[tuple[str, str], Measure]
"""What the program measures, by the path of a node and the name of a sensor."""


class Cycle:
    """Measures a node; every reading is written as the seed has it."""

    def __init__(
        self,
        measures: Measures,
        files: Mapping[str, AgentFile],
        ground: FlowWorkspace,
        staff: AgentRoles,
    ) -> None:
        self._measures, self._files = measures, files
        self._ground, self._staff = ground, staff

    def measure(self, node: FlowNode, frame: Frame, tools: Tools) -> dict[str, SensorReading]:
        """Return what every sensor of a node says now, or said last where it need not be run."""
        due = [sensor for sensor in node.sensors if self._is_due(sensor, frame)]
        known = {
            sensor.name: self._keep_reading(frame, sensor)
            for sensor in node.sensors
            if sensor not in due
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
        return bool(self._ground.find_differing(frame.baseline))

    def _keep_reading(self, frame: Frame, sensor: Sensor) -> SensorReading:
        return frame.sensors.get(sensor.name) or SensorReading(state=PENDING)

    def _by_program(
        self, node: FlowNode, frame: Frame, due: list[Sensor], tools: Tools
    ) -> dict[str, SensorReading]:
        ours = [sensor for sensor in due if not sensor.agent]
        measures = {one.name: self._measures[frame.path, one.name] for one in ours}
        measured = self._measure(node, ours, measures, tools)
        found = {}
        for sensor in ours:
            one = measured[sensor.name]
            found[sensor.name] = reading = reading_of(one)
            text = texts.sensor_output(sensor.name, reading, sensor.target.text, one.evidence)
            self._ground.write(frame.path, texts.sensor_file(sensor.name), text)
        return found

    def _measure(
        self, node: FlowNode, sensors: list[Sensor], measures: Mapping[str, Measure], tools: Tools
    ) -> Mapping[str, Measurement]:
        """Measure without caches from before; nothing passes by files that were modified."""
        if not measures:
            return {}
        self._ground.restore()
        options = (*(one.command for one in sensors), *read_pytest_options(self._ground.project))
        with private_caches(copy_environment(), options) as caches:
            attempt = Attempt({**tools.environment, **caches}, tools.cancel, tools.calls)
            found = measure_all(measures, attempt, parallel=node.parallel)
        if modified := sorted({*self._ground.restore(), *self._ground.lost_names()}):
            text = one_line(format_modified(modified), SUMMARY)
            status = MeasurementStatus.FAILED
            return {
                name: replace(one, status=status, summary=text) if one.passed else one
                for name, one in found.items()
            }
        return found

    def _by_agent(self, frame: Frame, due: list[Sensor], tools: Tools) -> dict[str, SensorReading]:
        if not due:
            return {}
        for sensor in due:
            self._ground.remove(frame.path, texts.sensor_file(sensor.name))
        before = self._ground.dirty()
        asked = [(sensor, self._files[sensor.agent]) for sensor in due]
        prompt = prompts.sensors_prompt(asked, self._ground.display_path(frame.path))
        model = next((file.model for _, file in asked if file.model), "")
        reply = self._staff.ask(tools, Role.SENSOR, prompt, model)
        meddled = sorted({*self._ground.restore(), *diff_snapshots(before, self._ground.dirty())})
        return {sensor.name: self._of_agent(frame, sensor, reply.error, meddled) for sensor in due}

    def _of_agent(
        self, frame: Frame, sensor: Sensor, error: str, meddled: list[str]
    ) -> SensorReading:
        name = texts.sensor_file(sensor.name)
        text = self._ground.read(frame.path, name)
        try:
            if text is None:
                raise ContractError(error or "the agent wrote no output file")
            reading = texts.read_sensor_output(text)
            if meddled:
                message = f"the sensor changed {one_line(', '.join(meddled), 200)}"
                return replace(reading, state=FAIL, summary=message)
            return reading
        except ContractError as problem:
            reading = SensorReading(state=FAIL, summary=one_line(f"not measured: {problem}", 300))
            written = texts.sensor_output(sensor.name, reading, "status: pass", "")
            self._ground.write(frame.path, name, written)
            return reading


SETTINGS = "pytest-reflex.toml"
_ASKS = ("enter", "decide", "act", "measure", "re-measure")


def find_judging_files(
    root: FlowNode, names: Iterable[str], *, project: Path, registry: Registry, hooks: Path | None
) -> ReliedFiles:
    """Return what judges the work: the files of some names, and what the sensors rely on."""
    held: dict[str, Sections] = {str(project / name): () for name in (*names, SETTINGS)}
    parts = [
        _relied_by_sensor(sensor, project, registry)
        for node in root.walk()
        for sensor in node.sensors
        if not sensor.agent
    ]
    patterns = {f"{escape_path(hooks)}/*": ()} if hooks else {}
    return _merge([ReliedFiles(files=held, patterns=patterns), *parts])


def _relied_by_sensor(sensor: Sensor, project: Path, registry: Registry) -> ReliedFiles:
    if sensor.command:
        command = CommandMeasure(sensor.command, folder=project, timeout=1, runs=False)
        return find_relied_files(
            (), [command.argv], project=project, environment=command.environment
        )
    criteria = CriteriaMeasure(
        sensor.criteria, sensor.artifacts, project=project, registry=registry
    )
    judged = sensor.artifacts or [
        escape_path(path.relative_to(project)) for path in criteria.find_artifacts()
    ]
    return find_relied_files(
        (),
        criteria.commands,
        project=project,
        environment=copy_environment(),
        files=criteria.files,
        judged=judged,
    )


def _merge(parts: Iterable[ReliedFiles]) -> ReliedFiles:
    parts = list(parts)
    return ReliedFiles(
        files=_sections(part.files for part in parts),
        programs=frozenset().union(*(part.programs for part in parts)),
        patterns=_sections(part.patterns for part in parts),
        named=_sections(part.named for part in parts),
        module_folders=frozenset().union(*(part.module_folders for part in parts)),
        module_names=frozenset().union(*(part.module_names for part in parts)),
    )


def _sections(tables: Iterable[Mapping[str, Sections]]) -> dict[str, Sections]:
    found: dict[str, Sections] = {}
    for table in tables:
        for name, sections in table.items():
            held = found.get(name, sections)
            found[name] = tuple(dict.fromkeys((*held, *sections))) if held and sections else ()
    return found


def before_resume(
    project: Path,
    folder: Path,
    record: DriverRecord,
    *,
    is_driven: bool,
    say: Callable[[str], object],
) -> None:
    """Look what was changed since the last sitting: reported, and put back after a kill.

    A run that was killed while an agent worked has that agent's changes; else a person made them.
    Raises LockedError where a process drives the run.
    """
    if is_driven:
        raise LockedError(f"another process is running {record.run}")
    began = KeptFiles.load(project, folder)
    changed = began.changed_names() if began else []
    if began is None or not changed:
        return
    frames = record.data["position"]["frames"]
    was_killed = record.status == RUNNING and frames and frames[-1]["step"] in _ASKS
    shown = one_line(", ".join(changed), 300)
    if was_killed:
        began.restore()
        say(f"put back what was changed while an agent worked: {shown}")
    else:
        say(f"changed since the last session, and accepted as it is now: {shown}")
