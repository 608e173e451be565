"""What is known of the runs of flows in a project: their boundaries, their tree, the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_reflex.drivers.common.catalog import RunRow
from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.record import Record
from pytest_reflex.drivers.common.record_file import ROOT
from pytest_reflex.drivers.flow import messages
from pytest_reflex.drivers.flow.artifacts import first_line
from pytest_reflex.drivers.flow.ground import LOG, RUNS
from pytest_reflex.drivers.flow.labels import by_component, is_run_id
from pytest_reflex.drivers.flow.run_file import FlowRunFile
from pytest_reflex.drivers.flow.state import Frame
from pytest_reflex.errors import FlowError, StepError, UsageError
from pytest_reflex.model.run import Spend
from pytest_reflex.settings import Settings
from pytest_reflex.storage.files import names_in, read_if_regular

NAME = "flow"


def run_names(project: Path) -> list[str]:
    """Return the ids of all runs, the last one first.

    On another branch a run has its state alone: its own files are committed on the branch.
    """
    states = names_in(project / ROOT / "runs" / NAME)
    names = {*names_in(project / RUNS), *(name.removesuffix(".json") for name in states)}
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


def boundaries(project: Path, record: Record) -> list[messages.Boundary]:
    """Return the boundaries of a run, the first one first; what git does not have is left out."""
    data = record.data
    if not data.get("branch"):
        text = (read_if_regular(project / RUNS / record.run / LOG) or b"").decode()
        found = (messages.read(part) for part in text.split("\n\n\n"))
    else:
        try:
            made = list(Git(project).messages(data["base_commit"], data["branch"]))
        except (StepError, UsageError):
            return []
        found = (messages.read(message) for _, message in reversed(made))
    return [one for one in found if one is not None and one.run == record.run]


def drawn(made: Iterable[messages.Boundary], record: Record) -> list[messages.Boundary]:
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


def shape(project: Path, record: Record) -> list[tuple[str, int]]:
    """Return paths and `max_iterations` of the nodes, as far as flow.yaml can be read."""
    from pytest_reflex.drivers.flow.opening import FLOW_FILE
    from pytest_reflex.drivers.flow.read import read_flow

    try:
        root, _ = read_flow(project / FLOW_FILE, project)
    except FlowError:
        return [(frame["path"], 0) for frame in record.data["position"]["frames"]]
    most = [node.max_iterations for node in root.walk()]
    return list(zip(root.paths(), most, strict=True))
