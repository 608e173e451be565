"""The lint of one file: what its reader refuses, else warnings about each rule and about all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.registry import Key, compile_rules
from pytest_reflex.criteria.diagnostics import (
    Diagnostics,
    Items,
    Spot,
    Table,
    in_order,
    plain,
    quote,
)
from pytest_reflex.criteria.linting.commands import command_warnings
from pytest_reflex.criteria.linting.diagnostic import Diagnostic, warning
from pytest_reflex.criteria.linting.patterns import (
    condition_warnings,
    fix_warnings,
    pattern_warnings,
)
from pytest_reflex.criteria.linting.sets import idle_in_rule, never_found, set_warnings
from pytest_reflex.criteria.load import CriteriaReader, collector_off, is_suite
from pytest_reflex.criteria.rules import Draft, Layer
from pytest_reflex.criteria.suite import default_level, read_artifacts, read_level
from pytest_reflex.criteria.templates import find_template
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Severity
from pytest_reflex.model.rules import ALTERNATIVES, Criteria, Rule
from pytest_reflex.model.targets import CompiledCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


_PLACEHOLDER = re.compile(r"\W*\b(?:TODO|TBD|FIXME|XXX)\b|lorem ipsum dolor", re.IGNORECASE)
_WORDS = ("description", "why", "hint")

Odd = tuple[str, str, Spot, str]
"""A warning's code, its message, where it is, and a hint."""


def rule_warnings(
    rule: Rule, checks: Sequence[CompiledCheck], draft: Draft
) -> Iterator[Diagnostic]:
    """Yield what is odd about a rule that this file declares or overrides."""
    found = [*_override(draft), *_words(rule, draft), *_weight(rule, draft)]
    found += [*_lint_judged(rule, checks, draft), *_samples(rule, draft)]
    for code, message, spot, hint in found:
        yield warning(code, message, draft.diagnostics, spot, hint=hint, rule_id=rule.id)
    yield from idle_in_rule(draft.table, draft.diagnostics, rule.id)
    yield from condition_warnings(rule, draft.table, draft.diagnostics)
    for check, table in _with_tables(checks, own_checks(draft.table)):
        yield from pattern_warnings(check, table, draft.diagnostics, rule.id)
        yield from command_warnings(check, table, draft.diagnostics, rule.id)
        yield from never_found(check.spec, table, draft.diagnostics, rule.id)
    for fix, table in zip(rule.fixes, _own(draft.table, "fix"), strict=False):
        params = table.get(fix.kind)
        if isinstance(params, Table):
            yield from fix_warnings(fix, params, draft.diagnostics, rule.id)


def own_checks(table: Table) -> list[Table]:
    """Return the checks that a rule gives in this file, as they are written."""
    return _own(table, "checks") or _own(table, "check")


def _own(table: Table, key: str) -> list[Table]:
    value = table.get(key)
    values = value if isinstance(value, Items) else [value]
    return [entry for entry in values if isinstance(entry, Table)]


def _with_tables(
    checks: Iterable[CompiledCheck], tables: Iterable[Table]
) -> Iterator[tuple[CompiledCheck, Table]]:
    """Yield each check, and each alternative in one, with how it is written."""
    parts = [part for check in checks for part in check.parts]
    written = (each for table in tables for each in _own(table, ALTERNATIVES) or (table,))
    yield from zip(parts, written, strict=False)


def _override(draft: Draft) -> Iterator[Odd]:
    if draft.base is None:
        return
    before: dict[str, Any] = {}
    for part in draft.base.parts():
        before.update(_plain(part.table))
    given = {key: value for key, value in _plain(draft.table).items() if key != "id"}
    same = [key for key, value in given.items() if key in before and before[key] == value]
    if len(same) == len(given):
        what = f"gives {', '.join(same)} as inherited" if same else "gives nothing"
        yield (
            "overrides-nothing",
            f"it overrides an inherited rule, but {what}",
            draft.table.spot,
            "leave it out, or change something",
        )


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain(value) for key, value in table.items()}


def _words(rule: Rule, draft: Draft) -> Iterator[Odd]:
    table = draft.table
    for key in _WORDS:
        text = table.get(key)
        if isinstance(text, str) and (found := _PLACEHOLDER.match(text)):
            yield "placeholder", f"{key} still says {quote(found[0])}", table.at(key), ""
    if "description" not in table:
        return
    if not rule.why:
        message = f"it does not say why: {quote(rule.description)}"
        yield "no-why", message, table.at("description"), "why: what goes wrong without it"
    if not rule.hint and not rule.fixes and rule.severity is not Severity.INFO:
        hint = "hint: what to write; or a fix"
        yield "no-remedy", "it does not say how to fix it", table.spot, hint


