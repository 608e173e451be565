"""The criteria and steps that a spec states; what it does not state is not made up.

A criterion is an item under success, acceptance or done, or a sentence elsewhere that can be
verified: it compares a number, or has a command that passes. Its text is that of the spec.
"""

from __future__ import annotations

import re

from pytest_reflex.drivers.goal.claims import Part, commands, measures, parts_of, states_nothing
from pytest_reflex.drivers.goal.model import Criterion, Plan, Verification

_CRITERIA_SECTIONS = ("success", "done")
_NO_CRITERIA = ("constraints", "steps")
# A command that has to fail, or that must not be run, verifies nothing by its exit status.
_REVERSED = re.compile(
    r"\b(?:fails?|non-?zero|exits? (?:with )?(?:status |code )?[1-9]|finds nothing|no longer"
    r"|must not|never|do(?:es)? not|don['’]t|instead of|without)\b",
    re.I,
)
_PASSES = re.compile(
    r"\b(?:pass(?:es)?|succeeds?|works?|(?:is|stays|runs) (?:green|clean)|exits? (?:with )?0"
    r"|no (?:errors?|warnings?))\b",
    re.I,
)
_STATED = re.compile(
    r"\b(?:tests?|lint\w*|suite|ci|build|type ?checks?|mypy|ruff)\b(?:\s+\w+){0,2}\s+"
    r"(?:pass(?:es)?|succeeds?|(?:is |are |stays? )?(?:green|clean))\b",
    re.I,
)
_KINDS = (
    (Verification.CODE_REVIEW, re.compile(r"\b(?:code review|reviewed|approved by)\b", re.I)),
    (
        Verification.OBSERVATION,
        re.compile(r"\b(?:manual(?:ly)?|qa|screenshots?|renders?|by hand|looks?|visible)\b", re.I),
    ),
)
_PRINTS = re.compile(r"\b(?:prints?|reports?|shows?|says|outputs?|measures?|gives?)\b", re.I)
_UNTIL = re.compile(r"\b(?:until|so that|done when|done once|finished when)\s+", re.I)


def criteria_of(spec: str) -> tuple[Criterion, ...]:
    """Return the criteria of a spec, each text once, in their order."""
    found: dict[str, Criterion] = {}
    for part in parts_of(spec):
        text = _stated(part)
        if text and not states_nothing(text):
            found.setdefault(text, Criterion(text=text, plan=plan_of(text)))
    return tuple(found.values())


def _stated(part: Part) -> str:
    """Return the criterion that a statement is, or has behind an `until`; empty for none."""
    if part.section in _CRITERIA_SECTIONS:
        return part.text
    if part.section in _NO_CRITERIA or part.numbered:
        return ""
    pieces = _UNTIL.split(part.text, maxsplit=1)
    text = pieces[-1].strip()
    plan = plan_of(text)
    proven = plan.command and (_PASSES.search(text) or plan.compare)
    return text if plan.compare or proven or _STATED.search(text) else ""


def plan_of(text: str) -> Plan:
    """Return how a criterion can be verified by what its text names."""
    compared = measures(_without_commands(text))
    compare = str(compared[0]) if compared and compared[0].what else ""
    run = [] if _REVERSED.search(text) else commands(text)
    command = " && ".join(run)
    if compare:
        # Which of several commands prints the number is not known.
        command = command if len(run) == 1 else ""
        return Plan(command=command, compare=compare, required=Verification.MEASUREMENT)
    if command:
        return Plan(command=command, required=Verification.EXECUTION_OUTPUT)
    kind = next((kind for kind, pattern in _KINDS if pattern.search(text)), None)
    return Plan(required=kind)


def _without_commands(text: str) -> str:
    """Return a statement in which no command, and no word for what it prints, names a number."""
    for command in commands(text):
        text = text.replace(f"`{command}`", ";")
    return _PRINTS.sub(";", text)


def steps_of(spec: str) -> tuple[str, ...]:
    """Return the steps of a spec: what stands under steps, or numbered items outside criteria."""
    parts = list(parts_of(spec))
    steps = [one.text for one in parts if one.section == "steps" and one.item]
    if not steps:
        outside = (*_CRITERIA_SECTIONS, "constraints", "scope")
        steps = [one.text for one in parts if one.numbered and one.section not in outside]
    return tuple(dict.fromkeys(steps))
