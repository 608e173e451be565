"""What kind of work a spec asks for: its workflow, how far it can be rolled back, its points.

Source: seed 003. Workflow: the earliest indicator wins; where two begin at one place, debugging
comes before refactoring, and that before building. Reversibility: what is hardest to roll back
wins, and a spec without a cue can be rolled back within minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_reflex.drivers.goal.model import (
    Criterion,
    Plan,
    Reversibility,
    Verification,
    Workflow,
)

# In the order in which ties are decided.
_INDICATORS: Mapping[Workflow, re.Pattern[str]] = {
    Workflow.DEBUG: re.compile(
        r"\b(?:fix(?:e[sd]|ing)?|debug(?:s|ged|ging)?|broken|errors?|fail(?:s|ing|ed"
        r"|ures?)?)\b",
        re.I,
    ),
    Workflow.REFACTOR: re.compile(
        r"\b(?:refactor(?:s|ed|ing)?|clean(?:s|ed|ing)?[ -]?up|re-?organi[sz](?:e[sd]?|ing)"
        r"|migrat(?:e[sd]?|ing|ions?))\b",
        re.I,
    ),
    Workflow.BUILD: re.compile(
        r"\b(?:add(?:s|ed|ing)?|implement(?:s|ed|ing)?|creat(?:e[sd]?|ing)|new features?)\b", re.I
    ),
}

_NEGATED = re.compile(
    r"(?:\b(?:no|not|without|never|avoid|keep(?:ing)?|don['’]t|unchanged)\b"
    r"(?:\s+[\w'-]+){0,3}\s*)\Z",
    re.I,
)
_CUES: Mapping[Reversibility, re.Pattern[str]] = {
    Reversibility.ONE_WAY: re.compile(
        r"\b(?:schemas?(?! (?:file|json))\b[^.;\n]{0,20}\b(?:chang\w*|migrat\w*)|database"
        r" migrations?"
        r"|(?:chang|migrat|alter|drop|renam|delet|truncat)\w*\s+(?:\w+\s+){0,3}"
        r"(?:schemas?|tables?|columns?|databases?|production|user data|public)\b"
        r"|public (?:\w+ )?(?:apis?|interfaces?)|breaking changes?|wire formats?"
        r"|(?:deploy|release|publish|roll out)\w*\s+(?:\w+\s+){0,2}(?:to|in) (?:prod\w*|pypi"
        r"|npm|users)"
        r"|force[- ]push\w*|send\w* (?:e-?mails?|payments?))\b",
        re.I,
    ),
    Reversibility.CHECKPOINTED: re.compile(
        r"\b(?:dependenc(?:y|ies)|deps|refactor\w*|re-?organi[sz]\w*|upgrad\w*|migrat\w*"
        r"|rewrit\w*"
        r"|lock ?files?|split\w*|extract\w*)\b",
        re.I,
    ),
    Reversibility.FAST: re.compile(
        r"\b(?:config\w*|settings?|renam\w*|typos?|comments?|docs?|documentation|readme"
        r"|changelog"
        r"|wording|log level|feature flags?|format(?:ting)?|whitespace)\b",
        re.I,
    ),
}

_GATES: Mapping[Workflow, str] = {
    Workflow.BUILD: "libraries were searched for before anything was built",
    Workflow.DEBUG: "the root cause was found before any workaround",
    Workflow.REFACTOR: "what can be deleted was deleted before the redesign",
}

_POINTS = ((1, 1), (3, 3), (5, 5), (8, 8))
_MOST_POINTS = 13


def workflow_of(spec: str) -> Workflow | None:
    """Return the kind of work by the earliest indicator; None where there is none."""
    found = [
        (match.start(), order, workflow)
        for order, (workflow, pattern) in enumerate(_INDICATORS.items())
        if (match := pattern.search(spec))
    ]
    return min(found)[2] if found else None


def gate_of(workflow: Workflow) -> Criterion:
    """Return what has to be shown in each workflow; only evidence can tell."""
    return Criterion(text=_GATES[workflow], plan=Plan(required=Verification.OBSERVATION))


def reversibility_of(spec: str) -> Reversibility:
    """Return how far the work can be rolled back; what the spec rules out is not a cue."""
    for kind, pattern in _CUES.items():
        for match in pattern.finditer(spec):
            before = spec[max(match.start() - 60, 0) : match.start()]
            if not _NEGATED.search(before):
                return kind
    return Reversibility.CHECKPOINTED


def points_of(steps: int) -> int:
    """Return the points of a goal by its number of steps: 1, 3, 5, 8 or 13."""
    return next((points for most, points in _POINTS if steps <= most), _MOST_POINTS)
