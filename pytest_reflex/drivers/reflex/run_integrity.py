"""What a run holds of its project: what it is sealed against at any time, and what it looks at.

At the start one hash is taken over rules, checks, thresholds and plugins, and a manifest of the
files that they come from. Both are in run_started, so that a resume notices what was done while
nothing was compared. All else in the project is for `project_watch`; what that looks at comes from
the criteria of a run, its commands and its settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.checks.judged import most_votes
from pytest_reflex.checks.registry import Registry, commands_of, compile_rules
from pytest_reflex.drivers.common.judging_files import (
    Command,
    commands_in,
    files_beyond,
    files_of_commands,
    find_loaded_sources,
    outputs_of,
    patterns_of,
    sources_of,
)
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.reflex.history import RecordedRun
from pytest_reflex.drivers.reflex.project_watch import ProjectWatch, WatchScope
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.integrity.manifest import Manifest, compare, look_again, take
from pytest_reflex.integrity.outside import programs_of
from pytest_reflex.integrity.patterns import escape_path, is_meant
from pytest_reflex.integrity.project import is_left_out
from pytest_reflex.integrity.tool_inputs import pytest_files, up_to
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.plain import list_first
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import CompiledCheck

_LISTED = 3


def rules_hash(criteria: Criteria, plugins: Iterable[str] = ()) -> str:
    """Return the SHA-256 that changes where criteria or the source of a plugin change."""
    text = json.dumps(criteria.to_json(), sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in plugins:
        for path in sources_of(name):
            digest.update(f"\0{name}\0{path.name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def manifest_of(
    *, files: Iterable[Path], plugins: Iterable[str], artifact: Path, project: Path
) -> Manifest:
    """Return the manifest of what the rules and the plugins of a run are made of.

    `files` are those that the criteria and prompts were read from; `artifact` is the run's: what
    pytest would read beside it is held too.
    """
    plugins = list(plugins)
    patterns = [escape_path(_inside(path, project)) for path in files]
    patterns += [pattern for plugin in plugins for pattern in patterns_of(plugin)]
    patterns += pytest_files([_inside(artifact.parent, project)])
    if plugins:
        patterns += [escape_path(_inside(path, project)) for path in find_loaded_sources(project)]
    return take(patterns, root=project)


def rule_files(
    *,
    files: Iterable[Path],
    plugins: Iterable[str],
    artifact: Path,
    project: Path,
    link_base: Path | None = None,
) -> list[str]:
    """Return patterns of what holds the rules: criteria, prompts, plugins, pytest's own files.

    No result may be written there. `link_base` is the folder of the draft; the other parameters are
    those of `manifest_of`.
    """
    folders = [*up_to(project, artifact)]
    if link_base is not None:
        folders += up_to(project, link_base / "draft")
    patterns = [escape_path(_inside(path, project)) for path in files]
    patterns += pytest_files(_inside(folder, project) for folder in dict.fromkeys(folders))
    return patterns + [pattern for plugin in plugins for pattern in patterns_of(plugin)]


def holds_rules(path: Path, patterns: Iterable[str], project: Path) -> bool:
    """Return whether a file, or what a link leads to, is one that patterns mean."""
    base = project.resolve()
    wanted = [PurePath(os.path.realpath(base / pattern)).as_posix() for pattern in patterns]
    return is_meant(path.resolve().as_posix(), wanted)


def _inside(path: Path, project: Path) -> Path:
    """Return a path relative to the project where it lies there: a project may be moved."""
    full, base = path.absolute(), project.absolute()
    return full.relative_to(base) if full.is_relative_to(base) else full


class IntegrityWatch:
    """Looks whether things are as the first event of a run has them.

    A run begun by a version without manifests is held by its seal alone.
    """

    def __init__(self, started: Mapping[str, Any], project: Path) -> None:
        self._seal = started["seal"]
        self._plugins = started["setup"].get("plugins", ())
        self._criteria = started["criteria"]
        wire = started.get("sealed")
        self._manifest = Manifest.from_json(wire, project) if wire else None

    def find_tampering(self) -> str:
        """Return which files were added, changed or removed since the start; empty for none."""
        if self._manifest is None:
            same = rules_hash(Criteria.from_json(self._criteria), self._plugins) == self._seal
            return "" if same else "the rules or the code of a plugin were changed"
        found = look_again(self._manifest)
        changes = compare(self._manifest, found)
        if not changes:
            self._manifest = found
        return format_changes(map(str, changes))


def format_changes(changes: Iterable[str]) -> str:
    """Return some changes in one line."""
    return list_first(changes, _LISTED, "; ")


FREE_AGENTS = ("offline", "replay")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedInputs:
    """What is to be known of the checks of a run: `programs` are what they start, as patterns.

    The agent may change what `may_change` means, checks may write what `writes` means;
    `unprotected` are files that checks run and that the agent may change all the same; `in_process`
    says that no check starts a program or asks a judge, who is asked for so many `votes` at most.
    """

    programs: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    unprotected: tuple[str, ...] = ()
    in_process: bool = False
    votes: int = 0


def inputs_of(
    criteria: Criteria,
    registry: Registry,
    *,
    project: Path,
    artifact: Path,
    may_change: Iterable[str] = (),
    judges: Iterable[Command] = (),
) -> ProtectedInputs:
    """Return what has to be held for criteria; `judges` are commands that judge beside checks."""
    compiled = compile_rules(criteria.rules, criteria.vars, registry)
    checks = tuple(compiled.values())
    declared = [command.get("argv") or () for command in criteria.commands.values()]
    commands = [*(one.argv for one in commands_of(checks)), *declared, *judges]
    written = [*commands_in(criteria, checks), *judges]
    named = list(files_of_commands(written, project=project, artifact=artifact))
    scope = WatchScope(project=project, may_change=tuple(may_change))
    return ProtectedInputs(
        # Where no look at the project goes, a file is held by itself.
        programs=(
            *programs_of(commands, project),
            *([escape_path(sys.executable)] if any(commands) else ()),
            *filter(is_left_out, named),
            *files_beyond(written, project),
        ),
        may_change=scope.may_change,
        writes=writes_of(checks),
        unprotected=tuple(path for path in named if scope.is_free(path.replace("[[]", "["))),
        in_process=not any(commands) and not _asks_or_starts(criteria, checks),
        votes=most_votes(criteria.rules, compiled),
    )


def _asks_or_starts(criteria: Criteria, checks: Sequence[CompiledCheck]) -> bool:
    """Return whether a check asks a judge, or may start a program; prose may become either."""
    is_prose = not all(rule.checks for rule in criteria.rules)
    return is_prose or not all(check.in_process for check in checks)


def writes_of(checks: Sequence[CompiledCheck]) -> tuple[str, ...]:
    """Return what checks declare to write: globs, reports, outputs of commands."""
    found = [glob for check in checks for glob in check.writes]
    for command in commands_of(checks):
        if command.written:
            found += outputs_of(command.written)
    return tuple(dict.fromkeys(found))


def free_steps(
    agents: Mapping[Step, str], plugins: Iterable[str], holding: ProtectedInputs | None = None
) -> frozenset[Step]:
    """Return the steps that a part of this program answers, where no plugin may answer before.

    EVALUATE is one of them where all others are, and `holding` says that checks need no agent.
    """
    if list(plugins):
        return frozenset()
    free = {step for step, name in agents.items() if name in FREE_AGENTS}
    if holding and holding.in_process and agents and len(free) == len(agents):
        free.add(Step.EVALUATE)
    return frozenset(free)


def watch_again(files: RecordedRun, project: Path) -> ProjectWatch:
    """Return the watch of a run that goes on; of an older run it begins now."""
    setup = files.state.setup
    named = (setup.get(key) for key in ("output", "input", "record"))
    own = own_paths(project, files.folder.parent, *named)
    return ProjectWatch.resume(WatchScope(project=project, apart=own), files.latest_events())


def accept_project(files: RunFiles, watch: ProjectWatch) -> tuple[Event, ...]:
    """Take the project as it is now, and return the durable event that says so, if any."""
    found = watch.look()
    if not found:
        return ()
    paths = [change.path for change in found.changes]
    payload = {"paths": paths, **watch.accept(found)}
    done = StepOutcome(kind=EventKind.CHANGES_ACCEPTED, step=files.state.step, payload=payload)
    return (files.commit(done),)