def _weight(rule: Rule, draft: Draft) -> Iterator[Odd]:
    table = draft.table
    if not {"severity", "weight"} & set(table):
        return
    spot = table.at("weight") if "weight" in table else table.at("severity")
    if rule.severity is Severity.WARN and not rule.weight:
        message = "a warning of weight 0 changes neither score nor gate"
        yield "weightless", message, spot, "severity: info says that"
    if rule.severity is Severity.INFO and rule.weight:
        message = "severity info is only reported, but its weight lowers the score"
        yield "weighty-info", message, spot, "severity: warn says that"


def _lint_judged(rule: Rule, checks: Sequence[CompiledCheck], draft: Draft) -> Iterator[Odd]:
    table = draft.table
    own = {"check", "checks", "severity"} & set(table)
    if own and rule.severity is Severity.FAIL and checks and all(one.votes for one in checks):
        message = "it blocks, and only an LLM judge grades it: two votes may differ"
        hint = "add a check for what is a matter of fact, or take severity: warn"
        yield "judged-gate", message, table.at(min(own)), hint
    if rule.checks or not ({"check", "checks", "description"} & set(table)):
        return
    if rule.prose:
        message = f"only an agent can check {quote(rule.prose)}"
        hint = "give a check with a type; see the reference of checks"
        yield "prose-check", message, table.at("check"), hint
    else:
        yield "no-check", "nothing checks this rule", table.spot, "check: {type: ...}"


def _samples(rule: Rule, draft: Draft) -> Iterator[Odd]:
    table = draft.table
    if not ({"samples", "check", "checks"} & set(table)) or not rule.checks:
        return
    good, bad = rule.samples.get("good", ()), rule.samples.get("bad", ())
    spot = table.at("samples")
    if not good and not bad:
        hint = "samples: {good: [...], bad: [...]}, and `criteria test` tries them"
        yield "no-samples", "nothing shows that it can pass and fail", spot, hint
    elif not good or not bad:
        kind, other, verb = ("good", "bad", "fail") if good else ("bad", "good", "pass")
        message = f"all samples are {kind}: nothing shows that it can {verb}"
        yield "one-sided-samples", message, spot, f"add a {other} one"
    for sample in good:
        if sample in bad:
            yield "same-sample", f"{_format_sample(sample)} is a good and a bad sample", spot, ""


def _format_sample(sample: Sample) -> str:
    if sample.is_folder:
        return f"a folder of {', '.join(map(quote, sample.files)) or 'nothing'}"
    return quote(next(iter(sample.files.values())))


SUITE_SUFFIX = ".reflex.yaml"


def lint(ref: str | Path, registry: Registry) -> list[Diagnostic]:
    """Return what is wrong, or else what is odd, with a template or suite, by line and column.

    Inherited rules are checked for errors only: they are linted where they are written.
    """
    try:
        table, diagnostics, layer, criteria, checks = _read(ref, registry)
    except CriteriaError as error:
        return [Diagnostic(problem) for problem in error.problems]
    remarks = list(set_warnings(criteria, checks, layer.drafts, table, diagnostics))
    for rule in criteria.rules:
        draft = layer.drafts[rule.id]
        if draft.diagnostics is diagnostics:
            own = [checks[rule.id, index] for index in range(len(rule.checks))]
            remarks += rule_warnings(rule, own, draft)
    return _sort(remarks)


def _read(
    ref: str | Path, registry: Registry
) -> tuple[Table, Diagnostics, Layer, Criteria, dict[Key, CompiledCheck]]:
    reading = CriteriaReader(registry, {})
    path = find_template(ref)
    with collector_off():
        table, diagnostics = reading.document(path)
        wanted = read_level(table, diagnostics) if is_suite(table) else None
        if "artifacts" in table or path.name.endswith(SUITE_SUFFIX):
            read_artifacts(table, path, diagnostics)
        layer = reading.layer(path, table, diagnostics)
        criteria = reading.criteria(layer, path)
    level = wanted or default_level(criteria)
    if not criteria.active(level):
        message = f"the criteria have no rules in phase {level}"
        raise CriteriaError(message, place=diagnostics.place(table.at("phase")), hint="phase: B")
    return (
        table,
        diagnostics,
        layer,
        criteria,
        compile_rules(criteria.rules, criteria.vars, registry),
    )


def _sort(remarks: list[Diagnostic]) -> list[Diagnostic]:
    place_of = {id(remark.problem): remark for remark in remarks}
    ordered: list[Problem] = in_order([remark.problem for remark in remarks])
    return [place_of[id(problem)] for problem in ordered]
