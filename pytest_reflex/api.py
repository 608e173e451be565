"""The stable Python interface: the same evaluation and the same loop as on the command line.

Import it as ``import pytest_reflex``: the names are there without importing anything heavy first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.errors import UsageError
from pytest_reflex.model.events import Event
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Level

if TYPE_CHECKING:
    from pytest_reflex.settings import Settings


def evaluate(
    artifact: str | Path,
    criteria: str | Path | Criteria,
    *,
    phase: str | None = None,
    threshold: float | str | None = None,
    variables: Mapping[str, Any] | None = None,
    root: str | Path | None = None,
    judge: str | None = None,
    outside: bool = False,
) -> Evaluation:
    """Judge one artifact (a file or a folder) and return its evaluation.

    `criteria` is a template's name, a file, or criteria already loaded; `phase` "A" or "B"
    (default B, or A where there is no rule of B); `threshold` overrides the criteria's own;
    `root` is the working directory of commands (default: the current one); with `outside`, links
    that lead out of a folder are followed.
    `judge` names an agent that judges what no program can (a preset, or one of the configuration);
    without it nobody does, whatever the configuration says.
    Raises ReflexError (CriteriaError, ArtifactError, UsageError) where nothing can be judged.
    """
    from pytest_reflex.checks.run import evaluate as run_checks
    from pytest_reflex.host import employ_judge, open_host

    host = open_host()
    if judge:
        from pytest_reflex.settings import load

        employ_judge(host, load(Path(root) if root else Path.cwd()), judge)
    target = make_target(
        artifact,
        criteria,
        registry=host.registry,
        phase=phase,
        threshold=threshold,
        variables=variables or {},
        root=Path(root) if root else Path.cwd(),
        outside=outside,
    )
    return run_checks(target, host.registry)


def make_target(
    artifact: str | Path,
    criteria: str | Path | Criteria,
    *,
    registry: Any,
    phase: str | None,
    threshold: float | str | None,
    variables: Mapping[str, Any],
    root: Path,
    outside: bool = False,
) -> Target:
    """Return the target that the arguments of `evaluate` name."""
    from pytest_reflex.criteria.header import parse_threshold
    from pytest_reflex.criteria.load import load_criteria
    from pytest_reflex.criteria.suite import make_target as make

    if artifact == "":
        raise UsageError("no artifact was named: the name is empty", hint="name a file or a folder")
    if not isinstance(criteria, Criteria):
        criteria = load_criteria(criteria, registry=registry, variables=variables)
    return make(
        criteria,
        Path(artifact),
        level=None if phase is None else _level(phase),
        threshold=None if threshold is None else parse_threshold(str(threshold)),
        root=root,
        outside=outside,
    )


def _level(word: str) -> Level:
    if word not in ("A", "B"):
        raise UsageError(f"there is no phase {word!r}", hint="A or B")
    return Level(word)


def run_loop(
    task: str,
    *,
    criteria: str | Path,
    draft: str | Path | None = None,
    agent: str | None = None,
    alias: str | None = None,
    max_iterations: int | None = None,
    project: str | Path | None = None,
) -> Iterator[Event]:
    """Start a Reflex loop and yield its events, each of them durable already.

    Calling it is the confirmation of criteria and limits. Close the iterator at any time: the run
    stays on disk, and `resume_loop` continues it.
    """
    from dataclasses import replace

    from pytest_reflex.drivers.reflex.setup import NewLoop, begin, propose
    from pytest_reflex.host import employ, judge_command, judge_name, open_host

    folder = Path(project) if project else Path.cwd()
    settings = _settings(folder, {"agent": agent, "loop.max_iterations": max_iterations})
    host = open_host(settings["plugins"], folder)
    order = NewLoop(
        task=task,
        criteria=str(criteria),
        alias=alias,
        draft=Path(draft) if draft else None,
        confirmed_by="python",
    )
    proposal = propose(order, settings=settings, registry=host.registry, project=folder)
    agents = employ(host, settings)
    order = replace(order, judge=judge_name(host), judge_command=judge_command(host))
    proposal = replace(proposal, order=order)
    run = begin(proposal, settings=settings, project=folder, hooks=host.hooks, agents=agents)
    return _drive(run)


def resume_loop(alias: str | None = None, *, project: str | Path | None = None) -> Iterator[Event]:
    """Continue an interrupted loop (default: the current one) and yield its further events."""
    from pytest_reflex.drivers.reflex.setup import resumable, take_up
    from pytest_reflex.host import employ, open_host

    folder = Path(project) if project else Path.cwd()
    settings = _settings(folder)
    run = resumable(folder / settings["loop.root"], alias)
    host = open_host(settings["plugins"], folder)
    setup = run.state.setup
    employ(host, settings, recorded=setup["agents"], judge=setup.get("judge", ""))
    return _drive(take_up(run.folder, project=folder, hooks=host.hooks))


def _settings(project: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force; a key that nobody reads is a UserWarning."""
    from pytest_reflex.settings import load

    settings = load(project, flags)
    for problem in settings.unknown:
        warnings.warn(str(problem), stacklevel=3)
    return settings


def _drive(run: AbstractContextManager[Any]) -> Iterator[Event]:
    with run as loop:
        yield from loop.events()
