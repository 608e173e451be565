"""The built-in agent: deterministic, free, without network or key.

It plans from the rules, starts from the draft, critiques what the checks said, and leaves mending to
the fixes that rules carry: what no fix covers stays as it is, and the loop says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from pytest_reflex.fixes import apply_all
from pytest_reflex.model.results import RuleResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.words import Severity, Step

MAX_STEPS, MIN_STEPS, MAX_ISSUES = 5, 3, 5
_QUOTED = re.compile(r"`([^`\n]+)`")


class OfflineAgent:
    """Answers every step from what the request holds; equal requests get equal answers."""

    name = "offline"

    def respond(self, request: StepRequest) -> Reply:
        text = _ANSWER[request.step](request)
        return Reply(text=text, agent=self.name, usd=0.0, tokens=0, details={"free": True})


def plan(request: StepRequest) -> str:
    """Name the rules to satisfy, grouped by category, what failed before first."""
    failed = (
        {r.rule.id for r in request.evaluation.results if not r.passed}
        if request.evaluation
        else set()
    )
    groups: dict[str, list[str]] = {}
    for rule in sorted(request.rules, key=lambda rule: rule.id not in failed):
        groups.setdefault(_category(rule), []).append(rule.id)
    steps = [f"Satisfy {name}: {', '.join(ids)}" for name, ids in groups.items()]
    if len(steps) > MAX_STEPS:
        rest = [rule_id for ids in list(groups.values())[MAX_STEPS - 1 :] for rule_id in ids]
        steps = [*steps[: MAX_STEPS - 1], f"Satisfy the rest: {', '.join(rest)}"]
    first = request.rules[0].id if request.rules else "every rule"
    spare = (f"Check {first} again after the changes", f"Keep what passes {first} unchanged")
    return _dump({"plan": [*steps, *spare[: max(0, MIN_STEPS - len(steps))]]})


def _category(rule: Rule) -> str:
    return rule.id.split(".")[1] if "." in rule.id else "the rules"


def produce(request: StepRequest) -> str:
    """Keep the artifact there is, else take the draft, else the task itself as a first text."""
    if request.artifact:
        return request.artifact
    if request.draft and request.draft.strip():
        return request.draft
    return f"# {' '.join(request.task.split())}\n"


def prepare(request: StepRequest) -> str:
    """Make content checks of what a rule's prose quotes in backticks; guess nothing else."""
    checks = [
        {"rule_id": rule.id, "type": "content", "search": text, "literal": True, "expected": text}
        for rule in request.rules
        for text in _QUOTED.findall(rule.prose)
    ]
    return _dump({"checks": checks})


def critique(request: StepRequest) -> str:
    """Turn what failed into issues: fail first, then warn, by weight."""
    evaluation = request.evaluation
    rows = [] if evaluation is None else [*evaluation.failed, *evaluation.warnings]
    return _dump({"issues": [_issue(row) for row in sorted(rows, key=_urgency)[:MAX_ISSUES]]})


def _urgency(row: RuleResult) -> tuple[bool, Any]:
    return row.rule.severity is not Severity.FAIL, -row.rule.weight


def _issue(row: RuleResult) -> dict[str, str]:
    rule, check = row.rule, row.decisive
    wanted = (check.expected if check else "") or rule.description
    return {
        "rule_id": rule.id,
        "problem": row.message or "the check did not pass",
        "fix_instruction": rule.hint or f"Make this hold: {wanted}",
        "expected_effect": f"Rule {rule.id} passes",
    }


def refine(request: StepRequest) -> str:
    """Apply the safe fixes of the rules named; what has none stays as it is."""
    fixes = [fix for rule in _named(request) for fix in rule.fixes if fix.safe]
    return apply_all(fixes, request.artifact or "")[0]


def _named(request: StepRequest) -> Iterable[Rule]:
    rules = (request.criteria.rule(issue["rule_id"]) for issue in request.issues)
    return (rule for rule in rules if rule)


def _dump(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


_ANSWER: dict[Step, Callable[[StepRequest], str]] = {
    Step.PLAN: plan,
    Step.PRODUCE: produce,
    Step.PREPARE: prepare,
    Step.CRITIQUE: critique,
    Step.REFINE: refine,
}
