"""Warnings about the rules of a file together, and about unused keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.checks.registry import Key
from pytest_reflex.criteria.diagnostics import VAR, Diagnostics, Items, Table, quote
from pytest_reflex.criteria.linting.diagnostic import Diagnostic, warning
from pytest_reflex.criteria.load import is_suite
from pytest_reflex.criteria.rules import Draft
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import FORMAT, VARIABLE_PREFIX, CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import CompiledCheck

_OF_FILES = ("extends", "criteria", "phases", "vars", "commands", "drop")
_OF_RULES = ("fix", "samples")


def idle_keys(
    table: Table, diagnostics: Diagnostics, keys: Sequence[str], rule_id: str
) -> Iterator[Diagnostic]:
    """Yield the keys of a mapping that are there and hold nothing."""
    for key in keys:
        if key in table and (table[key] is None or table[key] in ([], {})):
            message = f"{key} is empty"
            spot = table.at_key(key)
            yield warning(
                "says-nothing", message, diagnostics, spot, hint="leave it out", rule_id=rule_id
            )


def idle_in_file(table: Table, diagnostics: Diagnostics) -> Iterator[Diagnostic]:
    """Yield what is empty in a file besides its rules: empty keys, a name given twice."""
    yield from idle_keys(table, diagnostics, _OF_FILES, "")
    for key in ("extends", "criteria"):
        names = table.get(key)
        if not isinstance(names, Items):
            continue
        for index, name in enumerate(names):
            if name in names[:index]:
                message = f"{key} names {quote(str(name))} twice"
                yield warning(
                    "says-nothing", message, diagnostics, names.at(index), hint="leave one out"
                )


def idle_in_rule(table: Table, diagnostics: Diagnostics, rule_id: str) -> Iterator[Diagnostic]:
    """Yield the keys of a rule that are empty."""
    return idle_keys(table, diagnostics, _OF_RULES, rule_id)


def never_found(
    spec: CheckSpec, table: Table, diagnostics: Diagnostics, rule_id: str
) -> Iterator[Diagnostic]:
    """Yield parameters of a check that name files which no folder has."""
    files: Any = spec.params.get("files", ())
    for glob in (files,) if isinstance(files, str) else files:
        if isinstance(glob, str) and ".." in glob.split("/"):
            message = f"{quote(glob)} matches no file of a folder: names start in the folder"
            spot, hint = table.at("files"), "such as docs/*.md"
            yield warning("never-found", message, diagnostics, spot, hint=hint, rule_id=rule_id)


_ABSENCE = ("negate", "min_count", "max_count")


def set_warnings(
    criteria: Criteria,
    checks: Mapping[Key, CompiledCheck],
    drafts: Mapping[str, Draft],
    table: Table,
    diagnostics: Diagnostics,
) -> Iterator[Diagnostic]:
    """Yield what is odd about a file as a whole; `drafts` are all rules, `table` is the file."""
    yield from idle_in_file(table, diagnostics)
    own = [rule for rule in criteria.rules if drafts[rule.id].diagnostics is diagnostics]
    yield from _twins(criteria.rules, own, drafts, diagnostics)
    yield from _contradictions(checks, own, drafts, diagnostics)
    yield from _variables(table, diagnostics, drafts)
    yield from _commands(criteria, table, diagnostics)
    yield from _thresholds(criteria, table, diagnostics)
    if is_suite(table) and table.get("phase") == "A":
        for rule in (rule for rule in own if rule.level is Level.B):
            yield warning(
                "unreached-rules",
                "it is of phase B, and this suite stops at phase A",
                diagnostics,
                drafts[rule.id].table.spot,
                hint="phase: B, or make it a rule of A",
                rule_id=rule.id,
            )


def _twins(
    rules: Iterable[Rule], own: list[Rule], drafts: Mapping[str, Draft], diagnostics: Diagnostics
) -> Iterator[Diagnostic]:
    checks: dict[str, str] = {}
    words: dict[str, str] = {}
    ours = {rule.id for rule in own}
    for rule in rules:
        table = drafts[rule.id].table
        same = checks.setdefault(_key(rule.checks), rule.id) if rule.checks else rule.id
        if same != rule.id and rule.id in ours:
            message = f"it has the same checks as {same}, so both count one failure"
            hint = "drop one of them"
            spot = table.at("check")
            yield warning("same-checks", message, diagnostics, spot, hint=hint, rule_id=rule.id)
        same = words.setdefault(rule.description.casefold(), rule.id)
        if same != rule.id and rule.id in ours:
            spot = table.at("description")
            message = f"it has the same description as {same}"
            yield warning("same-description", message, diagnostics, spot, rule_id=rule.id)


def _key(checks: Iterable[CheckSpec]) -> str:
    return json.dumps([[c.type, c.params] for c in checks], sort_keys=True, default=str)


def _contradictions(
    checks: Mapping[Key, CompiledCheck],
    own: list[Rule],
    drafts: Mapping[str, Draft],
    diagnostics: Diagnostics,
) -> Iterator[Diagnostic]:
    """Yield pairs of searches, one of which wants what the other forbids."""
    wanted: dict[tuple[str, bool], str] = {}
    ours = {rule.id for rule in own}
    for (rule_id, _), check in checks.items():
        search = check.search
        if search is None or search.is_counted:
            continue
        params = {k: v for k, v in check.spec.params.items() if k not in _ABSENCE}
        key = json.dumps(params, default=str)
        other = wanted.get((key, not check.forbids))
        wanted.setdefault((key, check.forbids), rule_id)
        if other and rule_id in ours:
            yield warning(
                "contradiction",
                f"{other} and it want the opposite of {quote(search.source)}",
                diagnostics,
                drafts[rule_id].table.at("check"),
                hint="no artifact can meet both",
                rule_id=rule_id,
            )


def _variables(
    table: Table, diagnostics: Diagnostics, drafts: Mapping[str, Draft]
) -> Iterator[Diagnostic]:
    declared = table.get("vars")
    if not isinstance(declared, Table):
        return
    used: set[str] = set()
    texts: list[str] = []
    for draft in drafts.values():
        for part in draft.parts():
            for kind, text in _texts(part.table):
                (used.add if kind == VAR else texts.append)(text)
    for name in declared:
        in_commands = any(VARIABLE_PREFIX + name.upper() in text for text in texts)
        if name not in used and not in_commands:
            hint = f"{{var: {name}}} as a value, or ${VARIABLE_PREFIX}{name.upper()} in a command"
            message = f"nothing uses the variable {quote(name)}"
            yield warning("unused-variable", message, diagnostics, declared.at_key(name), hint=hint)


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text below a value, with the key that it stands under."""
    if isinstance(value, Table):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, Items):
        for item in value:
            yield from _texts(item, key)
    elif isinstance(value, str):
        yield key, value


