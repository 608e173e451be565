"""Beginning a loop over a session, taking one up again, and letting one go on that had ended.

Nothing is written before criteria and limits are confirmed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.pytest_loop.child import Runner, TreeWatch, configurations
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles, links_of
from pytest_reflex.drivers.pytest_loop.files import (
    TREE,
    ProjectFiles,
    create_run,
    document,
    open_run,
    project_of,
    tree_of,
)
from pytest_reflex.drivers.pytest_loop.steps import TreeSteps, register_steps
from pytest_reflex.drivers.pytest_loop.survey import Survey
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.extend import ExtendRequest, extension
from pytest_reflex.drivers.reflex.history import digest
from pytest_reflex.drivers.reflex.named_files import read_instructions, refuse_record
from pytest_reflex.drivers.reflex.project_watch import PROJECT, ProjectWatch, WatchScope
from pytest_reflex.drivers.reflex.run_integrity import accept_project, free_steps, rules_hash
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.scope_guard import OFF
from pytest_reflex.drivers.reflex.setup import NewLoop, Proposal, start_event
from pytest_reflex.drivers.reflex.statefile import KIND, SESSION
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.errors import UsageError
from pytest_reflex.host import Host
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.process.bytecode import bytecode_of, loaded_sources
from pytest_reflex.process.group import kill_abandoned
from pytest_reflex.settings import Settings


def watch_of(files: ProjectFiles) -> TreeWatch:
    """Return the watch that records the imports of a run's sessions."""
    return TreeWatch(files.start, files.project)


Equip = Callable[[RunFiles], TreeSteps]


@contextmanager
def begin(
    found: Survey,
    *,
    settings: Settings,
    host: Host,
    agents: Mapping[Step, str],
    by: str,
    equip: Equip,
) -> Iterator[ReflexLoop]:
    """Write a confirmed survey and yield the loop; the run stays resumable when left early."""
    options = found.options
    root = options.root / settings["loop.root"]
    refuse_record(settings["loop.record"], options.root, root)
    files = create_run(root, options.task, options.alias)
    try:
        scope = _scope(
            options.root,
            files,
            found.editable,
            settings["loop.record"],
            may_change=found.may_change,
            writes=found.writes,
        )
        watch = ProjectWatch.begin(
            scope,
            found.programs,
            map(escape_path, configurations(found.editable)),
            state=files.folder.parent,
        )
        begun = _start_event(found, files, settings, agents, by)
        payload = {**begun.payload, PROJECT: watch.record()}
        started = files.commit(replace(begun, payload=payload))
        steps = equip(files)
        steps.first = (digest(document(found.texts, found.texts)), found.session)
        register_steps(host, steps)
        yield ReflexLoop(
            files=files,
            opening=(started,),
            hooks=host.hooks,
            project=options.root,
            watch=watch,
            free=free_steps(agents, settings["plugins"]),
            agents=agents,
            sequential=True,
            suspicion=steps.watch.find_tampering,
        )
    finally:
        files.close()


def _scope(
    project: Path, files: RunFiles, editable: EditableFiles, record: str = "", **allowed: Any
) -> WatchScope:
    return WatchScope(
        project=project,
        apart=own_paths(project, files.folder.parent, record),
        editable=editable.covers,
        of_session=True,
        **allowed,
    )


def _start_event(
    found: Survey,
    files: RunFiles,
    settings: Settings,
    agents: Mapping[Step, str],
    by: str,
) -> StepOutcome:
    """Return the first event: that of any loop, with what is needed of the project."""
    options = found.options
    wanted = NewLoop(
        task=options.task,
        criteria="the first session",
        confirmed_by=by,
        ideal="the whole session passes",
        sequential=True,
        record=settings["loop.record"] or None,
    )
    proposal = Proposal(
        request=wanted,
        criteria=found.criteria,
        limits=found.limits,
        level=Level.B,
        draft=None,
        seal=rules_hash(found.criteria, settings["plugins"]),
        instructions=read_instructions(settings["loop.prompts"], options.root),
    )
    begun = start_event(proposal, files.alias, options.root, settings, agents)
    session = {
        "arguments": list(options.arguments),
        "cwd": os.path.relpath(options.cwd, options.root),
    }
    tree = tree_of(
        options.root,
        files.folder,
        editable=found.editable,
        texts=found.texts,
        start=found.start,
        links=links_of(found.editable),
    )
    setup = {**begun.payload["setup"], KIND: SESSION, "session": session}
    if any(part.artifact is None for part in found.session.parts):
        setup["guard"] = OFF  # a test does not say in which of the files its fault is
    return replace(begun, payload={**begun.payload, "setup": setup, TREE: tree})


@contextmanager
def take_up(
    folder: Path,
    *,
    host: Host,
    equip: Equip,
    agents: Mapping[Step, str],
    more: ExtendRequest | None = None,
    by: str = "",
    accept_changes: bool = False,
) -> Iterator[ReflexLoop]:
    """Yield a run, recovered from its history, ready to go on.

    It was interrupted; or it had ended, and `more` is what a person confirmed `by` that it may go
    on with. With `accept_changes` the project is taken as it is now.
    """
    files = open_run(folder)
    tree = project_of(files)
    try:
        opening: tuple[Event, ...] = ()
        if more:
            opening = (files.commit(extension(files.state, more, by)),)
        if files.state.status is not RunStatus.RUNNING:  # another process was quicker
            raise UsageError(f"loop {folder.name!r} has ended", hint="look at it again")
        # We hold the lock: processes that an earlier owner started have no owner any more.
        leftovers = kill_abandoned(f"PYTEST_REFLEX_RUN_DIR={files.folder}")
        steps = equip(files)
        register_steps(host, steps)
        record = files.state.setup.get("record", "")
        scope = _scope(tree.project, files, tree.editable_files, record)
        watch = ProjectWatch.resume(scope, files.latest_events())
        if accept_changes:
            opening += accept_project(files, watch)
        yield ReflexLoop(
            files=files,
            watch=watch,
            free=free_steps(agents, files.state.setup.get("plugins", ())),
            agents=agents,
            opening=opening,
            leftovers=leftovers,
            hooks=host.hooks,
            project=tree.project,
            sequential=True,
            suspicion=steps.watch.find_tampering,
        )
    finally:
        files.close()


def runner_of(files: RunFiles, seconds: float) -> Runner:
    """Return what starts the sessions of a run as its first one was started."""
    session, project = files.state.setup["session"], project_of(files).project
    return Runner(
        arguments=session["arguments"],
        cwd=project / session["cwd"],
        seconds=seconds,
        bytecode=bytecode_of(loaded_sources(), project),
    )
