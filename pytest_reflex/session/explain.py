"""The short text of a check that did not pass: what, where, what was expected, what to do."""

from __future__ import annotations

from textwrap import wrap

from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.words import Outcome
from pytest_reflex.verdict.figures import plain

_WIDEST = 400
_LABEL = 12
_ROOM = 66
COULD_NOT = {
    Outcome.ERROR: "could not be judged: ",
    Outcome.NOT_MEASURED: "was not measured: ",
}


def explain(rule: Rule, index: int, result: CheckResult) -> str:
    """Return the finding, and under it a few lines about it; no foreign text starts a line."""
    place = rule.checks[index].place or rule.place
    word = rule.severity.value
    found = one_line(COULD_NOT.get(result.outcome, "") + result.message, _WIDEST)
    said = f"{rule.id} ({word}, weight {plain(rule.weight)}): {rule.description}"
    rows = [
        ("rule", one_line(said, _WIDEST)),
        ("at", str(result.location) if result.location else ""),
        ("evidence", "" if result.message in result.evidence.split(": ", 1) else result.evidence),
        ("expected", result.expected),
        ("hint", rule.hint),
        ("notes", "; ".join(result.notes)),
        ("written in", str(place) if place else ""),
    ]
    return "\n".join([f"{word}: {found}", *(_row(name, text) for name, text in rows if text)])


def _row(name: str, text: str) -> str:
    lines = [
        part
        for line in visible(text).strip("\n").split("\n")
        for part in wrap(line, _ROOM, break_on_hyphens=False) or [""]
    ]
    label, blank = f"  {name + ':':<{_LABEL}}", " " * (_LABEL + 2)
    return "\n".join((blank if n else label) + line.rstrip() for n, line in enumerate(lines))
