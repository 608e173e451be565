"""Everything a run of a procedure needs, checked before anything is written or spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.vote_cache import keep_votes
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.iterate.commits import Commits
from pytest_reflex.drivers.iterate.gates import Gates
from pytest_reflex.drivers.iterate.initial_state import IterateOptions
from pytest_reflex.drivers.iterate.model import Fragment, Procedure
from pytest_reflex.drivers.iterate.procedures import (
    bounds_of,
    find_procedure,
    gates_of,
    resolve_agent,
    tokens_of,
)
from pytest_reflex.drivers.iterate.progress import last_text
from pytest_reflex.drivers.iterate.prompt import compose, from_context, from_flag
from pytest_reflex.drivers.iterate.run_config import RunConfig
from pytest_reflex.drivers.iterate.state import run_folder
from pytest_reflex.drivers.iterate.tree import WorkingTree
from pytest_reflex.errors import UsageError
from pytest_reflex.host import Host, agent_kinds, make_agent, register_judge
from pytest_reflex.model.steps import Askable, Question, Reply
from pytest_reflex.settings import Settings
from pytest_reflex.settings.files import place_of

AI_COMMAND = "ai-cmd"
_NAME_A_TOOL = "name an AI tool: --agent NAME, or --ai-cmd COMMAND"
_NAME_AN_EDITOR = "name one that can, such as claude or codex, or set its edit_options"


@dataclass(frozen=True, slots=True)
class MissingTool:
    """What a dry run has in place of a tool that there is not, and why there is none."""

    name: str
    said: str

    def ask(self, question: Question) -> Reply:
        raise UsageError(self.said)


def prepare(
    name: str,
    options: IterateOptions,
    *,
    settings: Settings,
    host: Host,
    project: Path,
    runs: bool = True,
) -> RunConfig:
    """Return the work of a procedure; raises ReflexError with what is wrong with any part of it.

    Where nothing `runs`, no program need be installed.
    """
    procedure = find_procedure(name, settings, project)
    bounds = bounds_of(procedure, settings, no_caps=options.no_caps)
    agent = agent_for(procedure, options, settings, host, runs=runs)
    root = settings["iterate.root"]
    own = (root, *own_paths(project, project / root))
    contexts = [from_context(value, project) for value in options.contexts]
    replaced = {
        phase: [from_flag(path, project, f"--{phase.value}") for path in paths]
        for phase, paths in options.phases.items()
    }

    def prompt(number: int, total: int, feedback: Sequence[str], last: Mapping[str, Any]) -> str:
        said = [Fragment(content=text, origin="feedback") for text in feedback]
        return compose(
            procedure,
            number=number,
            total=total,
            contexts=[*contexts, *said],
            replaced=replaced,
            last=last_text(last, settings["iterate.recall"]),
        )

    tree = WorkingTree(project, own)
    work = RunConfig(
        procedure=procedure,
        bounds=bounds,
        agent=agent,
        prompt=prompt,
        tokens=partial(tokens_of, hooks=host.hooks),
        token_budget=settings["iterate.token_budget"],
        gates=_gates(procedure, settings, host, own, options.judge, project=project, runs=runs),
        fingerprint=tree.fingerprint,
        seen=tree.seen_files,
        folder=run_folder(project / root, name),
        commits=Commits(project, own) if options.commit and runs else None,
    )
    work.tokens(work.prompt(1, bounds.max_iterations, (), {}))
    return work


def _gates(
    procedure: Procedure,
    settings: Settings,
    host: Host,
    own: Sequence[str],
    judge: str | None,
    *,
    project: Path,
    runs: bool,
) -> Gates:
    """Return the gates; criteria among them have the judge that is named, else configured."""
    gates = gates_of(procedure, settings)
    if judge is not None or any(gate.criteria for gate in gates):
        register_judge(host, settings, judge, runs=runs)
        keep_votes(host.registry, settings)
    return Gates(gates, project=project, registry=host.registry, exclude=own, runs=runs)


def agent_for(
    procedure: Procedure,
    options: IterateOptions,
    settings: Settings,
    host: Host,
    *,
    runs: bool = True,
) -> Askable:
    """Return the agent of a procedure; raises UsageError for one that answers no prompts.

    Where nothing `runs`, it is a MissingTool then, unless a flag about the agent is wrong.
    """
    make = partial(make_agent, otherwise=_NAME_A_TOOL, runs=runs)
    chosen, kinds = resolve_agent(procedure, settings), agent_kinds(host)
    name = chosen.value
    changes: dict[str, Any] = {"loop.command_timeout": settings["iterate.timeout"]}
    if options.ai_command is None:
        known = name in settings["agents"]
        try:
            with _name_place(settings, ("agents", name) if known else chosen.path):
                agent = make(name, _change_settings(settings, changes), kinds)
        except UsageError as error:
            if runs:
                raise
            return MissingTool(name, f"nothing: {error}")
    else:
        name = AI_COMMAND
        changes["agents"] = {AI_COMMAND: {"command": options.ai_command}}
        with _name_flag():
            agent = make(name, _change_settings(settings, changes), kinds)
    if not isinstance(agent, Askable):
        if not runs:
            return MissingTool(name, f"agent {name}, which takes no prompt: {_NAME_A_TOOL}")
        raise UsageError(
            f"agent {name!r} cannot take the prompt of a procedure",
            hint=_NAME_A_TOOL,
        )
    if not isinstance(agent, CommandAgent):
        if options.timeout is not None:
            raise UsageError(f"agent {name!r} is not a command: it has no --timeout")
        return agent
    if not agent.can_edit:
        message = f"agent {name!r} cannot change files: it only answers"
        if not runs:
            return MissingTool(name, f"nothing: {message} ({_NAME_AN_EDITOR})")
        raise UsageError(message, hint=_NAME_AN_EDITOR)
    if runs and (variable := agent.unset_variable()):
        whose = "--ai-cmd" if options.ai_command is not None else f"agent {name!r}"
        raise UsageError(
            f"{whose}: its command names ${variable}, which is not set in the environment",
            hint=f"$${variable} stands for the text ${variable}",
        )
    return _set_timeout(agent, options.timeout)


def _set_timeout(agent: CommandAgent, flag: float | None) -> CommandAgent:
    """Return an agent with the time-out of a flag, and with the name of what set its time-out."""
    if flag is not None:
        return replace(agent, timeout=float(flag), timeout_of="--timeout")
    return replace(agent, timeout_of="iterate.timeout") if agent.timeout_of else agent


def _change_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    return replace(settings, values={**settings.values, **changes})


@contextmanager
def _name_place(settings: Settings, path: tuple[str, ...]) -> Iterator[None]:
    """Have a refusal name the place in the configuration that it is about."""
    try:
        yield
    except UsageError as error:
        problem = error.problems[0]
        place = problem.place or place_of(settings, path)
        raise UsageError(problem.message, place=place, hint=problem.hint) from None


@contextmanager
def _name_flag() -> Iterator[None]:
    """Have a refusal name the flag, and not a table that no file has."""
    try:
        yield
    except UsageError as error:
        problem = error.problems[0]
        message = problem.message.replace(f"agents.{AI_COMMAND}.command", "--ai-cmd")
        message = message.replace(f"agent {AI_COMMAND!r}", "--ai-cmd")
        raise UsageError(message, hint=problem.hint) from None
