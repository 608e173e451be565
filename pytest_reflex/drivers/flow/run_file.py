"""The state of runs of a flow, ours or of another program, and what is known of all.

Such a node says in which iteration it was, and not at which step: it measures again and decides
anew, so that no file of an earlier iteration counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_reflex.contracts.validate import ContractError
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.record import DriverRecord, RunRow
from pytest_reflex.drivers.common.record_file import ROOT, RunFile
from pytest_reflex.drivers.flow import artifacts as texts
from pytest_reflex.drivers.flow import messages
from pytest_reflex.drivers.flow.artifacts import first_line
from pytest_reflex.drivers.flow.state import Frame, NodeStatus, NodeStep, Position, SensorReading
from pytest_reflex.drivers.flow.targets import by_component, is_id, is_run_id, label_of
from pytest_reflex.drivers.flow.workspace import LOG
from pytest_reflex.drivers.flow.workspace import RUNS as FLOW_RUNS
from pytest_reflex.errors import FlowError, StateError, StepError, UsageError
from pytest_reflex.model.run import Spend
from pytest_reflex.model.stop import StopReason
from pytest_reflex.settings import Settings
from pytest_reflex.storage.files import names_in, read_if_regular

NAME = "flow"
RUNS = ".ai-loop/runs"
_MOST_BYTES = 4_000_000
_HEADING = "# Task (setpoint)"
_ENDS = {
    NodeStatus.COMPLETE.value: StopReason.TARGET_MET,
    NodeStatus.MAX_ITERATIONS.value: StopReason.ITERATION_LIMIT,
    NodeStatus.ERROR.value: StopReason.PHASE_ERROR,
    "abandoned": StopReason.ABANDONED,
}


def foreign_record(project: Path, run: str) -> DriverRecord | None:
    """Return a run as its own files have it, None where there are none.

    Raises StateError where they cannot be read, or say what cannot be.
    """
    folder = project / RUNS / run
    path = folder / texts.RUN_STATE
    found = _document(path)
    if found is None:
        return None
    state, _ = found
    if state.get("run-id", run) != run:
        raise _damage_error(path, f"run-id is {state['run-id']!r}")
    status = state.get("status")
    if status != NodeStatus.RUNNING.value and status not in _ENDS:
        raise _damage_error(path, f"status is {status!r}")
    task = _text(path, state, "task")
    node_path = _text(path, state, "active-node-path")
    if not all(is_id(part) for part in node_path.split("/")):
        raise _damage_error(path, f"active-node-path is {node_path!r}")
    data = {
        "task": task,
        "branch": _text(path, state, "branch", may_be_empty=True),
        "base": _text(path, state, "base-branch", may_be_empty=True),
        "base_commit": "",
        "kept_out": "",
    }
    position = Position(frames=_frames(folder, node_path, task))
    changed = f"{datetime.fromtimestamp(path.stat().st_mtime, UTC):%Y-%m-%dT%H:%M:%SZ}"
    record = DriverRecord(
        driver=NAME,
        run=run,
        started_at=changed,
        changed_at=changed,
        data={**data, "position": position.to_json()},
        iteration=position.frames[0].iteration,
        max_iterations=0,
    )
    if status == NodeStatus.RUNNING.value:
        return record
    root = position.frames[0]
    result = {
        "status": status,
        "target_met": status == NodeStatus.COMPLETE.value,
        "iterations": root.iteration,
        "error": "",
        "offences": 0,
    }
    ended = Position(frames=(), results={root.path: result})
    record = DriverRecord(**{**_fields(record), "data": {**data, "position": ended.to_json()}})
    return record.end(Stop(_ENDS[status]), changed)


def _fields(record: DriverRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _frames(folder: Path, node_path: str, task: str) -> tuple[Frame, ...]:
    """Return the nodes down to one, which begins its iteration anew; one that has ended is left."""
    frames: list[Frame] = []
    parts = PurePosixPath(node_path).parts
    parent = ""
    for count in range(1, len(parts) + 1):
        path = "/".join(parts[:count])
        nodes = folder / "nodes" / path
        front, body = _document(nodes / texts.ORCHESTRATOR) or ({"iteration": 0}, "")
        iteration = front.get("iteration")
        if type(iteration) is not int or iteration < 0:
            raise _damage_error(nodes / texts.ORCHESTRATOR, f"iteration is {iteration!r}")
        is_over = front.get("status", NodeStatus.RUNNING.value) != NodeStatus.RUNNING.value
        if is_over and frames:
            break
        own = body.partition(_HEADING)[2].strip("\n")
        frame = Frame(
            path=path,
            task=own or (frames[-1].plan if frames else task),
            parent=parent,
            iteration=max(iteration, 1),
            sensors=_readings(nodes),
            plan=_plan(nodes),
            acts=max(iteration - 1, 0),
            step=NodeStep.REMEASURE,
        )
        frames.append(frame)
        parent = label_of(parent, frame.iteration)
    above = [_resume_act(frame) for frame in frames[:-1]]
    return (*above, frames[-1])


def _resume_act(frame: Frame) -> Frame:
    """Return a node whose child is at work."""
    wire = {**frame.to_json(), "step": NodeStep.MEASURE.value, "acts": frame.iteration}
    return Frame.from_json(wire)


def _plan(nodes: Path) -> str:
    """Return the plan that stands there, empty where none can be read."""
    data = read_if_regular(nodes / texts.CONTROLLER, _MOST_BYTES)
    try:
        return texts.read_decision((data or b"").decode()).plan
    except (ContractError, UnicodeDecodeError):
        return ""


def _readings(nodes: Path) -> dict[str, SensorReading]:
    """Return what the sensors said last, to be shown; nothing is decided by it."""
    found = {}
    for name in names_in(nodes):
        if name.startswith("sensor-") and name.endswith("-output.md"):
            data = read_if_regular(nodes / name, _MOST_BYTES) or b""
            try:
                front, _ = texts.split_front_matter(data.decode())
            except (ContractError, UnicodeDecodeError):
                continue
            state = front.get("status")
            sensor = name.removeprefix("sensor-").removesuffix("-output.md")
            if state in ("pass", "fail", "pending"):
                found[sensor] = SensorReading(state=state)
    return found


def _document(path: Path) -> tuple[Mapping[str, Any], str] | None:
    data = read_if_regular(path, _MOST_BYTES)
    if data is None:
        return None
    try:
        return texts.split_front_matter(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise _damage_error(path, "it is not UTF-8 text") from None
    except ContractError as error:
        raise _damage_error(path, str(error)) from None


def _text(path: Path, front: Mapping[str, Any], key: str, *, may_be_empty: bool = False) -> str:
    value = front.get(key)
    if value is None and may_be_empty:
        return ""
    if not isinstance(value, str) or not (value.strip() or may_be_empty):
        raise _damage_error(path, f"{key} is {value!r}")
    return value


def _damage_error(path: Path, why: str) -> StateError:
    hint = "correct the file, or move the folder of the run away"
    return StateError(f"{path} holds no state of a run: {why}", hint=hint)


class FlowRunFile(RunFile):
    """The files of one run of a flow, also of one that we have no state of yet."""

    def __init__(self, project: Path, run: str) -> None:
        super().__init__(project, NAME, run)
        self._project = project

    def read(self) -> DriverRecord | None:
        """Return the state, None where there is none; raises StateError, and writes nothing."""
        return super().read() or foreign_record(self._project, self.run)

    def is_foreign(self) -> bool:
        """Return whether there is a run here of which we have no state."""
        return super().read() is None

    def adopt(self, git: Git | None, say: Callable[[str], object]) -> None:
        """Read what another program left as the state of a run."""
        record = self.load()
        data = dict(record.data)
        if git is not None:
            data["base_commit"] = git.common_commit(data["base"], data["branch"]) or git.head()
            if left := [path for path in git.dirty() if not path.startswith(".ai-loop/")]:
                say(f"not committed yet, and left so until it is changed: {', '.join(left[:5])}")
        with self.own(say) as file:
            if file.read() is None:
                file.save(replace(record, data=data))


def refuse_missing_branch(git: Git, record: DriverRecord) -> None:
    """Raise UsageError where the branch of a run that another program left is not there."""
    branch = record.data["branch"]
    if branch not in git.branches():
        hint = f"git switch -c {branch}, or begin a new run: flow run --new TASK"
        raise UsageError(f"the branch of {record.run}, {branch}, does not exist", hint=hint)


def run_names(project: Path) -> list[str]:
    """Return the ids of all runs, the last one first.

    On another branch a run has its state alone: its own files are committed on the branch.
    """
    states = names_in(project / ROOT / "runs" / NAME)
    names = {*names_in(project / FLOW_RUNS), *(name.removesuffix(".json") for name in states)}
    return sorted(filter(is_run_id, names), reverse=True)


def last_run(project: Path) -> str | None:
    """Return the id of the last run, None where there is none."""
    return next(iter(run_names(project)), None)


def rows(project: Path) -> Iterator[RunRow]:
    """Yield a row for each run, the last one first."""
    return (FlowRunFile(project, name).row() for name in run_names(project))


def list_runs(project: Path, settings: Settings) -> Iterator[RunRow]:
    """Yield the rows for the list of all drivers."""
    return rows(project)


def branch_here(project: Path) -> str:
    """Return the branch that is checked out in a project, empty for none."""
    try:
        return Git(project).branch()
    except (StepError, UsageError):
        return ""


def boundaries(project: Path, record: DriverRecord) -> list[messages.Boundary]:
    """Return the boundaries of a run, the first one first; what git does not have is left out."""
    data = record.data
    if not data.get("branch"):
        text = (read_if_regular(project / FLOW_RUNS / record.run / LOG) or b"").decode()
        found = (messages.read(part) for part in text.split("\n\n\n"))
    else:
        try:
            made = list(Git(project).messages(data["base_commit"], data["branch"]))
        except (StepError, UsageError):
            return []
        found = (messages.read(message) for _, message in reversed(made))
    return [one for one in found if one is not None and one.run == record.run]


def order_boundaries(
    made: Iterable[messages.Boundary], record: DriverRecord
) -> list[messages.Boundary]:
    """Return boundaries as a tree: an iteration comes before those of the child that acted in it.

    Iterations that are not over yet have the status ``open``.
    """
    found = {(one.path, one.label): one for one in made}
    for frame in map(Frame.from_json, record.data["position"]["frames"]):
        plan = first_line(frame.plan)
        doing = f"{frame.step.value}: {plan}" if plan else frame.step.value
        one = messages.Boundary(
            path=frame.path,
            label=frame.label,
            summary=doing,
            action=doing,
            status="open",
            sensors={name: reading.state for name, reading in frame.sensors.items()},
            setpoint="" if frame.iteration else first_line(frame.task),
            spent=Spend.from_json(frame.used),
        )
        found.setdefault((one.path, one.label), one)
    return sorted(found.values(), key=lambda one: by_component(one.label))


def shape(project: Path, record: DriverRecord) -> list[tuple[str, int]]:
    """Return paths and `max_iterations` of the nodes, as far as flow.yaml can be read."""
    from pytest_reflex.drivers.flow.read import read_flow
    from pytest_reflex.drivers.flow.start import FLOW_FILE

    try:
        root, _ = read_flow(project / FLOW_FILE, project)
    except FlowError:
        return [(frame["path"], 0) for frame in record.data["position"]["frames"]]
    most = [node.max_iterations for node in root.walk()]
    return list(zip(root.paths(), most, strict=True))
