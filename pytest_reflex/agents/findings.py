"""Rules and what was found of them, in the words of a prompt.

A check is reported by its `expected`; a pattern stands beside that and nowhere else, since it says
to nobody what is wanted. Everything is cut to a length: what was left out is reported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.rules import CheckSpec, Rule, number
from pytest_reflex.model.targets import CompiledCheck

MOST_RULES = 20_000
MOST_FINDINGS = 24_000
_MOST_CHECKS = 8
_MOST_IDS = 50
_LONGEST_VALUE = 2_000
_LONGEST_WORDS = 600
SEVERITIES = """\
Severity fail: the rule has to pass. warn: it counts for the score. info: it is only reported."""
_UNMEASURED = "These were not measured, and so did not pass:"
_NOT_APPLICABLE = "These do not apply to it as it is (see `Only when`), and so do not count:"
_UNCHECKED = "These are not checked yet (new, or fixed just now):"
_NOW = ("These do not pass now:", "These pass now; keep them so:")
_BEFORE = (
    "These did not pass when they were last checked, before REFINE:",
    "These passed when they were last checked; keep them so:",
)


Compile = Callable[[CheckSpec], CompiledCheck]


def rules_text(
    rules: Sequence[Rule], evaluation: Evaluation | None, compiled: Compile, *, is_older: bool
) -> str:
    """Return a list of rules; those that did not pass come first where they were evaluated.

    `is_older` says that the artifact has changed since then; `compiled` gives checks that say what
    they ask for.
    """
    outcomes = {row.rule.id: row.outcome for row in evaluation.results} if evaluation else {}
    measured = (Outcome.FAIL, Outcome.ERROR)
    failing, passing = _BEFORE if is_older else _NOW
    groups = {
        failing: [rule for rule in rules if outcomes.get(rule.id) in measured],
        _UNMEASURED: [rule for rule in rules if outcomes.get(rule.id) is Outcome.NOT_MEASURED],
        "These are not checked yet (new, or fixed just now):": [
            rule for rule in rules if rule.id not in outcomes
        ],
        _NOT_APPLICABLE: [
            rule for rule in rules if outcomes.get(rule.id) is Outcome.NOT_APPLICABLE
        ],
        passing: [rule for rule in rules if outcomes.get(rule.id) is Outcome.PASS],
    }
    if not outcomes:
        groups = {"": list(rules)}
    blocks = list[str]()
    room = MOST_RULES
    for title, members in groups.items():
        lines = [_rule(rule, compiled, is_passing=title == passing) for rule in members]
        shown = _fitting(lines, room)
        room -= sum(map(len, shown))
        if left := members[len(shown) :]:
            ids = ", ".join(rule.id for rule in left)
            shown.append(f"- {len(left)} more, by id: {cut(ids, _LONGEST_VALUE)}")
        if shown:
            blocks.append("\n".join([title, *shown] if title else shown))
    return "\n\n".join(blocks) or "(none)"


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    shown: list[str] = []
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    return shown


def later_rules_text(rules: Iterable[Rule]) -> str:
    """Return a line for each rule that counts only in a later phase."""
    lines = [f"- {rule.id} ({rule.severity.value}): {_said(rule.description)}" for rule in rules]
    shown = _fitting(lines, MOST_RULES // 2)
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"- and {more} more"] if more else [])])


def _rule(rule: Rule, compiled: Compile, *, is_passing: bool) -> str:
    weight = f"{rule.severity.value}, weight {number(rule.weight)}"
    lines = [f"- {rule.id} ({weight}): {_said(rule.description)}"]
    said = (words_of(compiled(spec)) for spec in rule.checks)
    check = "; ".join(filter(None, said)) if rule.checks else rule.prose
    if check and check != rule.description:
        lines.append(f"  Check: {_said(check, 2)}")
    if rule.when:
        from pytest_reflex.checks.composite import words

        lines.append(f"  Only when: {_said('; and '.join(map(words, rule.when)), 2)}")
    if rule.hint and not is_passing:
        lines.append(f"  Hint: {_said(rule.hint)}")
    return "\n".join(lines)


def _said(text: str, times: int = 1) -> str:
    """Return words on one line, so that they cannot pose as a section of the prompt."""
    return cut(" ".join(text.split()), times * _LONGEST_WORDS)


def words_of(check: CompiledCheck) -> str:
    """Return what a check asks for; empty where only a pattern, or the session, could say it."""
    wanted = check.spec.expected
    if check.alternatives:
        one_of = "; or: ".join(filter(None, map(words_of, check.alternatives)))
        return wanted or (f"one of these: {one_of}" if one_of else "")
    words = check.description
    if wanted and words:
        return f"{wanted} ({words})"
    return wanted or ("" if check.is_pattern else words)


def told_in_words(evaluation: Evaluation, compiled: Compile) -> Evaluation:
    """Return an evaluation whose checks say in `expected` what they look for.

    A pattern stands beside words: those of the check, or else the description of its rule.
    """
    rows = (_in_words(row, compiled) for row in evaluation.results)
    return replace(evaluation, results=tuple(rows))


def _in_words(row: RuleResult, compiled: Compile) -> RuleResult:
    specs: Sequence[CheckSpec | None] = row.rule.checks
    if len(specs) != len(row.checks):
        specs = [None] * len(row.checks)
    words = (words_of(compiled(spec)) if spec else "" for spec in specs)
    checks = (
        replace(check, expected=_said(told or check.expected or row.rule.description, 2))
        for check, told in zip(row.checks, words, strict=True)
    )
    return replace(row, checks=tuple(checks))


def as_json(value: Any) -> str:
    """Return JSON for a prompt."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, and a mark where there was more."""
    return text if len(text) <= limit else text[:limit] + " ..."


def cut_in_the_middle(text: str, limit: int) -> str:
    """Return a text without its middle where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[... {left_out:,} characters are left out here ...]\n{text[-tail:]}"
