"""The Python interface of the iteration loop; `pytest_reflex` has its names."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.arguments import Budget, budget_of, settings_of, split_plugins
from pytest_reflex.drivers.common.events import DriverEvent
from pytest_reflex.drivers.iterate import iteration_loop
from pytest_reflex.drivers.iterate.initial_state import IterateOptions, nothing_to_resume
from pytest_reflex.drivers.iterate.procedures import check_name
from pytest_reflex.drivers.iterate.run_config import RunConfig
from pytest_reflex.drivers.iterate.setup import prepare
from pytest_reflex.drivers.iterate.state import read_state
from pytest_reflex.errors import UsageError
from pytest_reflex.host import open_host

Events = Generator[DriverEvent, None, None]


def run_iterate(
    procedure: str,
    *,
    agent: str | None = None,
    ai_command: str | None = None,
    budget: Budget | None = None,
    max_iterations: int | None = None,
    failure_threshold: int | None = None,
    contexts: Iterable[str] = (),
    plugins: Iterable[object] = (),
    fresh: bool = False,
    commit: bool = False,
    project: str | Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Events:
    """Run a procedure and yield its events, each of them durable already.

    `agent` names the AI tool, or `ai_command` is its command; `contexts` are texts or files that
    stand before the prompt; `plugins` and `budget` are those of `run_loop`. With `fresh` it begins
    anew where a run was interrupted; with `commit` git keeps what each iteration changed. `say`
    gets the lines of the log. The tool works in the `project`, which is the working directory while
    the iterator is at work.
    Close the iterator at any time: the run stays on disk, and `resume_iterate` continues it.
    """

    folder = (Path(project) if project else Path.cwd()).absolute()
    options = _options(agent, ai_command, contexts, budget_of(budget), commit=commit)
    flags = {"max_iterations": max_iterations, "failure_threshold": failure_threshold}
    work, root = _work(procedure, options, flags, plugins, folder)
    begin = iteration_loop.begin_new(work, options, fresh=fresh)
    return _inside(folder, iteration_loop.events(work, begin, root=root, say=say or _ignore))


def resume_iterate(
    procedure: str,
    *,
    agent: str | None = None,
    ai_command: str | None = None,
    budget: Budget | None = None,
    max_iterations: int | None = None,
    failure_threshold: int | None = None,
    contexts: Iterable[str] = (),
    plugins: Iterable[object] = (),
    reset_failures: bool = False,
    project: str | Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Events:
    """Continue the run of a procedure and yield its further events.

    Tool, limits and contexts are those with which it was begun, unless they are given; a `budget`
    of ``"usd=+1"`` allows one more. `reset_failures` counts failures from 0 again.
    """

    folder = (Path(project) if project else Path.cwd()).absolute()
    settings = settings_of(folder)
    found = read_state(folder / settings["iterate.root"], procedure)
    if found is None:
        raise nothing_to_resume(procedure)
    before = IterateOptions.from_json(found.options)
    limits = budget_of(budget, {**settings["iterate.budget"], **before.budget})
    options = _options(agent, ai_command, contexts, limits).over(before)
    flags = {
        "max_iterations": found.max_iterations if max_iterations is None else max_iterations,
        "failure_threshold": failure_threshold or found.failure_threshold,
    }
    work, root = _work(procedure, options, flags, plugins, folder)
    begin = iteration_loop.begin_again(work, options, reset_failures=reset_failures)
    return _inside(folder, iteration_loop.events(work, begin, root=root, say=say or _ignore))


def _ignore(text: str) -> None:
    """Ignore it."""


def _options(
    agent: str | None,
    command: str | None,
    contexts: Iterable[str],
    budget: dict[str, float] | None,
    *,
    commit: bool = False,
) -> IterateOptions:

    if agent is not None and command is not None:
        raise UsageError("agent and ai_command cannot be combined", hint="give one of them")
    given = tuple(contexts)
    return IterateOptions(
        agent=agent, ai_command=command, contexts=given, budget=budget or {}, commit=commit
    )


def _work(
    procedure: str,
    options: IterateOptions,
    flags: Mapping[str, Any],
    plugins: Iterable[object],
    folder: Path,
) -> tuple[RunConfig, Path]:
    """Return the work of a procedure, and the folder in which its state is."""

    named, objects = split_plugins(plugins)
    given = {f"iterate.{name}": value for name, value in flags.items()}
    given |= {"iterate.agent": options.agent, "iterate.budget": options.budget or None}
    settings = settings_of(folder, given, named)
    check_name(procedure, settings)
    with chdir(folder):
        host = open_host((*settings["plugins"], *objects), folder)
        work = prepare(procedure, options, settings=settings, host=host, project=folder)
    return work, folder / settings["iterate.root"]


def _inside(folder: Path, events: Events) -> Events:
    """Yield events; the folder is the working directory while they come about."""
    try:
        while True:
            with chdir(folder):
                event = next(events, None)
            if event is None:
                return
            yield event
    finally:
        with chdir(folder):
            events.close()
