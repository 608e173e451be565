"""The short text of a check that did not pass: what, where, what was expected, what to do."""

from __future__ import annotations

from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.words import Outcome
from pytest_reflex.verdict.figures import plain

_WIDEST = 400
COULD_NOT = {
    Outcome.ERROR: "could not be judged: ",
    Outcome.NOT_MEASURED: "was not measured: ",
}


def explain(rule: Rule, index: int, result: CheckResult) -> str:
    """Return a few lines for people; every foreign character is visible and starts no line."""
    place = rule.checks[index].place or rule.place
    rows = [
        ("found", COULD_NOT.get(result.outcome, "") + result.message),
        ("at", str(result.location) if result.location else ""),
        ("evidence", result.evidence),
        ("expected", result.expected),
        ("how to fix", rule.hint),
        ("notes", "; ".join(result.notes)),
        ("rule", str(place) if place else ""),
    ]
    what = one_line(rule.description, _WIDEST)
    head = f"{rule.id} ({rule.severity.value}, weight {plain(rule.weight)}): {what}"
    return "\n".join([head, *(_row(name, text) for name, text in rows if text)])


def _row(name: str, text: str) -> str:
    first, *more = visible(text).strip("\n").split("\n")
    return "\n".join([f"  {name + ':':<12}{first}", *(f"{'':<14}{line}" for line in more)])
