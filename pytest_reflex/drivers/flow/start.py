"""From the command line to a run of a flow: everything is looked at before anything is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common import running
from pytest_reflex.drivers.common.arguments import Budget, budget_of, settings_of
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.events import utc_now
from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.kept_files import KeptFiles
from pytest_reflex.drivers.common.protection import ReliedFiles
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.common.running import Events
from pytest_reflex.drivers.flow import cycle
from pytest_reflex.drivers.flow.cycle import Cycle, Measures, before_resume, find_judging_files
from pytest_reflex.drivers.flow.driver import FlowDriver
from pytest_reflex.drivers.flow.model import FlowNode
from pytest_reflex.drivers.flow.prompts import AgentFile, AgentRoles, Role
from pytest_reflex.drivers.flow.read import read_flow
from pytest_reflex.drivers.flow.run_file import FlowRunFile, refuse_missing_branch, run_names
from pytest_reflex.drivers.flow.targets import next_run_id
from pytest_reflex.drivers.flow.workspace import (
    ROOT,
    RUNS,
    FlowWorkspace,
    branch_of,
    refuse_other_branch,
    write_run_state,
)
from pytest_reflex.errors import FlowError, Place, Problem, ReflexError, StateError, UsageError
from pytest_reflex.host import agent_kinds, make_agent, open_host
from pytest_reflex.model.steps import Askable
from pytest_reflex.model.stop import StopReason
from pytest_reflex.settings import Settings
from pytest_reflex.settings.readers import ROLES
from pytest_reflex.storage.files import refuse_links
from pytest_reflex.storage.folders import make_folder

FLOW_FILE = f"{ROOT}/flow.yaml"
_KEPT = "protected"
Say = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowOptions:
    """How a new run is begun. `agents` are NAME or ROLE=NAME; `branch` is empty for one by task.

    Beside unsaved work none is begun, unless `allow_dirty` says keep (nothing of it is changed or
    committed) or include (what an agent changes is committed).
    """

    task: str
    agents: tuple[str, ...] = ()
    git: bool = True
    allow_dirty: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFlow:
    """A flow that can be run: read, with agents that are there and sensors that can work."""

    root: FlowNode
    files: Mapping[str, AgentFile]
    staff: AgentRoles
    measures: Measures
    settings: Settings
    project: Path

    def protected_names(self) -> tuple[str, ...]:
        """Return the files of the project that judge the work."""
        return (FLOW_FILE, *self.root.agent_files())


def prepare(project: Path, agents: Sequence[str] = (), *, runs: bool = True) -> PreparedFlow:
    """Return the flow of a project; raises ReflexError with what is wrong with any part of it.

    Where nothing `runs`, no program need be installed.
    """
    path = project / FLOW_FILE
    if not path.is_file():
        if os.path.lexists(path):
            raise UsageError(f"{FLOW_FILE} is not a file", hint="put the flow there")
        raise UsageError(f"there is no {FLOW_FILE}", hint="pytest-reflex flow setup makes one")
    settings = settings_of(project)
    root, files = read_flow(path, project, deepest=settings["flow.max_depth"])
    staff = _staff(agents, settings, project, runs=runs)
    problems = list(_problems_of_agents(root, files, staff)) if runs else []
    measures, more = _measures(root, settings, project)
    if problems := [*problems, *more]:
        raise FlowError(problems)
    return PreparedFlow(
        root=root, files=files, staff=staff, measures=measures, settings=settings, project=project
    )


def _staff(values: Sequence[str], settings: Settings, project: Path, *, runs: bool) -> AgentRoles:
    names: dict[str, str] = dict(settings["flow.agents"])
    default = settings["agent"]
    for value in values:
        role, _, name = value.rpartition("=")
        if not role:
            default, names = name, {}
        elif role in ROLES:
            names[role] = name
        else:
            raise UsageError(f"--agent {value!r}: {role!r} is not a role", hint=", ".join(ROLES))
    kinds = agent_kinds(open_host(settings["plugins"], project))

    def make(name: str, model: str) -> Askable:
        tables = settings["agents"]
        table = {**tables.get(name, {}), "model": model} if model else None
        values = {**settings.values, "agents": {**tables, name: table}}
        chosen = replace(settings, values=values) if table else settings
        agent = make_agent(name, chosen, kinds, otherwise="name another agent", runs=runs)
        if not isinstance(agent, Askable):
            hint = "name an AI tool: --agent NAME, or --agent ROLE=NAME"
            raise UsageError(f"agent {name!r} cannot take a prompt", hint=hint)
        return agent

    return AgentRoles(names, default, make)


def _problems_of_agents(
    root: FlowNode, files: Mapping[str, AgentFile], staff: AgentRoles
) -> Iterable[Problem]:
    """Yield why an agent that the flow needs cannot be had; each reason once."""
    needed = [(Role.CHEAP, "")] if staff.has_cheap else []
    for node in root.walk():
        by_role = {
            Role.SENSOR: [sensor.agent for sensor in node.sensors],
            Role.CONTROLLER: [node.controller],
            Role.ACTUATOR: [node.actuator],
        }
        needed += [
            (role, files[name].model)
            for role, names in by_role.items()
            for name in names
            if name in files
        ]
    problems: dict[str, Problem] = {}
    for role, model in dict.fromkeys(needed):
        try:
            agent = staff.agent(role, model)
            if role in (Role.ACTUATOR, Role.SENSOR) and not getattr(agent, "can_edit", True):
                message = f"agent {agent.name!r} cannot change files: it only answers"
                raise UsageError(message, hint=f"name one that can: --agent {role}=NAME")
        except ReflexError as error:
            problems |= {problem.message: problem for problem in error.problems}
    return problems.values()


def _measures(root: FlowNode, settings: Settings, project: Path) -> tuple[Measures, list[Problem]]:
    registry = open_host(settings["plugins"], project).registry
    measures: dict[tuple[str, str], Any] = {}
    problems = []
    for path, node in zip(root.paths(), root.walk(), strict=True):
        for sensor in node.sensors:
            if sensor.agent:
                continue
            try:
                measures[path, sensor.name] = cycle.measure_of(
                    sensor, project=project, registry=registry, timeout=settings["flow.timeout"]
                )
            except ReflexError as error:
                what = f"sensor {sensor.name!r} of {path}"
                problems += [
                    replace(problem, message=f"{what}: {problem.message}")
                    for problem in error.problems
                ]
    return measures, problems


def begin(
    options: FlowOptions,
    *,
    project: Path,
    budget: Budget | None = None,
    wall_time: float | None = None,
    say: Say = lambda text: None,
) -> tuple[str, Events]:
    """Begin a run and return its id and its events; nothing is changed where it cannot be begun."""
    if not options.task.strip():
        raise UsageError("the task is empty", hint="pytest-reflex flow run 'what is to be done'")
    budget_of(budget)  # what is wrong with it is said before anything is made
    prepared = prepare(project, options.agents)
    git = Git(project) if options.git else None
    given = {"branch": "", "base": "", "base_commit": "", "kept_out": ""}
    if git is not None:
        given |= branch_of(git, options, prepared.protected_names())
    run_id = _new_run(project)
    files = FlowRunFile(project, run_id)
    ground = _ground(prepared, files.make_folder(say), run_id, given, git, say)
    ground.make_folders(prepared.root.paths())
    driver = _driver(prepared, ground, options.task)
    events = running.run(
        driver,
        run_id,
        given=given,
        budget=budget if budget is not None else dict(prepared.settings["flow.budget"]) or None,
        max_iterations=0,
        wall_time=wall_time if wall_time is not None else prepared.settings["flow.wall_time"],
        project=project,
        say=say,
    )
    return run_id, events


def _new_run(project: Path) -> str:
    """Make the folder of a new run, which no other process has made."""
    runs = project / RUNS
    refuse_links(project, runs)
    try:
        make_folder(runs)
        if not runs.is_dir():
            raise StateError(f"{runs} is not a folder", hint="move it away")
    except OSError as error:
        raise StateError(f"{runs} could not be made: {error.strerror}") from None
    while True:
        run_id = next_run_id(run_names(project), datetime.now(UTC))
        try:
            (runs / run_id).mkdir()
            return run_id
        except FileExistsError:
            continue


def _ground(
    prepared: PreparedFlow,
    folder: Path,
    run_id: str,
    given: Mapping[str, str],
    git: Git | None,
    say: Say,
) -> FlowWorkspace:
    project = prepared.project
    if git is not None:
        git.pin_hooks()
    relied = find_judging_files(
        prepared.root,
        prepared.protected_names(),
        project=project,
        registry=open_host(prepared.settings["plugins"], project).registry,
        hooks=git.hooks_folder() if git else None,
    )
    kept_out = list(filter(None, given["kept_out"].split("\0")))
    theirs = ReliedFiles(programs=frozenset(str(project / name) for name in kept_out))
    return FlowWorkspace(
        project,
        run_id,
        git=git,
        base=given["base_commit"],
        branch=given["branch"],
        protected=KeptFiles(project, folder / _KEPT, relied),
        unsaved=KeptFiles(project, folder / "unsaved", theirs) if kept_out else None,
        kept_out=kept_out,
        say=say,
    )


def _driver(prepared: PreparedFlow, ground: FlowWorkspace, task: str) -> FlowDriver:
    cycle = Cycle(prepared.measures, prepared.files, ground, prepared.staff)
    return FlowDriver(
        prepared.root,
        prepared.files,
        ground=ground,
        staff=prepared.staff,
        cycle=cycle,
        task=task,
    )


def go_on(
    run_id: str,
    *,
    project: Path,
    agents: Sequence[str] = (),
    budget: Budget | None = None,
    wall_time: float | None = None,
    say: Say = lambda text: None,
) -> Events:
    """Continue a run and return its events."""
    files = FlowRunFile(project, run_id)
    record = files.load()
    data: Mapping[str, Any] = record.data
    if not _can_go_on(record):
        raise UsageError(f"the run {run_id} has ended", hint="begin a new one: flow run TASK")
    git = Git(project) if data["branch"] else None
    if git is not None:
        if files.is_foreign():
            refuse_missing_branch(git, record)
        refuse_other_branch(git, run_id, data)
    folder = files.make_folder(say)
    before_resume(project, folder / _KEPT, record, is_driven=files.is_driven(), say=say)
    prepared = prepare(project, agents)
    _refuse_other_tree(record, prepared.root)
    if files.is_foreign():
        files.adopt(git, say)
        data = files.load().data
    ground = _ground(prepared, folder, run_id, data, git, say)
    ground.make_folders(prepared.root.paths())
    driver = _driver(prepared, ground, data["task"])
    return running.resume(
        driver, run_id, budget=budget, wall_time=wall_time, project=project, say=say
    )


def _refuse_other_tree(record: DriverRecord, root: FlowNode) -> None:
    paths = {frame["path"] for frame in record.data["position"]["frames"]}
    if gone := sorted(paths - set(root.paths())):
        place = Place(FLOW_FILE)
        message = f"the run is at {', '.join(gone)}, which the flow no longer has"
        raise FlowError(message, place=place, hint="put the node back, or begin a new run")


def abandon(project: Path, run_id: str) -> None:
    """Have a run that is not finished stand as one that is given up.

    Raises LockedError where a process drives it.
    """
    files = FlowRunFile(project, run_id)
    with files.own(lambda text: None) as file:
        record = file.read() or files.read()
        if record is not None:
            file.save(record.end(Stop(StopReason.ABANDONED), utc_now()))
            position = record.data["position"]
            stack = [one["path"] for one in position["frames"]] or [min(position["results"])]
            write_run_state(project, run_id, status="abandoned", stack=stack, data=record.data)


def find_unfinished(project: Path) -> list[str]:
    """Return the ids of the runs that can go on, the last one first."""
    found = []
    for name in run_names(project):
        record = FlowRunFile(project, name).read()
        if record is not None and _can_go_on(record):
            found.append(name)
    return found


def _can_go_on(record: DriverRecord) -> bool:
    """Return whether a resume has something to do: where the root was left, nothing is."""
    return record.can_go_on and bool(record.data["position"]["frames"] or not record.reason)
