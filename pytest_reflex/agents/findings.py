"""Rules and the findings of an evaluation as parts of a prompt, folded and cut to a bound.

A check is reported by its `expected`; a pattern stands beside that and nowhere else, since it says
not what is wanted. Everything is cut to a length: what was left out is reported.

Promises: pure; every rule that failed is named or counted, and so is every finding; what is
returned is never longer than the budget, as JSON. A rule about which no judge was asked is left
out: nothing is known of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import CheckSpec, Rule, number
from pytest_reflex.model.targets import CompiledCheck

MOST_RULES = 20_000
MOST_FINDINGS = 24_000
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
        _UNCHECKED: [rule for rule in rules if rule.id not in outcomes],
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
        shown = _cut_to_room(lines, room)
        room -= sum(map(len, shown))
        if left := members[len(shown) :]:
            ids = ", ".join(rule.id for rule in left)
            shown.append(f"- {len(left)} more, by id: {cut(ids, _LONGEST_VALUE)}")
        if shown:
            blocks.append("\n".join([title, *shown] if title else shown))
    return "\n\n".join(blocks) or "(none)"


def _cut_to_room(lines: Sequence[str], room: int) -> list[str]:
    shown: list[str] = []
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    return shown


def later_rules_text(rules: Iterable[Rule]) -> str:
    """Return a line for each rule that counts only in a later phase."""
    lines = [
        f"- {rule.id} ({rule.severity.value}): {_one_line(rule.description)}" for rule in rules
    ]
    shown = _cut_to_room(lines, MOST_RULES // 2)
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"- and {more} more"] if more else [])])


def _rule(rule: Rule, compiled: Compile, *, is_passing: bool) -> str:
    weight = f"{rule.severity.value}, weight {number(rule.weight)}"
    lines = [f"- {rule.id} ({weight}): {_one_line(rule.description)}"]
    said = (words_of(compiled(spec)) for spec in rule.checks)
    check = "; ".join(filter(None, said)) if rule.checks else rule.prose
    if check and check != rule.description:
        lines.append(f"  Check: {_one_line(check, 2)}")
    if rule.when:
        from pytest_reflex.checks.composite import words

        lines.append(f"  Only when: {_one_line('; and '.join(map(words, rule.when)), 2)}")
    if rule.hint and not is_passing:
        lines.append(f"  Hint: {_one_line(rule.hint)}")
    return "\n".join(lines)


def _one_line(text: str, times: int = 1) -> str:
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


def describe_checks(evaluation: Evaluation, compiled: Compile) -> Evaluation:
    """Return an evaluation whose checks say in `expected` what they look for.

    A pattern stands beside words: those of the check, or else the description of its rule.
    """
    rows = (_describe_row(row, compiled) for row in evaluation.results)
    return replace(evaluation, results=tuple(rows))


def _describe_row(row: RuleResult, compiled: Compile) -> RuleResult:
    specs: Sequence[CheckSpec | None] = row.rule.checks
    if len(specs) != len(row.checks):
        specs = [None] * len(row.checks)
    words = (words_of(compiled(spec)) if spec else "" for spec in specs)
    checks = (
        replace(check, expected=_one_line(description or check.expected or row.rule.description, 2))
        for check, description in zip(row.checks, words, strict=True)
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


BUDGET = 24_000
"""Characters that all findings together may have."""
MOST_FOLDED_RULES = 20
MOST_FOLDED_FINDINGS = 5
"""Findings that are shown of one rule."""
MOST_LINES = 10

_LONGEST = 600  # characters of a text that is not evidence
_LONGEST_EVIDENCE = 2_000
_SHORTEST_EVIDENCE = 80
_CUT = " ..."
# A check that does not apply is reported where the others of its rule were not measured.
_WORST_FIRST = (Outcome.FAIL, Outcome.ERROR, Outcome.NOT_MEASURED, Outcome.NOT_APPLICABLE)

Finding = dict[str, Any]


_MEANS = {
    "times": "how often a finding was made",
    "same_as": "the rule whose findings a rule shares",
    "more_findings": "how many of a rule are not shown here",
    "more_rules": "how many rules that failed are not shown here",
}


def findings_section(evaluation: Evaluation | None) -> str:
    """Return the findings of an evaluation for a prompt, with what its rarer keys mean."""
    found = findings(evaluation) if evaluation else []
    every = [one for entry in found for one in (entry, *entry.get("findings", ()))]
    used = [f"`{key}`: {what}" for key, what in _MEANS.items() if any(key in one for one in every)]
    return "\n\n".join([*(["; ".join(used)] if used else []), _json(found)])


def findings_text(evaluation: Evaluation | None, budget: int = BUDGET) -> str:
    """Return the findings of an evaluation as JSON of at most `budget` characters."""
    return _json(findings(evaluation, budget) if evaluation else [])


def findings(evaluation: Evaluation, budget: int = BUDGET) -> list[Finding]:
    """Return what failed, rule by rule: severity fail first, then by weight, shared causes last.

    What checks of a rule share is one finding, with how many `times`; a rule that failed by the
    causes of an earlier one names that as `same_as`. What there is no room for is counted.
    """
    rows = sorted(
        evaluation.findings,
        key=lambda row: (
            bool(row.same_cause),
            row.rule.severity is not Severity.FAIL,
            -row.rule.weight,
        ),
    )
    shown = MOST_FOLDED_RULES
    while True:
        found = [*_fold_rows(rows[:shown]), *_count_omitted(rows[shown:])]
        if _with_evidence(found, budget) or not shown:
            return found
        shown = shown * 3 // 4


def _fold_rows(rows: Iterable[RuleResult]) -> list[Finding]:
    """Return an entry for each rule; one with the causes of an earlier one only says whose.

    Findings stand in a list, a single one too.
    """
    first: dict[str, str] = {}
    found = []
    for row in rows:
        if row.same_cause:
            found.append(_fold_rule(row) | {"same_as": row.same_cause})
            continue
        parts = _parts(row)
        head, *others = parts["findings"]
        causes = [(one["outcome"], one["message"], one.get("line")) for one in parts["findings"]]
        wanted = [one.get("expected") for one in others]
        key = _json([causes, wanted, parts.get("more_findings")])
        same = first.setdefault(key, row.rule.id)
        if same != row.rule.id:
            own = {"expected": head["expected"]} if "expected" in head else {}
            parts = {"same_as": same} | own
        unjudged = row.decisive is not None and row.decisive.is_unjudged
        hint = {"hint": _cut(row.rule.hint, _LONGEST)} if row.rule.hint and not unjudged else {}
        found.append(_fold_rule(row) | parts | hint)
    return found


def _fold_rule(row: RuleResult) -> Finding:
    rule = row.rule
    return {
        "rule_id": rule.id,
        "severity": rule.severity.value,
        "weight": number(rule.weight),
        "description": _cut(rule.description, _LONGEST),
    }


def _parts(row: RuleResult) -> Finding:
    """Return the findings of a rule, equal ones together, and how many more there are."""
    bad = sorted(filter(_counts, row.checks), key=lambda check: _WORST_FIRST.index(check.outcome))
    groups: dict[tuple[str, ...], list[CheckResult]] = {}
    for check in bad:
        cause = (check.outcome.value, check.message, check.expected)
        groups.setdefault(cause, []).append(check)
    listed = [_finding(checks) for checks in list(groups.values())[:MOST_FOLDED_FINDINGS]]
    if not bad:
        listed = [{"outcome": row.outcome.value, "message": _cut(row.message, _LONGEST)}]
    more = len(bad) - sum(finding.get("times", 1) for finding in listed)
    return {"findings": listed} | ({"more_findings": more} if bad and more else {})


def _counts(check: CheckResult) -> bool:
    return check.outcome is not Outcome.PASS and not (check.not_asked or check.same_cause)


def _finding(checks: Sequence[CheckResult]) -> Finding:
    """Return checks that failed for one cause as one finding."""
    check = checks[0]
    found: Finding = {
        "outcome": check.outcome.value,
        "message": _cut(check.message, _LONGEST),
    }
    if check.expected:
        found["expected"] = _cut(check.expected, _LONGEST)
    if evidence := next((c.evidence for c in checks if c.evidence), ""):
        found["evidence"] = _cut(evidence, _LONGEST_EVIDENCE)
    every = [found.location for c in checks for found in c.findings] + [c.location for c in checks]
    lines = sorted({place.line for place in every if place and place.line})
    if lines:
        found["line"] = lines[0] if len(lines) == 1 else lines[:MOST_LINES]
    if len(checks) > 1:
        found["times"] = len(checks)
    return found


def _count_omitted(rows: Sequence[RuleResult]) -> list[Finding]:
    if not rows:
        return []
    fails = sum(row.rule.severity is Severity.FAIL for row in rows)
    return [{"more_rules": len(rows), "of_severity_fail": fails}]


def _with_evidence(found: Sequence[Finding], budget: int) -> bool:
    """Cut all evidence to one length, so that all fits into a budget; return whether it does."""
    every = (one for entry in found for one in entry.get("findings", (entry,)))
    holders = [one for one in every if "evidence" in one]
    whole = [one["evidence"] for one in holders]
    limit = _LONGEST_EVIDENCE
    while len(_json(found)) > budget:
        if not limit:
            return False
        limit = limit * 3 // 4 if limit > _SHORTEST_EVIDENCE else 0
        for one, text in zip(holders, whole, strict=True):
            if limit:
                one["evidence"] = _cut(text, limit)
            else:
                one.pop("evidence", None)
    return True


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT
