"""Criteria for people: the list of templates, a table of rules, one rule explained, what runs."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.criteria.author.catalog import Provenance, TemplateEntry, TracedCriteria
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.plain import as_text, escape_control, one_line
from pytest_reflex.model.rules import Criteria, Rule, SwitchedOff, number
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.reports.evaluation import question_rows, switched_off_line
from pytest_reflex.reports.lines import text_table
from pytest_reflex.verdict.formatting import plain

WIDTH = 80
INDENT = 12
_MEANING = {
    Severity.FAIL: "a failure blocks the gate",
    Severity.WARN: "a failure costs weight and blocks nothing by itself",
    Severity.INFO: "a failure is only reported",
}


def catalog_text(templates: Iterable[TemplateEntry]) -> str:
    """Return a table of templates; under it what is wrong with broken ones."""
    found = list(templates)
    rows = [
        (
            one_line(one.name),
            str(one.criteria.version),
            thresholds(one.criteria),
            _count(one.criteria),
            one_line(one.origin),
        )
        for one in found
        if one.criteria
    ]
    broken = [f"{one.name}: {one.problem}" for one in found if not one.criteria]
    table = text_table(("template", "version", "thresholds", "rules", "from"), rows)
    return "\n".join([table, *(["", *map(escape_control, broken)] if broken else [])])


def _count(criteria: Criteria) -> str:
    off = len(criteria.switched_off)
    return str(len(criteria.rules)) + (f" ({off} off)" if off else "")


def rules_text(criteria: Criteria) -> str:
    """Return what criteria are, and a table of their rules as they count."""
    head = [
        ("CRITERIA", f"{criteria.name} version {criteria.version} ({criteria.source})"),
        ("THRESHOLDS", thresholds(criteria)),
    ]
    if criteria.vars:
        shown = (f"{name} = {json.dumps(value)}" for name, value in criteria.vars.items())
        head.append(("VARIABLES", ", ".join(shown)))
    if off := switched_off_line(criteria.switched_off):
        head.append(("OFF", off))
    rows = [
        (
            rule.id,
            rule.severity.value,
            plain(rule.weight),
            rule.level.value,
            kinds_of(rule),
        )
        for rule in criteria.rules
    ]
    table = text_table(("rule", "severity", "weight", "phase", "checks"), rows)
    return "\n".join([*_page(head), "", table])


def rule_text(traced: TracedCriteria, rule: Rule, checks: Iterable[CompiledCheck]) -> str:
    """Return everything that is known of one rule, which has these checks."""
    share = _share(traced.criteria, rule)
    rows = [
        ("RULE", rule.id),
        ("HOLDS", rule.description),
        *([("WHY", rule.why)] if rule.why else []),
        ("SEVERITY", f"{rule.severity.value}: {_MEANING[rule.severity]}"),
        ("WEIGHT", f"{plain(rule.weight)}{share}"),
        ("PHASE", f"{rule.level.value}: {_active(rule.level)}"),
        *_conditions(rule),
        *_checks(rule, checks),
        *([("HINT", rule.hint)] if rule.hint else []),
        *(("FIX", _fix(fix.to_json())) for fix in rule.fixes),
        *_samples(rule.samples),
        *_provenance_rows(traced.sayings(rule.id)),
    ]
    return "\n".join(_page(rows))


def plan_text(plan: Mapping[str, Any]) -> str:
    """Return what `criteria.author.catalog.plan` found, check by check."""
    head = [
        ("CRITERIA", f"{plan['criteria']} version {plan['version']}, phase {plan['phase']}"),
        ("THRESHOLD", str(plan["threshold"])),
        *(("VARIABLE", f"{name}={as_text(value)}") for name, value in plan["variables"].items()),
        *([("OFF", _off(off))] if (off := plan.get("switched_off")) else []),
    ]
    lines = list(_page(head))
    for check in plan["checks"]:
        lines += ["", *_page(_check_rows(check))]
    for formatter in plan["formatters"]:
        when = "in a loop, unasked" if formatter["safe"] else "with --unsafe only"
        head = [("FIX", f"of {formatter['rule']}, {when}")]
        lines += ["", *_page([*head, *_command_rows({**formatter, "retries": 0})])]
    return "\n".join(lines)


def _off(rows: Iterable[Mapping[str, Any]]) -> str:
    return switched_off_line([SwitchedOff.from_json(one) for one in rows])


def thresholds(criteria: Criteria) -> str:
    return ", ".join(f"{level.value} {plain(t)}" for level, t in criteria.thresholds.items())


def kinds_of(rule: Rule) -> str:
    """Return the types of a rule's checks, "prose" where an agent has to make them."""
    kinds = list(dict.fromkeys(check.type for check in rule.checks))
    return ", ".join(kinds) or ("prose" if rule.prose else "none")


