"""Which commands a check starts: asked of its kind, for everyone who shows, seals or waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.command import command_of
from pytest_reflex.checks.command_run import TIMEOUT, is_command
from pytest_reflex.checks.options import SECONDS, variable_name
from pytest_reflex.model.rules import CheckSpec, Rule
from pytest_reflex.model.targets import CheckCommand, CheckType
from pytest_reflex.process.environment import inherited

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

Variables = Mapping[str, Any]


def commands_of(
    spec: CheckSpec, variables: Variables, registry: Registry
) -> tuple[CheckCommand, ...]:
    """Return the commands that a valid check starts, those of its alternatives included.

    Of a kind that does not say, the parameter `command`. Raises CriteriaError.
    """
    return tuple(
        command
        for each in _parts(spec)
        for command in _own(registry.get(each.type), each, variables)
    )


def starts_process(spec: CheckSpec, variables: Variables, registry: Registry) -> bool:
    """Return whether a valid check starts a process; a kind that does not say may."""
    for each in _parts(spec):
        kind = registry.get(each.type)
        if not kind.in_process and (not _says(kind) or _own(kind, each, variables)):
            return True
    return False


def runs_foreign_code(spec: CheckSpec, variables: Variables, registry: Registry) -> bool:
    """Return whether a check runs what a rule or an artifact brings; a kind may not say."""
    for each in _parts(spec):
        kind = registry.get(each.type)
        if not kind.in_process and not _says(kind):
            return True
        if any(command.is_foreign for command in _own(kind, each, variables)):
            return True
    return False


def commands_of_rules(
    rules: Iterable[Rule], variables: Variables, registry: Registry
) -> Iterator[tuple[Rule, CheckCommand]]:
    """Yield the commands of all checks of rules, each with its rule."""
    for rule in rules:
        for spec in rule.checks:
            yield from ((rule, one) for one in commands_of(spec, variables, registry))


def _parts(spec: CheckSpec) -> tuple[CheckSpec, ...]:
    return spec.alternatives or (spec,)


def _says(kind: CheckType) -> bool:
    return hasattr(kind, "commands")


def _own(kind: CheckType, spec: CheckSpec, variables: Variables) -> tuple[CheckCommand, ...]:
    said = getattr(kind, "commands", None)
    if said is not None:
        return tuple(said(spec, variables))
    return () if kind.in_process else tuple(_guessed(spec, variables))


def _guessed(spec: CheckSpec, variables: Variables) -> Iterator[CheckCommand]:
    """Yield what a check of a kind that does not say names as its command."""
    command, timeout = (_value(spec, key, variables) for key in ("command", "timeout"))
    if not is_command(command):
        return
    yield CheckCommand(
        argv=command_of(command, "", inherited()).argv,
        written=command if isinstance(command, str) else tuple(command),
        timeout=float(timeout) if SECONDS.fits(timeout) else TIMEOUT,
    )


def _value(spec: CheckSpec, key: str, variables: Variables) -> Any:
    given = spec.params.get(key)
    name = variable_name(given)
    return variables.get(name) if name else given
