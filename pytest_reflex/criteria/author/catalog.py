"""What an author looks up: templates by name, where a rule was declared, what will run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.judged import add_judged_checks
from pytest_reflex.checks.preview import preview
from pytest_reflex.checks.registry import Key, compile_checks
from pytest_reflex.criteria.author.formatting import formatters_of
from pytest_reflex.criteria.load import CriteriaReader, collector_off, load_criteria
from pytest_reflex.criteria.rules import Layer
from pytest_reflex.criteria.templates import (
    find_packs,
    find_template,
    stock_folder,
    stock_names,
)
from pytest_reflex.errors import CriteriaError, Place
from pytest_reflex.model.enums import Level
from pytest_reflex.model.judged import Judge
from pytest_reflex.model.rules import VARIABLE_PREFIX, Criteria, number
from pytest_reflex.model.targets import CompiledCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


STOCK = "stock"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateEntry:
    """A template by the name that `--criteria` takes; `criteria` is None where it is broken.

    `origin` is "stock", or the pack with the distribution that brings it.
    """

    name: str
    origin: str
    path: Path | None
    criteria: Criteria | None = None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "name": self.name,
            "origin": self.origin,
            "path": str(self.path) if self.path else None,
        }
        if self.criteria is None:
            return {**wire, "problem": self.problem}
        thresholds = self.criteria.thresholds.items()
        return {
            **wire,
            "version": self.criteria.version,
            "thresholds": {level.value: number(value) for level, value in thresholds},
            "rules": len(self.criteria.rules),
            **({"switched_off": off} if (off := len(self.criteria.switched_off)) else {}),
        }


def catalog(registry: Registry) -> tuple[TemplateEntry, ...]:
    """Return all templates: the stock ones, then pack by pack; a broken one has its problem."""
    return tuple(_read(listed, registry) for listed in _find_templates())


def _find_templates() -> Iterator[TemplateEntry]:
    for name in stock_names():
        yield TemplateEntry(name=name, origin=STOCK, path=stock_folder() / f"{name}.yaml")
    for pack in find_packs():
        origin = f"{pack.name} ({pack.distribution})"
        if pack.problem:
            yield TemplateEntry(name=pack.name, origin=origin, path=None, problem=pack.problem)
        for name, path in pack.templates().items():
            yield TemplateEntry(name=f"{pack.name}/{name}", origin=origin, path=path)


def _read(listed: TemplateEntry, registry: Registry) -> TemplateEntry:
    if listed.path is None:
        return listed
    try:
        criteria, problem = load_criteria(listed.path, registry=registry), ""
    except CriteriaError as error:
        criteria, problem = None, str(error.problems[0])
    return TemplateEntry(
        name=listed.name,
        origin=listed.origin,
        path=listed.path,
        criteria=criteria,
        problem=problem,
    )


@dataclass(frozen=True, slots=True)
class Provenance:
    """One file's word on a rule: where it stands, and which keys of the rule it gives."""

    place: Place
    keys: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.place.path,
            "line": self.place.line,
            "column": self.place.column,
            "keys": list(self.keys),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCriteria:
    """Criteria as they were read, with what each file said; `path` is the file that was named."""

    criteria: Criteria
    layer: Layer
    path: Path
    files: tuple[Path, ...]

    def sayings(self, rule_id: str) -> tuple[Provenance, ...]:
        """Return what was said about a rule: its declaration first, then what overrides it."""
        draft = self.layer.drafts[rule_id]
        return tuple(
            Provenance(
                part.diagnostics.place(part.table.spot), tuple(k for k in part.table if k != "id")
            )
            for part in draft.parts()
        )


def trace(
    ref: str | Path,
    *,
    registry: Registry,
    variables: Mapping[str, Any] | None = None,
    relative_to: Path | None = None,
) -> TracedCriteria:
    """Read criteria as `load_criteria` does, and keep where everything was said."""
    reading = CriteriaReader(registry, variables or {})
    path = find_template(ref, relative_to=relative_to)
    with collector_off():
        table, diagnostics = reading.document(path)
        layer = reading.layer(path, table, diagnostics)
        criteria = reading.criteria(layer, path)
    files = tuple(dict.fromkeys(reading.files))
    return TracedCriteria(criteria=criteria, layer=layer, path=path, files=files)


def plan(criteria: Criteria, level: Level, registry: Registry, root: Path) -> dict[str, Any]:
    """Return what an evaluation at `level` runs, and what its fixes do, as plain data.

    Raises CriteriaError with every check that cannot be compiled, those of other levels included.
    """
    judged = add_judged_checks(criteria, registry)
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
