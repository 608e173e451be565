"""Warnings about conditions: those that hold always or never, and those that decide a check."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reflex.checks.composite import words
from pytest_reflex.criteria.diagnostics import Items, Table
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.linting.certainty import always_matches, never_matches
from pytest_reflex.criteria.linting.remark import Remark, warning
from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.globs import selects
from pytest_reflex.model.rules import CheckSpec, Condition, Rule

_NAMES = ("a", "b/c.md", "b/c/.d", "README.md")
_ALWAYS = "leave it out, or say what the artifact has to have"
_NEVER = "the rule counts for no artifact: drop it, or change the condition"
_COUNTS = {"negate", "min_count", "max_count"}


def condition_warnings(rule: Rule, table: Table, faults: Faults) -> Iterator[Remark]:
    """Yield what is odd about the conditions that a rule gives in this file."""
    given = table.get("when")
    entries = given if isinstance(given, Items) else [given]
    written = [entry for entry in entries if isinstance(entry, Table)]
    for condition, entry in zip(rule.when, written, strict=False):
        for code, message, hint in _odd_condition(condition, rule):
            yield warning(code, message, faults, entry.spot, hint=hint, rule_id=rule.id)


def _odd_condition(condition: Condition, rule: Rule) -> Iterator[tuple[str, str, str]]:
    shown = quoted(words(condition))
    holds = _known(condition.check)
    if holds is not None:
        if holds is not condition.negated:
            yield "always-applies", f"{shown} holds for every artifact", _ALWAYS
        else:
            yield "never-applies", f"{shown} holds for no artifact", _NEVER
    elif any(_are_opposite(condition, other) for other in rule.when[: rule.when.index(condition)]):
        message = f"{shown} is the opposite of another condition: both hold for no artifact"
        yield "never-applies", message, _NEVER
    for spec in rule.checks:
        if _same(spec, condition.check):
            end = "pass" if condition.negated else "fail"
            message = f"a check asks for what {shown} has decided already: it can never {end}"
            yield "decided-check", message, "change one of the two"


def _known(spec: CheckSpec) -> bool | None:
    """Return whether a condition always holds, or never does; None where that is not certain."""
    params = spec.params
    if spec.type == "file":
        return _known_name(params["file"])
    search = params.get("search")
    if not isinstance(search, str) or params.get("literal") or _COUNTS & params.keys():
        return None
    if "section" not in params and "block" not in params and always_matches(search):
        return True
    return False if never_matches(search, raw=params.get("raw") is True) else None


def _known_name(globs: str | list[str]) -> bool | None:
    globs = [globs] if isinstance(globs, str) else globs
    if all(selects(globs, name) for name in _NAMES):
        return True
    return False if all(".." in glob.split("/") for glob in globs) else None


def _are_opposite(one: Condition, other: Condition) -> bool:
    return _same(one.check, other.check) and one.negated is not other.negated


def _same(spec: CheckSpec, other: CheckSpec) -> bool:
    return spec.type == other.type and dict(spec.params) == dict(other.params)