def _check_rows(check: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    number_ = "" if check["check"] is None else f" #{check['check']}"
    yield "RULE", f"{check['rule']}{number_} ({check['severity']}, weight {check['weight']})"
    yield from (("ONLY WHEN", condition) for condition in check.get("when", ()))
    if check["type"] is None:
        yield "RUNS", "nothing: an agent that prepares checks is needed"
        return
    yield from _runs(check)


def _runs(check: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "TYPE", check["type"]
    if "groups" in check:
        yield "GROUP", f"{', '.join(check['groups'])}: never in parallel with other checks of it"
    for alternative in check.get("one_of", ()):
        yield "EITHER", "passes, if another does not"
        yield from _runs(alternative)
    yield from question_rows(check)
    for command in (check, *check.get("commands", ())):
        if "argv" in command:
            yield from _command_rows(command)
    if "expect_exit" in check:
        yield "PASSES", f"with exit status {check['expect_exit']}"
    yield from _search_rows(check)
    for key, label in (("expect_output", "OUTPUT"), ("matches", "MATCHES")):
        if key in check:
            inner = check[key]
            yield label, f"/{inner['search']}/ ({inner['engine']}: {inner['engine_is']})"


def _command_rows(command: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "ARGV", shlex.join(command["argv"])
    yield "CWD", command["cwd"]
    retries = f", {command['retries']} retries" if command["retries"] else ""
    yield "LIMITS", f"timeout {command['timeout']:g} s{retries}"


def _search_rows(what: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "search" in what:
        yield "SEARCH", f"'{what['search']}'"
        yield "ENGINE", f"{what['engine']}: {what['engine_is']}"
        yield "LIMITS", f"timeout {what['timeout']:g} s for one search"
    elif "engine" in what:
        yield "ENGINE", what["engine"]
    for key in ("options", "parameters"):
        if what.get(key):
            yield key.upper(), as_text(what[key])


def _conditions(rule: Rule) -> Iterator[tuple[str, str]]:
    if rule.when:
        from pytest_reflex.checks.composite import words

        yield from (("ONLY WHEN", words(condition)) for condition in rule.when)


def _checks(rule: Rule, checks: Iterable[CompiledCheck]) -> Iterator[tuple[str, str]]:
    for check in checks:
        wanted = check.spec.expected
        yield "CHECK", check.description + (f" (wanted: {wanted})" if wanted else "")
        if check.spec.groups:
            yield "GROUP", ", ".join(check.spec.groups)
    if rule.prose:
        yield "CHECK", f"{rule.prose} (prose: an agent makes checks of it)"


def _samples(samples: Mapping[str, Sequence[Sample]]) -> Iterator[tuple[str, str]]:
    for kind in ("good", "bad"):
        for sample in samples.get(kind, ()):
            yield kind.upper(), one_line(as_text(sample.to_plain()), 200)


def _provenance_rows(sayings: Sequence[Provenance]) -> Iterator[tuple[str, str]]:
    yield "DECLARED", str(sayings[0].place)
    for saying in sayings[1:]:
        keys = ", ".join(saying.keys) or "nothing"
        yield "OVERRIDDEN", f"{saying.place} gives {keys}"


def _share(criteria: Criteria, rule: Rule) -> str:
    total = sum(other.weight for other in criteria.active(rule.level))
    return f" of {plain(total)} in phase {rule.level.value}" if total else ""


def _active(level: Level) -> str:
    return "counts in phases A and B" if level is Level.A else "counts in phase B"


def _fix(wire: Mapping[str, Any]) -> str:
    kind = next(iter(wire))
    unsafe = "" if wire.get("safe", True) else " (unsafe: only where it is asked for)"
    return f"{kind} {as_text(wire[kind])}{unsafe}"


def _page(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for label, text in rows:
        lines = textwrap.wrap(
            one_line(text, 2000),
            WIDTH - INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        first, *others = lines or [""]
        yield f"{label:<{INDENT - 1}} {first}"
        yield from (" " * INDENT + line for line in others)


def rule_json(
    traced: TracedCriteria, rule: Rule, checks: Iterable[CompiledCheck]
) -> dict[str, Any]:
    """Return what `rule_text` shows as plain data."""
    return {
        **rule.to_json(),
        "weight": number(rule.weight),
        "in_words": [check.description for check in checks],
        "samples": {
            kind: [sample.to_plain() for sample in samples]
            for kind, samples in rule.samples.items()
        },
        "said": [saying.to_json() for saying in traced.sayings(rule.id)],
    }
