"""What a new run looks at in its project: from its criteria, its commands and its settings."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_reflex.checks.commands import commands_of_rules
from pytest_reflex.checks.registry import Registry
from pytest_reflex.loops.judges import Command, files_of_commands, outputs_of
from pytest_reflex.loops.project_watch import ProjectWatch, Scope
from pytest_reflex.loops.runfiles import RunFiles
from pytest_reflex.loops.steps import Done
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.rules import CheckSpec, Criteria
from pytest_reflex.model.words import Step
from pytest_reflex.seals.outside import programs_of

FREE_AGENTS = ("offline", "replay")
WRITES = "writes"


def programs_in(
    criteria: Criteria, registry: Registry, project: Path, more: Iterable[Command] = ()
) -> tuple[str, ...]:
    """Return patterns of the programs of all checks, of what an agent may call, and of `more`."""
    of_checks = commands_of_rules(criteria.rules, criteria.vars, registry)
    declared = (command.get("argv") or () for command in criteria.commands.values())
    return tuple(programs_of([*(one.argv for _, one in of_checks), *declared, *more], project))


def writes_in(criteria: Criteria, registry: Registry) -> tuple[str, ...]:
    """Return what the checks of criteria declare to write: globs, reports, outputs of commands."""
    found: list[str] = []
    for rule in criteria.rules:
        for spec in rule.checks:
            for each in spec.alternatives or (spec,):
                found += _declared(each, criteria.vars)
    for _, command in commands_of_rules(criteria.rules, criteria.vars, registry):
        if command.written:
            found += outputs_of(command.written)
    return tuple(dict.fromkeys(found))


def _declared(spec: CheckSpec, variables: Mapping[str, Any]) -> Iterator[str]:
    globs, report = spec.params.get(WRITES, ()), spec.params.get("report")
    yield from [globs] if isinstance(globs, str) else globs
    if isinstance(report, str):
        yield report


def unprotected(
    commands: Iterable[Command], *, project: Path, artifact: Path, scope: Scope
) -> list[str]:
    """Return the files that commands of checks name and that the agent may change all the same."""
    named = files_of_commands(commands, project=project, artifact=artifact)
    return sorted(path for path in named if scope.is_free(path.replace("[[]", "[")))


def own_paths(project: Path, root: Path, *paths: str | Path | None) -> tuple[str, ...]:
    """Return the paths that a run writes itself, relative to the project; `root` is of its state.

    A file to which the output of this process goes is one of them. What lies elsewhere is left out.
    """
    base = os.path.realpath(project)
    full = [os.path.realpath(project / one) for one in (root, *paths) if one]
    full += _output_files()
    inside = (os.path.relpath(one, base) for one in full if one.startswith(base + os.sep))
    return tuple(dict.fromkeys(one.replace(os.sep, "/") for one in inside))


def _output_files() -> Iterator[str]:
    for descriptor in (1, 2):
        with suppress(OSError):
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                yield os.path.realpath(f"/dev/fd/{descriptor}")


def free_steps(agents: Mapping[Step, str], plugins: Iterable[str]) -> frozenset[Step]:
    """Return the steps that a part of this program answers, where no plugin may answer before."""
    if list(plugins):
        return frozenset()
    return frozenset(step for step, name in agents.items() if name in FREE_AGENTS)


def watch_again(files: RunFiles, project: Path) -> ProjectWatch:
    """Return the watch of a run that goes on; of an older run it begins now."""
    setup = files.state.setup
    named = (setup.get(key) for key in ("output", "input", "record"))
    own = own_paths(project, files.folder.parent, *named)
    return ProjectWatch.resume(Scope(project=project, apart=own), files.latest_events())


def accepted(files: RunFiles, watch: ProjectWatch) -> tuple[Event, ...]:
    """Take the project as it is now, and return the durable event that says so, if any."""
    found = watch.look()
    if not found:
        return ()
    paths = [change.path for change in found.changes]
    payload = {"paths": paths, **watch.accept(found)}
    done = Done(kind=EventKind.CHANGES_ACCEPTED, step=files.state.step, payload=payload)
    return (files.commit(done),)
