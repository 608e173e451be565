"""What criteria will run at a level, check by check, told without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.judged import with_judged
from pytest_reflex.checks.preview import preview
from pytest_reflex.checks.registry import Key, compile_checks
from pytest_reflex.criteria.author.formatting import formatters_of
from pytest_reflex.model.enums import Level
from pytest_reflex.model.judged import Judge
from pytest_reflex.model.rules import VARIABLE_PREFIX, Criteria, number
from pytest_reflex.model.targets import CompiledCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


def plan(criteria: Criteria, level: Level, registry: Registry, root: Path) -> dict[str, Any]:
    """Return what an evaluation at `level` runs, and what its fixes do, as plain data.

    Raises CriteriaError with every check that cannot be compiled, those of other levels included.
    """
    judged = with_judged(criteria, registry)
    checks = compile_checks(judged, level, registry)
    off = [one.to_json() for one in criteria.switched_off]
    return {
        "criteria": criteria.name,
        "version": criteria.version,
        "source": criteria.source,
        "phase": level.value,
        "threshold": number(criteria.thresholds[level]),
        "variables": {VARIABLE_PREFIX + name.upper(): v for name, v in criteria.vars.items()},
        **({"switched_off": off} if off else {}),
        "checks": list(_checks(judged, level, checks, root, registry.judge)),
        "formatters": list(_formatters(criteria, level, root)),
    }


def _formatters(criteria: Criteria, level: Level, root: Path) -> Iterator[dict[str, Any]]:
    for rule, fix, command in formatters_of(criteria.active(level), criteria.commands):
        yield {
            "rule": rule.id,
            "safe": fix.safe,
            "argv": list(command.argv),
            "cwd": str(root),
            "timeout": command.timeout,
        }


def _checks(
    criteria: Criteria,
    level: Level,
    checks: Mapping[Key, CompiledCheck],
    root: Path,
    judge: Judge | None,
) -> Iterator[dict[str, Any]]:
    for rule in criteria.active(level):
        head: dict[str, Any] = {"rule": rule.id, "severity": rule.severity.value}
        head["weight"] = number(rule.weight)
        if rule.when:
            from pytest_reflex.checks.composite import words

            head["when"] = list(map(words, rule.when))
        if not rule.checks:
            yield {**head, "check": None, "type": None, "prose": rule.prose}
        for index in range(len(rule.checks)):
            check = checks[rule.id, index]
            what = preview(check, rule, root, judge)
            group = {"groups": list(check.spec.groups)} if check.spec.groups else {}
            yield {**head, "check": index, "in_process": check.in_process, **group, **what}
