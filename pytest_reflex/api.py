"""The stable Python interface: the same evaluation and the same loops as on the command line.

Import it as ``import pytest_reflex``: the names are there without importing anything heavy first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Level
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import Target

Events = Generator["DriverEvent", None, None]

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.arguments import Budget
    from pytest_reflex.drivers.common.events import DriverEvent
    from pytest_reflex.drivers.reflex.driver import ReflexLoop


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
    """Evaluate one artifact (a file or a folder) and return its evaluation.

    `criteria` is a template's name, a file, or criteria already loaded; `phase` "A" or "B"
    (default B, or A where there is no rule of B); `threshold` overrides the criteria's own;
    `root` is the working directory of commands (default: the current one); with `outside`, links
    that lead out of a folder are followed.
    `judge` names the agent that is the LLM judge (a preset, or one of the configuration);
    without it LLM-graded rules are not measured, whatever the configuration says. `judge_cache`
    and `judge_when` of the configuration count.
    Raises ReflexError (CriteriaError, ArtifactError, UsageError) where nothing can be evaluated.
    """
    from contextlib import ExitStack

    from pytest_reflex.checks.run import evaluate as run_checks
    from pytest_reflex.host import open_host, register_judge

    host, folder = open_host(), Path(root) if root else Path.cwd()
    target = make_target(
        artifact,
        criteria,
        registry=host.registry,
        phase=phase,
        threshold=threshold,
        variables=variables or {},
        root=folder,
        outside=outside,
    )
    with ExitStack() as votes:
        if judge:
            from pytest_reflex.agents.vote_cache import vote_cache
            from pytest_reflex.settings import load

            settings = load(folder)
            register_judge(host, settings, judge)
            votes.enter_context(vote_cache(host.registry, settings, folder))
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
    agents: Mapping[str, str] | None = None,
    alias: str | None = None,
    max_iterations: int | None = None,
    budget: Budget | None = None,
    variables: Mapping[str, Any] | None = None,
    plugins: Iterable[object] = (),
    project: str | Path | None = None,
) -> Events:
    """Start a Reflex loop and yield its events, each but `waiting` durable already.

    `agent` answers all steps, `agents` name others by step (``{"refine": "claude"}``). `budget` is
    a mapping with seconds, usd, tokens or calls, or an amount in usd. `plugins` are names of
    modules, or objects with hooks; they are asked before those of the configuration.
    Calling it is the confirmation of criteria and limits. Close the iterator at any time: the run
    stays on disk, and `resume_loop` continues it.
    """
    from dataclasses import replace

    from pytest_reflex.drivers.common.arguments import (
        budget_of,
        by_step_of,
        settings_of,
        split_plugins,
    )
    from pytest_reflex.drivers.reflex.setup import NewLoop, begin, propose
    from pytest_reflex.host import judge_command, judge_name, open_host, register_agents

    folder = Path(project) if project else Path.cwd()
    named, objects = split_plugins(plugins)
    flags = {
        "agent": agent,
        "loop.max_iterations": max_iterations,
        "loop.budget": budget_of(budget),
    }
    settings = settings_of(folder, flags, named)
    host = open_host((*settings["plugins"], *objects), folder)
    request = NewLoop(
        task=task,
        criteria=str(criteria),
        alias=alias,
        draft=Path(draft) if draft else None,
        variables=variables or {},
        confirmed_by="python",
    )
    proposal = propose(request, settings=settings, registry=host.registry, project=folder)
    names = register_agents(host, settings, by_step_of(None, agents))
    request = replace(request, judge=judge_name(host), judge_command=judge_command(host))
    proposal = replace(proposal, request=request)
    run = begin(proposal, settings=settings, project=folder, hooks=host.hooks, agents=names)
    return _drive(run, watched=bool(objects))


def resume_loop(
    alias: str | None = None,
    *,
    agent: str | None = None,
    agents: Mapping[str, str] | None = None,
    max_iterations: int | str | None = None,
    budget: Budget | None = None,
    allow: Iterable[str] = (),
    plugins: Iterable[object] = (),
    project: str | Path | None = None,
) -> Events:
    """Continue an interrupted loop (default: the current one) and yield its further events.

    Agents and named plugins are those with which it was begun; `agent` and `agents` take their
    place, and `plugins` that were given as objects are to be given again. With `max_iterations` or
    `budget` a loop that had stopped goes on, as by ``pytest-reflex loop extend``; ``"+2"`` is two
    more. `allow` names modules that the agent had added, where the loop ended for these alone.
    """
    from pytest_reflex.drivers.common.arguments import (
        by_step_of,
        pairs_of,
        settings_of,
        split_plugins,
    )
    from pytest_reflex.drivers.reflex.extend import ExtendRequest, extend_limits, reopen
    from pytest_reflex.drivers.reflex.run_status import find_run
    from pytest_reflex.drivers.reflex.setup import resumable, take_up
    from pytest_reflex.host import open_host, register_agents

    folder = Path(project) if project else Path.cwd()
    settings = settings_of(folder)
    root = folder / settings["loop.root"]
    more = ExtendRequest(
        max_iterations=None if max_iterations is None else str(max_iterations),
        budget=pairs_of(budget),
        allow=tuple(allow),
    )
    goes_further = more != ExtendRequest()
    run = find_run(root, alias) if goes_further else resumable(root, alias)
    if goes_further:
        extend_limits(run.state, more)
    setup = run.state.setup
    settings = settings_of(
        folder,
        {"loop.evaluator": setup.get("evaluator"), "judge_when": setup.get("judge_when", "always")},
    )
    recorded = setup["agents"]
    judge = setup.get("judge", "" if recorded else None)  # another program names none
    named, objects = split_plugins(plugins)
    known = dict.fromkeys((*setup.get("plugins", settings["plugins"]), *named))
    host = open_host((*known, *objects), folder)
    names = register_agents(host, settings, by_step_of(agent, agents), recorded, judge=judge)
    common = {"project": folder, "hooks": host.hooks, "agents": names}
    if goes_further:
        again = reopen(run.folder, more, confirmed_by="python", **common)
    else:
        again = take_up(run.folder, **common)
    return _drive(again, watched=bool(named or objects))


def _drive(run: AbstractContextManager[ReflexLoop], *, watched: bool) -> Events:
    """Yield the events of a run; `watched` has every step looked at: objects may answer them."""
    from dataclasses import replace

    with run as loop:
        yield from (replace(loop, free=frozenset()) if watched else loop).events()
