"""A diagnostic of the lint: an error that the reader would raise, or a warning with a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_reflex.criteria.diagnostics import Diagnostics, Spot
from pytest_reflex.errors import Problem

WARNINGS = {
    "always-matches": "a pattern that matches every text",
    "never-matches": "a pattern that matches no text",
    "idle-dots": "a pattern that begins or ends with `.*`",
    "loose-dot": "a dot that may be meant as a dot",
    "edge-blanks": "a literal text with blanks at its ends",
    "slashes": "a pattern between slashes",
    "two-backslashes": "a class such as \\d with a backslash too many",
    "replaces-all": "a fix whose pattern takes a whole text",
    "no-samples": "a rule with checks and no samples",
    "one-sided-samples": "samples that are all good or all bad",
    "same-sample": "a sample that is good and bad",
    "no-why": "a rule that gives no reason",
    "no-remedy": "a rule with neither hint nor fix",
    "prose-check": "a check that only an LLM judge can make",
    "judged-gate": "a rule of severity fail that only an LLM judge grades",
    "no-check": "a rule that nothing checks",
    "weightless": "severity warn with weight 0",
    "weighty-info": "severity info with a weight",
    "overrides-nothing": "an override that changes nothing",
    "placeholder": "words for people that begin with `TODO` or the like",
    "cannot-fail": "a command that always succeeds",
    "ignores-artifact": "a command that does not look at the artifact",
    "no-shell": "a list that names the artifact by a variable, which only a shell fills in",
    "broken-command": "a command that bash cannot read",
    "hidden-failure": "a pipe that hides a failure",
    "long-timeout": "a command that may take longer than ten minutes",
    "always-applies": "a condition that holds for every artifact",
    "never-applies": "a condition that holds for no artifact",
    "decided-check": "a check that a condition of its rule has decided already",
    "never-found": "files that no folder can have",
    "says-nothing": "a key that holds nothing, or the same twice",
    "same-checks": "two rules with the same checks",
    "same-description": "two rules with the same description",
    "contradiction": "two rules that no artifact can meet",
    "unused-variable": "a variable that nothing uses",
    "unused-command": "commands where no rule needs an agent and no fix runs one",
    "falling-threshold": "a threshold of B below that of A",
    "zero-threshold": "a threshold of 0",
    "unreached-rules": "rules of B in a suite of phase A",
}
"""The names of the warnings, each with what it means."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What the lint has to say; `code` is a key of WARNINGS, empty for an error."""

    problem: Problem
    code: str = ""

    @property
    def is_error(self) -> bool:
        return not self.code

    def to_json(self) -> dict[str, Any]:
        place = self.problem.place
        return {
            "level": "error" if self.is_error else "warning",
            "code": self.code or None,
            "path": place.path if place else None,
            "line": (place and place.line) or None,
            "column": (place and place.column) or None,
            "rule": self.problem.rule_id or None,
            "message": self.problem.message,
            "hint": self.problem.hint or None,
        }


def warning(
    code: str,
    message: str,
    diagnostics: Diagnostics,
    spot: Spot,
    *,
    hint: str = "",
    rule_id: str = "",
) -> Diagnostic:
    """Return a warning about a place in the file of `diagnostics`."""
    place = diagnostics.place(spot)
    return Diagnostic(Problem(message=message, place=place, hint=hint, rule_id=rule_id), code)
