"""What a goal is verified by, tests that exist at its start too, and whether that was changed.

Promises: no file that is not there yet is found, so that tests can be added.
Limits: data that tests read is not found, nor code of other tests than those in the usual places;
of more than 2,000 files those that come last by their path are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from pathlib import Path

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common.gate_files import find_relied_files
from pytest_reflex.drivers.common.kept_files import KeptFiles
from pytest_reflex.drivers.common.measure import CommandMeasure
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.drivers.common.protection import ReliedFiles
from pytest_reflex.drivers.common.record import RUNNING, DriverRecord
from pytest_reflex.drivers.common.shell_words import simple_commands, with_variables
from pytest_reflex.drivers.goal.claims import words
from pytest_reflex.drivers.goal.model import GoalState
from pytest_reflex.drivers.goal.run_state import GoalStep
from pytest_reflex.drivers.goal.spec import may_change, tests_may_change
from pytest_reflex.errors import LockedError, StateError
from pytest_reflex.integrity.patterns import NOT_ENTERED, escape_path, is_meant
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import copy_environment

MOST = 2_000
_RUNNERS = words(
    """
    pytest py.test unittest nose2 trial tox nox hatch make npm npx pnpm yarn bun deno jest vitest
    mocha cargo go rake rspec mvn gradle ctest phpunit mix dotnet swift bazel
    """
)
_TEST = re.compile(r"tests?_.*|.*[_.-](?:tests?|spec)\.\w+|tests?\.\w+", re.IGNORECASE)
_FOLDERS = words("test tests __tests__ spec specs")
_CODE = re.compile(r".*\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kts?|php|cs|exs?|swift|sh|cc?|cpp)")


def find_tests(commands: Iterable[str], project: Path) -> list[Path]:
    """Return the tests that commands run, and what would be imported in their place."""
    found: dict[Path, None] = {}
    runs = False
    for command in commands:
        for argv in simple_commands(with_variables(command)):
            names = [os.path.basename(word) for word in argv]
            runs = runs or not _RUNNERS.isdisjoint(names)
            if "unittest" in names:
                for word in argv[names.index("unittest") + 1 :]:
                    found |= dict.fromkeys(_modules(word, project))
    if runs:
        found |= dict.fromkeys(islice(_tests_below(project), MOST))
    return list(found)


def _modules(name: str, project: Path) -> Iterator[Path]:
    """Yield the file of a module by its dotted name, and the places that come before it."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return
    for count in range(1, len(parts) + 1):
        stem = project.joinpath(*parts[:count])
        if stem.with_name(f"{stem.name}.py").is_file():
            yield from (stem.with_name(stem.name + end) for end in (".py", *EXTENSION_SUFFIXES))
            yield stem / "__init__.py"
        elif stem.is_dir():
            yield stem / "__init__.py"


def _tests_below(project: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(set(folders) - NOT_ENTERED)
        is_for_tests = not _FOLDERS.isdisjoint(Path(folder).relative_to(project).parts)
        for name in sorted(files):
            if _CODE.fullmatch(name) and (is_for_tests or _TEST.fullmatch(name)):
                yield Path(folder, name)


SETTINGS = "pytest-reflex.toml"
KEPT = "protected"


def find_verifying_files(
    state: GoalState, *, project: Path, registry: Registry, files: Iterable[Path] = ()
) -> ReliedFiles:
    """Return what the criteria of a goal are verified by, and some more `files`.

    What the spec has changed is left out.
    """
    plans = state.started
    run = [one.command for one in plans if one.command]
    changed = may_change(state.spec, run, project)
    held = [] if tests_may_change(state.spec) else find_tests(run, project)
    judged = list(changed)
    commands: list[str | tuple[str, ...]] = []
    for plan in plans:
        if plan.command:
            command = CommandMeasure(plan.command, folder=project, timeout=1, runs=False)
            commands.append(command.argv)
        else:
            artifacts = (plan.artifact,) if plan.artifact else ()
            criteria = CriteriaMeasure(plan.criteria, artifacts, project=project, registry=registry)
            held += criteria.files
            commands += [one if isinstance(one, str) else tuple(one) for one in criteria.commands]
            judged += artifacts or [
                escape_path(path.relative_to(project)) for path in criteria.find_artifacts()
            ]
    found = find_relied_files(
        (), commands, project=project, environment=copy_environment(), files=held, judged=judged
    )
    base = os.path.abspath(project)

    def is_held(path: str) -> bool:
        return not is_meant(os.path.relpath(path, base), changed)

    kept = {path: sections for path, sections in found.files.items() if is_held(path)}
    kept |= {os.path.abspath(path): () for path in (project / SETTINGS, *files)}
    return replace(found, files=kept, programs=frozenset(filter(is_held, found.programs)))


def open_kept_files(
    project: Path,
    folder: Path,
    record: DriverRecord,
    relied: ReliedFiles,
    *,
    is_driven: bool,
    say: Callable[[str], object],
) -> KeptFiles:
    """Return what is kept of a run that goes on, as it was when it began.

    What was changed while an agent worked that was killed is put back; what a person changed since
    is taken as it is now. Raises LockedError where a process drives the run, StateError where an
    agent has worked and what was kept cannot be read: it is unknown then what verified the goal.
    """
    if is_driven:
        raise LockedError(f"another process is running {record.run}")
    began = KeptFiles.load(project, folder / KEPT)
    if began is None and record.paid.calls:
        raise StateError(
            f"what verifies {record.run} was kept in {folder / KEPT}, and cannot be read any more",
            hint="look at what has changed; then pytest-reflex goal cancel, and goal start",
        )
    changed = began.changed_names() if began else []
    if began is not None and not changed:
        return began
    if began is not None:
        shown = one_line(", ".join(changed), 300)
        if record.status == RUNNING and record.data["at"] == GoalStep.WORK:
            began.restore()
            say(f"put back what was changed while an agent worked: {shown}")
            return began
        say(f"changed since the last session, and accepted as it is now: {shown}")
    return KeptFiles(project, folder / KEPT, relied)
