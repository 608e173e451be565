"""Every hook of pytest-reflex: the manual for plugin authors.

A plugin is a module (or object) with functions of these names. A pytest session finds them where it
finds any plugin (conftest.py, entry points, ``-p``). A driver such as ``pytest-reflex loop`` loads
only the plugins that the configuration names (``plugins = ["my_package.reflex_plugin"]``), never a
conftest.py that happens to lie about. The built-ins are registered through the same hooks, with
``trylast``: where the first result counts, yours is asked first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from pytest_reflex.model.events import Event
    from pytest_reflex.model.results import Evaluation
    from pytest_reflex.model.steps import Agent, Reply, StepRequest
    from pytest_reflex.model.targets import CheckType, Target

hookspec = pluggy.HookspecMarker("pytest")
hookimpl = pluggy.HookimplMarker("pytest")


@hookspec
def pytest_reflex_register_checks(register: Callable[[CheckType], None]) -> None:
    """Register kinds of checks: call ``register(check_type)`` once for each.

    When: once, before criteria are read. A name that is taken is an error that names both plugins.
    Its ``compile(spec, variables)`` returns ``CompiledCheck(spec, run)``; by keywords that says
    what else there is to know of a check, such as the ``commands`` that it starts.
    """


@hookspec
def pytest_reflex_register_agents(
    register: Callable[[str, Callable[[Mapping[str, Any]], Agent]], None],
) -> None:
    """Register kinds of agents: call ``register(name, factory)`` once for each.

    When: once, when a driver starts. ``factory(settings)`` gets the agent's own table of the
    configuration (empty where there is none) and returns the agent.
    """


@hookspec
def pytest_reflex_register_reporters(
    register: Callable[[str, Callable[[list[Evaluation]], str]], None],
) -> None:
    """Register report formats: call ``register(name, render)`` once for each.

    When: once, before a report is written. ``render(evaluations)`` returns the whole text of the
    report; ``pytest-reflex evaluate --format NAME`` prints it.
    """


@hookspec(firstresult=True)
def pytest_reflex_plan(request: StepRequest) -> Reply | None:
    """PLAN: answer with ``{"plan": [3 to 5 steps]}`` (seed 001). First result counts."""


@hookspec(firstresult=True)
def pytest_reflex_produce(request: StepRequest) -> Reply | None:
    """PRODUCE: answer with the whole artifact as text. First result counts.

    May run in a thread beside PREPARE.
    """


@hookspec(firstresult=True)
def pytest_reflex_prepare(request: StepRequest) -> Reply | None:
    """PREPARE: answer with ``{"checks": [...]}`` for rules whose check is prose.

    First result counts. May run in a thread beside PRODUCE.
    """


@hookspec(firstresult=True)
def pytest_reflex_evaluate(target: Target) -> Evaluation | None:
    """EVALUATE: evaluate the artifact and return an evaluation. First result counts.

    Build it with ``pytest_reflex.verdict.score.judge``: score and gate come from checks only.
    """


@hookspec(firstresult=True)
def pytest_reflex_critique(request: StepRequest) -> Reply | None:
    """CRITIQUE: answer with ``{"issues": [at most 5]}``, each for one failed rule.

    First result counts.
    """


@hookspec(firstresult=True)
def pytest_reflex_refine(request: StepRequest) -> Reply | None:
    """REFINE: answer with the whole fixed artifact as text. First result counts.

    Safe fixes of the critiqued rules were applied already; ``request.issues`` is what remains.
    """


@hookspec
def pytest_reflex_answered(request: StepRequest, reply: Reply) -> None:
    """Learn of an answer before it is used, also one that has an error. All are called.

    When: once for each call of an agent, in the thread of the step. What you raise ends the driver:
    the step is asked again on resume.
    """


@hookspec
def pytest_reflex_record(event: Event) -> None:
    """Learn of an event. All implementations are called; the event is durable by then."""


@hookspec(firstresult=True)
def pytest_reflex_count_tokens(text: str) -> int | None:
    """Count the tokens of a prompt as your model does. First result counts.

    When: before each iteration of an iteration loop, whose prompt is held against ``token_budget``.
    Without a plugin it is a quarter of the characters, rounded up. What you raise ends the command.
    """
