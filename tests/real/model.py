"""A small model of our own: reads the prompts of a loop as a person would, and answers by rule.

It plans by the rules that it is shown, writes a draft that is only a title, takes its critique from
the findings, and mends by adding the section that a fix instruction quotes. Its critique comes
fenced, with words around it, as models like to answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_PHASE = re.compile(r"You are executing phase (\w+) for run ")
_RULE = re.compile(r"^- ([a-z0-9.-]+) \((?:fail|warn|info), weight [^)]*\): (.*)$", re.MULTILINE)
_ARTIFACT = re.compile(
    r"^----- BEGIN ([0-9a-f]{16}) -----\n(.*)^----- END \1 -----$", re.MULTILINE | re.DOTALL
)
_QUOTED = re.compile(r"`([^`\n]+)`")
_ROUND = re.compile(r"^# OODA Loop Iteration\n.*?^Iteration: (\d+)", re.MULTILINE | re.DOTALL)


def answer_to(text: str) -> str:
    """Return the answer to whatever a client sends: a prompt of a loop, or small talk."""
    if found := _ROUND.search(text):
        return _round(int(found[1]))
    start = _PHASE.search(text)
    if start is None:
        return "ok"
    return _ANSWERS[start[1]](text[start.start() :])


def _round(number: int) -> str:
    """Say in the second round that all is done."""
    if number < 2:
        return "I read what is there; something is left to do."
    return "Nothing is left to do.\n\n<promise>SUCCESS</promise>"


def _plan(prompt: str) -> str:
    ids = [rule_id for rule_id, _ in _RULE.findall(_section(prompt, "Active rules"))]
    steps = [f"See to {rule_id}" for rule_id in ids[:4]]
    return json.dumps({"plan": [*steps, *_FILLER][: max(len(steps) + 1, 3)]})


_FILLER = ("Read what is there", "Keep what passes", "Hold the result against every rule")


def _produce(prompt: str) -> str:
    if found := _ARTIFACT.search(prompt):
        return found[2]
    return f"# {_section(prompt, 'Task').splitlines()[0]}\n"


def _prepare(prompt: str) -> str:
    checks = [
        {"rule_id": rule_id, "type": "content", "search": quoted, "literal": True}
        for rule_id, description in _RULE.findall(_section(prompt, "Rules that need checks"))
        for quoted in _QUOTED.findall(description)
    ]
    return json.dumps({"checks": checks})


def _critique(prompt: str) -> str:
    findings = json.loads(_section(prompt, "What the evaluation found"))
    issues = [
        {
            "rule_id": finding["rule_id"],
            "problem": finding["findings"][0]["message"],
            "fix_instruction": finding.get("hint") or finding["description"],
            "expected_effect": f"Rule {finding['rule_id']} passes",
        }
        for finding in findings[:5]
    ]
    return f"Here is what I found.\n\n```json\n{json.dumps({'issues': issues}, indent=2)}\n```\n"


def _refine(prompt: str) -> str:
    found = _ARTIFACT.search(prompt)
    text = found[2] if found else ""
    issues: list[Mapping[str, Any]] = json.loads(_section(prompt, "Issues to fix"))
    for issue in issues:
        quoted = _QUOTED.findall(issue["fix_instruction"])
        headings = [word for word in quoted if word.startswith("#")]
        body = " ".join(f"Use `{word}`." for word in quoted if word not in headings)
        text = text.rstrip("\n") + "".join(f"\n\n{heading}" for heading in headings)
        text += f"\n\n{body}\n" if body else "\n"
    return text


_ANSWERS: Mapping[str, Callable[[str], str]] = {
    "PLAN": _plan,
    "PRODUCE": _produce,
    "PREPARE": _prepare,
    "CRITIQUE": _critique,
    "REFINE": _refine,
}


def _section(prompt: str, title: str) -> str:
    """Return what stands under a heading of the prompt, whose title starts like this."""
    found = re.search(rf"^## {title}[^\n]*\n\n(.*?)(?=^## |\Z)", prompt, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""