def _commands(criteria: Criteria, table: Table, diagnostics: Diagnostics) -> Iterator[Diagnostic]:
    formatting = any(fix.kind == FORMAT for rule in criteria.rules for fix in rule.fixes)
    if table.get("commands") and not formatting and all(rule.checks for rule in criteria.rules):
        message = "no rule needs an agent's checks, so that nothing calls these commands"
        spot = table.at_key("commands")
        hint = "a rule whose check is prose, or a fix of the kind format, is what they are for"
        yield warning("unused-command", message, diagnostics, spot, hint=hint)


def _thresholds(criteria: Criteria, table: Table, diagnostics: Diagnostics) -> Iterator[Diagnostic]:
    key = "phases" if "phases" in table else "phase"
    levels = table.get(key)
    if not isinstance(levels, Table):
        return
    for level in Level:
        if level.value in levels and criteria.thresholds[level] == 0:
            message = f"with a threshold of 0 the score of phase {level} counts for nothing"
            yield warning("zero-threshold", message, diagnostics, levels.at(level.value))
    if criteria.thresholds[Level.B] < criteria.thresholds[Level.A]:
        message = "the threshold of phase B is below that of phase A"
        hint = "B is the stricter phase"
        yield warning("falling-threshold", message, diagnostics, table.at(key), hint=hint)
