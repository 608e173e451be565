"""The composition root: one plugin manager, the built-ins registered like anyone's plugins."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from pytest_reflex import hookspecs
from pytest_reflex.agents.router import AgentRouter, HooksOnlyAgent
from pytest_reflex.checks import registry as checks
from pytest_reflex.errors import ReflexError, UsageError, did_you_mean
from pytest_reflex.model.enums import Step
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.steps import Agent, Askable
from pytest_reflex.model.targets import Target
from pytest_reflex.settings import STEPS, Settings
from pytest_reflex.settings.files import place_of

if TYPE_CHECKING:
    from pytest_reflex.agents.command import CommandAgent
    from pytest_reflex.agents.judge import AgentJudge
    from pytest_reflex.agents.recorder import Recorder

HOOK_PREFIX = "pytest_reflex_"
AgentFactory = Callable[[Mapping[str, Any]], Agent]
Value = TypeVar("Value")
Renderer = Callable[[list[Evaluation]], str]


class HookManager(pluggy.PluginManager):
    """A plugin manager that takes every function named ``pytest_reflex_*`` for a hook."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        if not name.startswith(HOOK_PREFIX):
            return None
        if not callable(getattr(plugin, name, None)):
            return None
        return super().parse_hookimpl_opts(plugin, name) or pluggy.HookimplOpts(
            wrapper=False,
            hookwrapper=False,
            optionalhook=False,
            tryfirst=False,
            trylast=False,
            specname=None,
        )


@dataclass(frozen=True, slots=True)
class Host:
    """What a driver needs: hooks to call, the kinds of checks, the report formats."""

    manager: HookManager
    registry: checks.Registry
    reporters: Mapping[str, Renderer]

    @property
    def hooks(self) -> Any:
        return self.manager.hook


class _BuiltInAgents:
    def pytest_reflex_register_agents(self, register: Callable[[str, AgentFactory], None]) -> None:
        from pytest_reflex.agents.offline import OfflineAgent
        from pytest_reflex.agents.replay import NAME, ReplayAgent

        register("offline", lambda table: OfflineAgent())
        register("python", lambda table: HooksOnlyAgent())
        register(NAME, lambda table: ReplayAgent.from_table(table, Path.cwd()))


class _BuiltInReporters:
    def pytest_reflex_register_reporters(self, register: Callable[[str, Renderer], None]) -> None:
        from pytest_reflex.reports.json_report import render

        register("json", render)


@dataclass(frozen=True, slots=True)
class CoreEvaluator:
    """EVALUATE without pytest: the library alone, in this process."""

    registry: checks.Registry

    @hookspecs.hookimpl(trylast=True)
    def pytest_reflex_evaluate(self, target: Target) -> Evaluation:
        from pytest_reflex.checks.run import evaluate

        return evaluate(target, self.registry)


@dataclass(frozen=True, slots=True)
class PytestEvaluator:
    """EVALUATE as a pytest session in a fork of this process."""

    registry: checks.Registry

    @hookspecs.hookimpl(trylast=True)
    def pytest_reflex_evaluate(self, target: Target) -> Evaluation:
        from pytest_reflex.session.fork import evaluate_by_pytest

        return evaluate_by_pytest(target, self.registry)


def open_host(plugins: Iterable[object] = (), project: Path | None = None) -> Host:
    """Return a host with the plugins, asked first (the last one before all), and the built-ins.

    A plugin is an object with hooks, or the name of a module, which may lie in the `project` folder
    too, behind everything that is installed. Raises UsageError where one cannot be imported.
    """
    manager = HookManager("pytest")
    manager.add_hookspecs(hookspecs)
    registry = checks.Registry()
    for built_in in (_BuiltInReporters(), _BuiltInAgents(), checks.BuiltInChecks(registry)):
        manager.register(built_in)
    for one in plugins:
        _register(manager, one, _import(one, project) if isinstance(one, str) else one)
    with _name_errors("pytest_reflex_register_checks"):
        manager.hook.pytest_reflex_register_checks(register=registry.register)
    reporters: dict[str, Renderer] = {}
    with _name_errors("pytest_reflex_register_reporters"):
        manager.hook.pytest_reflex_register_reporters(register=_adder("reporter", reporters))
    return Host(manager, registry, reporters)


def _register(manager: HookManager, name: object, plugin: object) -> None:
    """Register a plugin; a hook that there is not, or with other parameters, is refused."""
    try:
        manager.register(plugin, name=name if isinstance(name, str) else None)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"plugin {name!r}: {reason}", hint="see the list of hooks") from None


def _adder(what: str, found: dict[str, Value]) -> Callable[[str, Value], None]:
    """Return a function that adds a value under an unused name."""

    def register(name: str, value: Value) -> None:
        if name in found:
            raise UsageError(f"there are two plugins with {what} {name!r}", hint="rename one")
        found[name] = value

    return register


@contextmanager
def _name_errors(what: str) -> Iterator[None]:
    """Name what raised: a plugin may raise anything."""
    try:
        yield
    except ReflexError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{what} raised {type(error).__name__}: {error}", hint="fix the plugin"
        ) from error


def register_evaluator(host: Host, settings: Settings) -> None:
    """Register what does EVALUATE."""
    core = settings["loop.evaluator"] == "core"
    host.manager.register((CoreEvaluator if core else PytestEvaluator)(host.registry))


def register_agents(
    host: Host,
    settings: Settings,
    chosen: Iterable[str] = (),
    recorded: Mapping[str, str] | None = None,
    *,
    replay: str | None = None,
    recorder: Recorder | None = None,
    judge: str | None = None,
    runs: bool = True,
) -> Mapping[Step, str]:
    """Register the agents of all steps and the evaluator; return the agents' names by step.

    `chosen` are values of ``--agent``: NAME for every step, or STEP=NAME for one; `recorded` are
    the names by step with which a run began, instead of those of the settings. `replay` is a
    recording that answers all steps, before any plugin; `recorder` writes one. `judge` is the name
    of the judge instead of that in the settings, empty for none. What never `runs` need not be
    installed.
    """
    register_evaluator(host, settings)
    host.registry.configure(settings)
    if recorder is not None:
        host.manager.register(recorder)
    if replay is not None:
        return _replay(host, replay, recorder)
    register_judge(host, settings, judge, runs=runs)
    _record_judge(host, recorder)
    names = agents_by_step(settings, chosen, recorded or settings["loop.agents"])
    kinds = agent_kinds(host)
    every = dict.fromkeys(names.values())
    made = {name: make_agent(name, settings, kinds, runs=runs) for name in every}
    if recorder is not None:
        recorder.watch(made.values())
    host.manager.register(AgentRouter({step: made[name] for step, name in names.items()}))
    return names


def _replay(host: Host, recording: str, recorder: Recorder | None) -> Mapping[Step, str]:
    from pytest_reflex.agents.judge import AgentJudge
    from pytest_reflex.agents.replay import NAME, ReplayAgent, ReplayRouter

    agent = ReplayAgent(Path.cwd() / recording, Path.cwd())
    if recorder is not None:
        recorder.watch([agent])
    if agent.judges:
        host.registry.judge, host.registry.judge_when = AgentJudge(agent), agent.judge_when
        _record_judge(host, recorder)
    host.manager.register(ReplayRouter(agent))
    return dict.fromkeys((Step(step.upper()) for step in STEPS), NAME)


def _record_judge(host: Host, recorder: Recorder | None) -> None:
    """Record what the judge is asked and answers."""
    from pytest_reflex.agents.judge import AgentJudge

    judge = host.registry.judge
    if recorder is not None and isinstance(judge, AgentJudge):
        recorder.watch([judge.agent])
        host.registry.judge = replace(judge, heard=recorder.heard)


def register_judge(
    host: Host, settings: Settings, name: str | None = None, *, runs: bool = True
) -> None:
    """Make the agent `name` the LLM judge, by default that of the settings.

    An empty name means none. Raises UsageError where the agent cannot judge.
    """
    called = settings["judge"] if name is None else name
    host.registry.judge = find_judge(called, host, settings, runs=runs) if called else None
    host.registry.configure(settings)


