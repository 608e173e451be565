"""The lint of one file: all that its reader refuses; where that is nothing, what is odd."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reflex.checks.registry import Key, compile_rules
from pytest_reflex.criteria.diagnostics import Table
from pytest_reflex.criteria.faults import Faults, in_order
from pytest_reflex.criteria.layers import Layer
from pytest_reflex.criteria.linting.remark import Remark
from pytest_reflex.criteria.linting.rules import rule_warnings
from pytest_reflex.criteria.linting.sets import set_warnings
from pytest_reflex.criteria.load import Reading, collector_off, is_suite
from pytest_reflex.criteria.suite import default_level, read_artifacts, read_level
from pytest_reflex.criteria.templates import find_template
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import CompiledCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

SUITE_SUFFIX = ".reflex.yaml"


def lint(ref: str | Path, registry: Registry) -> list[Remark]:
    """Return what is wrong, or else what is odd, with a template or suite, by line and column.

    What is inherited is looked at for errors only: it has an author of its own.
    """
    try:
        table, faults, layer, criteria, checks = _read(ref, registry)
    except CriteriaError as error:
        return [Remark(problem) for problem in error.problems]
    remarks = list(set_warnings(criteria, checks, layer.drafts, table, faults))
    for rule in criteria.rules:
        draft = layer.drafts[rule.id]
        if draft.faults is faults:
            own = [checks[rule.id, index] for index in range(len(rule.checks))]
            remarks += rule_warnings(rule, own, draft)
    return _sorted(remarks)


def _read(
    ref: str | Path, registry: Registry
) -> tuple[Table, Faults, Layer, Criteria, dict[Key, CompiledCheck]]:
    reading = Reading(registry, {})
    path = find_template(ref)
    with collector_off():
        table, faults = reading.document(path)
        wanted = read_level(table, faults) if is_suite(table) else None
        if "artifacts" in table or path.name.endswith(SUITE_SUFFIX):
            read_artifacts(table, path, faults)
        layer = reading.layer(path, table, faults)
        criteria = reading.criteria(layer, path)
    level = wanted or default_level(criteria)
    if not criteria.active(level):
        message = f"the criteria have no rules in phase {level}"
        raise CriteriaError(message, place=faults.place(table.at("phase")), hint="phase: B")
    return table, faults, layer, criteria, compile_rules(criteria.rules, criteria.vars, registry)


def _sorted(remarks: list[Remark]) -> list[Remark]:
    place_of = {id(remark.problem): remark for remark in remarks}
    ordered: list[Problem] = in_order([remark.problem for remark in remarks])
    return [place_of[id(problem)] for problem in ordered]
