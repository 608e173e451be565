"""The kinds of checks that rules may use, by name, and the checks of rules, compiled by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.composite import AnyOfCheck, only_when
from pytest_reflex.checks.reading import MEGABYTE, SIZE_LIMIT
from pytest_reflex.errors import CriteriaError, Problem, UsageError, did_you_mean
from pytest_reflex.model.enums import ACTIVE_LEVELS, Level
from pytest_reflex.model.judged import Judge, JudgeWhen
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import CheckCommand, CheckType, CompiledCheck

if TYPE_CHECKING:
    from pytest_reflex.settings import Settings


Key = tuple[str, int]
"""The id of a rule and the number of a check in it, from 0."""


class Registry:
    """Kinds of checks by name; filled through `pytest_reflex_register_checks`.

    `judge` is the agent that was configured to judge what no program can, None for none, and
    `judge_when` says when it is asked. `size_limit` is the largest artifact in bytes.
    """

    def __init__(self) -> None:
        self._types: dict[str, CheckType] = {}
        self.judge: Judge | None = None
        self.judge_when = JudgeWhen.ALWAYS
        self.size_limit = SIZE_LIMIT

    def configure(self, settings: Settings) -> None:
        """Take over what the settings say of how artifacts are judged."""
        self.judge_when = JudgeWhen(settings["judge_when"])
        self.size_limit = settings["artifact_limit"] * MEGABYTE

    @property
    def for_authors(self) -> dict[str, CheckType]:
        """The kinds that a rule may name, by their names."""
        return {n: one for n, one in self._types.items() if not getattr(one, "internal", False)}

    def __contains__(self, name: str) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[CheckType]:
        return iter(self._types.values())

    def register(self, check_type: CheckType) -> None:
        """Add a kind of check; raises UsageError where its name is taken or not usable."""
        name = getattr(check_type, "name", None)
        if not isinstance(name, str) or not name:
            raise UsageError(
                f"the check type {_origin(check_type)} has no name",
                hint="give it an attribute `name`, the word that rules write after `type:`",
            )
        if name in self._types:
            raise UsageError(
                f"the check type {name!r} is registered twice: by {_origin(self._types[name])} "
                f"and by {_origin(check_type)}",
                hint="rename one of them, or switch one of the plugins off",
            )
        self._types[name] = check_type
        if isinstance(check_type, AnyOfCheck):
            check_type.look_up_in(self)

    def get(self, name: str) -> CheckType:
        """Return the kind of check called `name`; raises CriteriaError where there is none."""
        try:
            return self._types[name]
        except (KeyError, TypeError):
            hint = did_you_mean(name, self._types)
            raise CriteriaError(f"unknown check type {name!r}", hint=hint) from None

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        """Return the check that judges; raises CriteriaError where it cannot be compiled."""
        kind = self.get(spec.type)
        found: object = kind.compile(spec, variables)
        if isinstance(found, CompiledCheck):
            return found
        raise CriteriaError(
            f"the check type {_origin(kind)} compiles to {one_line(repr(found), 60)}, which is no "
            "CompiledCheck",
            hint="return CompiledCheck(spec, run) of pytest_reflex.model.targets",
        )


def register_built_ins(register: Callable[[CheckType], None]) -> None:
    """Register the check types of this package, the way a plugin does it."""
    from pytest_reflex.checks.code.check import CodeCheck
    from pytest_reflex.checks.content import ContentCheck
    from pytest_reflex.checks.executable import ExecutableCheck
    from pytest_reflex.checks.findings.check import FindingsCheck
    from pytest_reflex.checks.judged import JudgedCheck
    from pytest_reflex.checks.not_run import SessionCheck, WithheldCheck

    register(ContentCheck())
    register(ExecutableCheck())
    register(CodeCheck())
    register(FindingsCheck())
    register(AnyOfCheck())
    register(JudgedCheck())
    register(WithheldCheck())
    register(SessionCheck())
    try:
        from pytest_reflex.checks.structure.check import StructureCheck
    except ImportError:
        return
    register(StructureCheck())


@dataclass(frozen=True, slots=True)
class BuiltInChecks:
    """The plugin that registers the built-in kinds; in `registry` are those of all plugins."""

    registry: Registry

    def pytest_reflex_register_checks(self, register: Callable[[CheckType], None]) -> None:
        register_built_ins(register)


def registry_of(hooks: Any) -> Registry:
    """Return the registry that was filled through `hooks`, which are not called for it again."""
    for implementation in hooks.pytest_reflex_register_checks.get_hookimpls():
        if isinstance(implementation.plugin, BuiltInChecks):
            return implementation.plugin.registry
    return built_in_registry()


def built_in_registry() -> Registry:
    """Return a registry that holds the check types of this package only."""
    registry = Registry()
    register_built_ins(registry.register)
    return registry


def _origin(check_type: object) -> str:
    kind = check_type if isinstance(check_type, type) else type(check_type)
    return f"{kind.__module__}.{kind.__qualname__}"


def compile_rules(
    rules: Iterable[Rule], variables: Mapping[str, Any], registry: Registry
) -> dict[Key, CompiledCheck]:
    """Return the checks of rules, in their order.

    Raises CriteriaError with every check that cannot be compiled, each with its rule and place.
    """
    compiled: dict[Key, CompiledCheck] = {}
    problems: list[Problem] = []
    for rule in rules:
        for index, spec in enumerate(rule.checks):
            try:
                check = registry.compile(spec, variables)
                if rule.when:
                    check = replace(check, run=only_when(rule.when, check.run, variables, registry))
                compiled[rule.id, index] = check
            except CriteriaError as error:
                problems += (_of_rule(problem, rule, spec) for problem in error.problems)
    if problems:
        raise CriteriaError(problems)
    return compiled


def _of_rule(problem: Problem, rule: Rule, spec: CheckSpec) -> Problem:
    place = problem.place or spec.place or rule.place
    return replace(problem, rule_id=problem.rule_id or rule.id, place=place)


def compile_checks(
    criteria: Criteria, level: Level, registry: Registry
) -> dict[Key, CompiledCheck]:
    """Return the checks of the rules that are active at `level`, in their order.

    The others are compiled too, so that a mistake in them does not wait for its day: raises
    CriteriaError as `compile_rules` does.
    """
    compiled = compile_rules(criteria.rules, criteria.vars, registry)
    levels = ACTIVE_LEVELS[level]
    if all(rule.level in levels for rule in criteria.rules):
        return compiled
    active = {rule.id for rule in criteria.active(level)}
    return {key: check for key, check in compiled.items() if key[0] in active}


def compile_rule(
    rule: Rule, variables: Mapping[str, Any], registry: Registry
) -> tuple[CompiledCheck, ...]:
    """Return the checks of one rule; raises CriteriaError as `compile_rules` does."""
    return tuple(compile_rules((rule,), variables, registry).values())


def compile_all(criteria: Criteria, registry: Registry) -> tuple[CompiledCheck, ...]:
    """Return the checks of all rules; raises CriteriaError as `compile_rules` does."""
    return tuple(compile_rules(criteria.rules, criteria.vars, registry).values())


def commands_of(checks: Iterable[CompiledCheck]) -> Iterator[CheckCommand]:
    """Yield what checks start."""
    for check in checks:
        yield from check.commands


def describe(spec: CheckSpec, variables: Mapping[str, Any], registry: Registry) -> CompiledCheck:
    """Return a check for what it says of itself only: also one that cannot be compiled here."""
    try:
        return registry.compile(spec, variables)
    except CriteriaError:
        return CompiledCheck(spec, _fail_to_compile)


def _fail_to_compile(*_: object) -> Any:
    raise CriteriaError("this check cannot be compiled")
