"""Calling the hooks of a loop: what a plugin does wrong is reported by the name of the hook.

An error in a step counts as an answer that cannot be used; one in a listener ends the driver, and
the run can be resumed. Errors of our own built-ins are raised on as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.events import Event
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import Target

REPORTED = "told"
_EVALUATE = "pytest_reflex_evaluate"
# A plugin may raise anything, and SystemExit would end the program without a message.
_ANYTHING = (Exception, SystemExit)


def ask(hooks: Any, request: StepRequest) -> Reply:
    """Return the answer to a step, reported to all listeners; an error is a Reply with `error`.

    A hook that asks on with another request marks what it returns as `REPORTED`.
    """
    request = replace(request, check_types=request.check_types or partial(_check_types, hooks))
    reply = _answer(hooks, request)
    if not reply.details.get(REPORTED):
        _notify(hooks, "pytest_reflex_answered", request=request, reply=reply)
    return reply


def _check_types(hooks: Any) -> Any:
    from pytest_reflex.checks.registry import registry_of

    return registry_of(hooks)


def _answer(hooks: Any, request: StepRequest) -> Reply:
    name = f"pytest_reflex_{request.step.value.lower()}"
    try:
        reply = getattr(hooks, name)(request=request)
    except _ANYTHING as error:
        return Reply(text="", agent="hook", error=_error_text(name, error))
    if not isinstance(reply, Reply):
        return Reply(text="", agent="hook", error=f"hook {name} returned {reply!r}, not a Reply")
    if fault := _fault(reply):
        return Reply(text="", agent="hook", error=f"hook {name} returned a Reply whose {fault}")
    return reply


def judge(hooks: Any, target: Target) -> Evaluation | str:
    """Return the evaluation of a target, or why there is none; raises ReflexError."""
    try:
        evaluation = hooks.pytest_reflex_evaluate(target=target)
    except ReflexError:
        raise
    except _ANYTHING as error:
        if _is_ours(hooks.pytest_reflex_evaluate):
            raise
        return _error_text(_EVALUATE, error)
    if isinstance(evaluation, Evaluation):
        return evaluation
    return f"hook {_EVALUATE} returned {evaluation!r}, not an Evaluation"


def record(hooks: Any, event: Event) -> None:
    """Report an event to all listeners; raises UsageError where one of them fails."""
    _notify(hooks, "pytest_reflex_record", event=event)


def _notify(hooks: Any, name: str, **what: Any) -> None:
    try:
        getattr(hooks, name)(**what)
    except ReflexError:  # it says itself what is wrong and what to do
        raise
    except _ANYTHING as error:
        raise UsageError(
            _error_text(name, error), hint="fix the plugin and resume: no saved state is lost"
        ) from error


def _error_text(name: str, error: BaseException) -> str:
    return f"hook {name} raised {type(error).__name__}: {error}"


def _is_ours(caller: Any) -> bool:
    plugins = (implementation.plugin for implementation in caller.get_hookimpls())
    return all(type(plugin).__module__.startswith("pytest_reflex.") for plugin in plugins)


def _fault(reply: Reply) -> str:
    """Return which field of an answer is not of its type, empty where all are."""
    for name in ("text", "agent", "error"):
        value = getattr(reply, name)
        if not isinstance(value, str):
            return f"{name} is not text: {one_line(repr(value))}"
    for name in ("seconds", "usd", "tokens"):
        value = getattr(reply, name)
        unknown = value is None and name != "seconds"
        if not unknown and not _is_amount(value, whole=name == "tokens"):
            return f"{name} is not an amount: {one_line(repr(value))}"
    if not isinstance(reply.details, Mapping):
        return "details are not a mapping"
    tries = reply.details.get("refused", [])
    if not isinstance(tries, list) or not all(map(_is_try, tries)):
        return f"details have no refused tries: {one_line(repr(tries))}"
    return ""


def _is_try(value: object) -> bool:
    """Return whether a value is what is known of a try that a rate limit refused."""
    if not isinstance(value, Mapping) or not {"seconds", "usd", "tokens"} <= set(value):
        return False
    unknown = [value[key] for key in ("usd", "tokens") if value[key] is not None]
    amounts = (value["seconds"], value.get("waited", 0), *unknown)
    return all(_is_amount(amount, whole=False) for amount in amounts)


def _is_amount(value: object, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return False
    return math.isfinite(value) and value >= 0