def find_judge(name: str, host: Host, settings: Settings, *, runs: bool = True) -> AgentJudge:
    """Return the agent called `name` as an LLM judge; raises UsageError for one that cannot be."""
    from pytest_reflex.agents.judge import AgentJudge, for_votes

    agent = make_agent(name, settings, agent_kinds(host), runs=runs)
    if not isinstance(agent, Askable):
        raise UsageError(
            f"agent {name!r} cannot be an LLM judge: it answers only the steps of a loop",
            hint="name an AI tool: a preset, or a table of `agents` with a command",
        )
    return AgentJudge(for_votes(agent))


def judge_name(host: Host) -> str:
    """Return the name of the LLM judge, an empty string for none."""
    return str(getattr(host.registry.judge, "name", ""))


def judge_command(host: Host) -> tuple[str, ...]:
    """Return the command of the judge, none where it is not a command."""
    return tuple(getattr(host.registry.judge, "command", ()))


def agent_kinds(host: Host) -> Mapping[str, AgentFactory]:
    """Return the kinds of agents that plugins and the built-ins register."""
    factories: dict[str, AgentFactory] = {}
    with _name_errors("pytest_reflex_register_agents"):
        host.hooks.pytest_reflex_register_agents(register=_adder("agent", factories))
    return factories


def agents_by_step(
    settings: Settings, chosen: Iterable[str], by_step: Mapping[str, str]
) -> dict[Step, str]:
    """Return the name of the agent of each step; `chosen` are values of ``--agent``."""
    names = dict.fromkeys((Step(step.upper()) for step in STEPS), settings["agent"])
    names |= {Step(step.upper()): name for step, name in by_step.items()}
    pairs = [value.partition("=") for value in chosen]
    for name, separator, _ in pairs:
        if not separator:
            names = dict.fromkeys(names, name)
    for step, separator, name in pairs:
        if separator and step not in STEPS:
            raise UsageError(f"--agent {step}={name}: no such step", hint=did_you_mean(step, STEPS))
        if separator:
            names[Step(step.upper())] = name
    return names


def make_agent(
    name: str,
    settings: Settings,
    kinds: Mapping[str, AgentFactory],
    *,
    otherwise: str = "name another agent; --agent offline needs nothing",
    runs: bool = True,
) -> Agent:
    """Return the agent called `name`: a table of the configuration, a registered kind, a preset.

    Raises UsageError where there is none, or where it `runs` and its program is not installed;
    `otherwise` says what can be done about that but to install it.
    """
    table = settings["agents"].get(name)
    kind = name if table is None else table.get("kind", "")
    if kind in kinds:
        with _name_errors(f"the factory of agent {name!r}"):
            return kinds[kind](table or {})
    from pytest_reflex.agents.configure import agent_from_table, preset_names

    if table is None and name not in preset_names():
        known = [*settings["agents"], *kinds, *preset_names()]
        raise UsageError(f"no agent named {name!r}", hint=did_you_mean(name, known))
    try:
        agent: CommandAgent = agent_from_table(
            name,
            table or {},
            settings["agents"],
            timeout=settings["loop.command_timeout"],
            timeout_of="loop.command_timeout",
        )
    except UsageError as error:
        place = place_of(settings, getattr(error, "path", ("agents", name)))
        problem = error.problems[0]
        raise UsageError(problem.message, place=place, hint=problem.hint) from None
    if runs and (program := agent.missing_program()):
        hint = f"install it, or {otherwise}"
        raise UsageError(f"agent {name!r}: there is no program {program!r}", hint=hint)
    return agent


def _import(name: str, project: Path | None) -> object:
    if project and str(project) not in sys.path:
        sys.path.append(str(project))
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
        raise UsageError(
            f"plugin {name!r} could not be imported: {type(error).__name__}: {error}",
            hint="fix `plugins` in the configuration",
        ) from None
