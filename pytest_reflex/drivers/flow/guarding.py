"""What a flow is judged by: flow.yaml, agent files, hooks of git, and what its sensors run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common.gate_files import relied_on
from pytest_reflex.drivers.common.kept_files import KeptFiles
from pytest_reflex.drivers.common.measure import CommandMeasure
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.drivers.common.protection import Relied, Sections
from pytest_reflex.drivers.common.record import RUNNING, Record
from pytest_reflex.drivers.flow.model import Node, Sensor
from pytest_reflex.errors import LockedError
from pytest_reflex.integrity.patterns import escaped
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import inherited

SETTINGS = "pytest-reflex.toml"
_ASKS = ("enter", "decide", "act", "measure", "re-measure")


def relied_by(
    root: Node, names: Iterable[str], *, project: Path, registry: Registry, hooks: Path | None
) -> Relied:
    """Return what judges the work: the files of some names, and what the sensors rely on."""
    held: dict[str, Sections] = {str(project / name): () for name in (*names, SETTINGS)}
    parts = [
        _relied_by(sensor, project, registry)
        for node in root.walk()
        for sensor in node.sensors
        if not sensor.agent
    ]
    patterns = {f"{escaped(hooks)}/*": ()} if hooks else {}
    return _joined([Relied(files=held, patterns=patterns), *parts])


def _relied_by(sensor: Sensor, project: Path, registry: Registry) -> Relied:
    if sensor.command:
        command = CommandMeasure(sensor.command, folder=project, timeout=1, runs=False)
        return relied_on((), [command.argv], project=project, environment=command.environment)
    criteria = CriteriaMeasure(
        sensor.criteria, sensor.artifacts, project=project, registry=registry
    )
    judged = sensor.artifacts or [
        escaped(path.relative_to(project)) for path in criteria.judged_now()
    ]
    return relied_on(
        (),
        criteria.commands,
        project=project,
        environment=inherited(),
        files=criteria.files,
        judged=judged,
    )


def _joined(parts: Iterable[Relied]) -> Relied:
    parts = list(parts)
    return Relied(
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
    record: Record,
    *,
    is_driven: bool,
    say: Callable[[str], object],
) -> None:
    """Look what was changed since the last sitting: told, and put back after a kill.

    A run that was killed while an agent worked has that agent's changes; else a person made them.
    Raises LockedError where a process drives the run.
    """
    if is_driven:
        raise LockedError(f"{record.run} is driven by another process")
    began = KeptFiles.begun(project, folder)
    changed = began.changed() if began else []
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
