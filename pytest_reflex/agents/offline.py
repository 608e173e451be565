"""The built-in agent that needs no network and no key: the same request gives the same answer.

It plans by the rules, starts from the draft, criticises from what checks found, and refines by the
safe fixes that rules carry. What no fix can change it leaves as it is, and its critique says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pytest_reflex import fixes
from pytest_reflex.model.enums import Severity, Step
from pytest_reflex.model.plain import list_first
from pytest_reflex.model.results import RuleResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.steps import Reply, StepRequest

MAX_STEPS = 5
MAX_ISSUES = 5
MAX_LISTED = 20

_QUOTED = re.compile(r"`([^`\n]+)`")
# Prose with one of these may mean the opposite of "this text is there", or one of several.
_UNCLEAR = re.compile(
    r"\b(?:no|not|never|none|without|avoid|remove[ds]?|absen[ct]e?|instead|unless|except|or|either"
    r"|any of|one of|if|when|only|must ?n.t|should ?n.t|do ?n.t|does ?n.t|ca ?n.t)\b",
    re.IGNORECASE,
)


class OfflineAgent:
    """Answers every step without help from outside."""

    name = "offline"

    def respond(self, request: StepRequest) -> Reply:
        """Answer a step; `details` says that it was free."""
        answer = _ANSWERS.get(request.step)
        if answer is None:
            return self._reply("", error=f"the offline agent has no answer to {request.step.value}")
        return self._reply(answer(request))

    def _reply(self, text: str, error: str = "") -> Reply:
        return Reply(
            text=text, agent=self.name, error=error, usd=0.0, tokens=0, details={"free": True}
        )


def _plan(request: StepRequest) -> str:
    level = request.level.value
    steps = []
    evaluation = request.evaluation
    rows = evaluation.results if evaluation else ()
    failed = [row.rule.id for row in rows if row.unmet and not row.not_asked]
    if failed:
        steps.append(f"Fix what the last evaluation found: {_format_ids(failed)}")
    groups = list(_groups(request.rules))
    room = MAX_STEPS - 1 - len(steps)
    if len(groups) > room:
        rest = [rule for _, rules in groups[room - 1 :] for rule in rules]
        groups = [*groups[: room - 1], ("everything else", rest)]
    steps += [f"Work on {name}: {_format_ids(rule.id for rule in rules)}" for name, rules in groups]
    every = _format_ids(rule.id for rule in request.rules)
    steps.append(f"Check the result against every active rule of level {level}: {every}")
    if len(steps) < 3:
        steps.insert(-1, f"Leave alone what already passes at level {level}")
    if len(steps) < 3:
        steps.insert(0, "Read the task and the artifact")
    return json.dumps({"plan": steps}, ensure_ascii=False)


def _format_ids(ids: Iterable[str]) -> str:
    return list_first(ids, MAX_LISTED) or "none"


def _groups(rules: Iterable[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    """Yield the rules by the middle part of their ids, in the order of the criteria."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        parts = rule.id.split(".")
        found.setdefault(parts[1] if len(parts) > 2 else parts[0], []).append(rule)
    yield from found.items()


def _produce(request: StepRequest) -> str:
    """Return the previous artifact, else the draft, else the task itself as a document."""
    for text in (request.artifact, request.draft):
        if text is not None and text.strip():
            return text
    title = " ".join(request.task.split())
    return f"# {title[:80].rstrip()}\n\n{request.task.strip()}\n"


def _prepare(request: StepRequest) -> str:
    """Return literal checks for prose that quotes what has to be there, and nothing else."""
    checks = [
        {
            "rule_id": rule.id,
            "type": "content",
            "search": quoted,
            "literal": True,
            "expected": f"{quoted} is there",
        }
        for rule in request.rules
        if not rule.checks and not _UNCLEAR.search(_QUOTED.sub("", rule.prose))
        for quoted in dict.fromkeys(_QUOTED.findall(rule.prose))
    ]
    return json.dumps({"checks": checks}, ensure_ascii=False)


def _critique(request: StepRequest) -> str:
    evaluation = request.evaluation
    rows = evaluation.findings if evaluation else ()
    worst = sorted(rows, key=_urgency)[:MAX_ISSUES]
    return json.dumps({"issues": [_issue(row) for row in worst]}, ensure_ascii=False)


def _urgency(row: RuleResult) -> tuple[Any, ...]:
    """Fail before warn, heavy before light, and what can be fixed before what cannot."""
    fixable = any(fix.safe for fix in row.rule.fixes)
    return (row.rule.severity is not Severity.FAIL, -row.rule.weight, not fixable)


def _issue(row: RuleResult) -> dict[str, str]:
    rule, check = row.rule, row.decisive
    wanted = (check.expected if check else "") or rule.description
    instruction = rule.hint or f"Change the artifact so that this holds: {wanted}"
    if not any(fix.safe for fix in rule.fixes):
        instruction += " (the rule carries no safe fix: a person or another agent has to do it)"
    return {
        "rule_id": rule.id,
        "problem": row.message.strip() or f"{rule.id} did not pass",
        "fix_instruction": instruction,
        "expected_effect": f"Rule {rule.id} passes",
    }


def _refine(request: StepRequest) -> str:
    """Return the artifact with the safe fixes of the criticised rules; they are idempotent."""
    criticised = (issue["rule_id"] for issue in request.issues)
    return fixes.fix_text(request.criteria, criticised, request.artifact or "").text


_ANSWERS: Mapping[Step, Callable[[StepRequest], str]] = {
    Step.PLAN: _plan,
    Step.PRODUCE: _produce,
    Step.PREPARE: _prepare,
    Step.CRITIQUE: _critique,
    Step.REFINE: _refine,
}
