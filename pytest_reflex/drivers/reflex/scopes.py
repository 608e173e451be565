"""What a new run looks at in its project: from its criteria, its commands and its settings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.checks.commands import commands_of_rules
from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common.judging_files import (
    Command,
    commands_in,
    files_beyond,
    files_of_commands,
    outputs_of,
)
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.reflex.project_watch import ProjectWatch, Scope
from pytest_reflex.drivers.reflex.recorded import RecordedRun
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.rules import CheckSpec, Criteria
from pytest_reflex.model.words import Step
from pytest_reflex.seals.left_out import is_left_out
from pytest_reflex.seals.outside import programs_of
from pytest_reflex.seals.patterns import escaped

FREE_AGENTS = ("offline", "replay")
WRITES = "writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What is to be known of the checks of a run: `programs` are what they start, as patterns.

    The agent may change what `may_change` means, checks may write what `writes` means;
    `unprotected` are files that checks run and that the agent may change all the same.
    """

    programs: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    unprotected: tuple[str, ...] = ()


def holding_of(
    criteria: Criteria,
    registry: Registry,
    *,
    project: Path,
    artifact: Path,
    may_change: Iterable[str] = (),
    judges: Iterable[Command] = (),
) -> Holding:
    """Return what has to be held for criteria; `judges` are commands that judge beside checks."""
    started = [one for _, one in commands_of_rules(criteria.rules, criteria.vars, registry)]
    declared = [command.get("argv") or () for command in criteria.commands.values()]
    commands = [*(one.argv for one in started), *declared, *judges]
    written = [*commands_in(criteria, registry), *judges]
    named = list(files_of_commands(written, project=project, artifact=artifact))
    scope = Scope(project=project, may_change=tuple(may_change))
    return Holding(
        # Where no look at the project goes, a file is held by itself.
        programs=(
            *programs_of(commands, project),
            *([escaped(sys.executable)] if any(commands) else ()),
            *filter(is_left_out, named),
            *files_beyond(written, project),
        ),
        may_change=scope.may_change,
        writes=writes_in(criteria, registry),
        unprotected=tuple(path for path in named if scope.is_free(path.replace("[[]", "["))),
    )


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


def free_steps(agents: Mapping[Step, str], plugins: Iterable[str]) -> frozenset[Step]:
    """Return the steps that a part of this program answers, where no plugin may answer before."""
    if list(plugins):
        return frozenset()
    return frozenset(step for step, name in agents.items() if name in FREE_AGENTS)


def watch_again(files: RecordedRun, project: Path) -> ProjectWatch:
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
