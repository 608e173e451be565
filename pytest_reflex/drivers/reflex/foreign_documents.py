"""Documents that another program wrote: an evaluation as one of ours, and what keeps a run.json
from being used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.model.enums import Level, Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.verdict.score import gate, score_of

Record = Mapping[str, Any]


def evaluation_of(
    criteria: Criteria, level: Level, found: Record, *, sha256: str, artifact: str
) -> Evaluation:
    """Return the evaluation in a run.json, with the score that follows from its verdicts."""
    rows = tuple(_row(rule, found) for rule in criteria.active(level))
    score, bar = score_of(rows), criteria.thresholds[level]
    return Evaluation(
        criteria=criteria.name,
        version=criteria.version,
        level=level,
        threshold=bar,
        artifact=artifact,
        artifact_sha256=sha256,
        results=rows,
        score=score,
        passed=gate(score, bar, rows),
    )


def _row(rule: Rule, found: Record) -> RuleResult:
    """Return what became of a rule; one of which nothing is said was not measured."""
    said = {row["id"]: row for row in found.get("rule_results") or ()}
    bad = {row["id"]: row for key in ("failed", "warnings") for row in found.get(key) or ()}
    row = said.get(rule.id, bad.get(rule.id))
    if row is None:
        outcome = Outcome.NOT_MEASURED if said else Outcome.PASS
    else:
        passed = row.get("verdict") == "pass" and rule.id not in bad
        outcome = Outcome.PASS if passed else Outcome.FAIL
    message = str((bad.get(rule.id) or {}).get("message") or (row or {}).get("details") or "")
    check = CheckResult(outcome=outcome, message=message)
    return RuleResult(rule=rule, checks=(check,), outcome=outcome)


_NEEDED: Mapping[str, tuple[Any, str]] = {
    "run_id": (str, "a text"),
    "status": (list(RunStatus), "a status of a loop"),
    "iteration": (int, "a number"),
    "phase": (list(Level), "A or B"),
    "task": (dict, "an object"),
    "criteria": (dict, "an object"),
}


def fault_of(run: Record, last: Record) -> str:
    """Return what keeps run.json from being used, empty where nothing is seen."""
    for key, (kinds, wanted) in _NEEDED.items():
        if key not in run:
            return f"has no {key!r}"
        value = run[key]
        is_right = value in kinds if isinstance(kinds, list) else isinstance(value, kinds)
        if not is_right or isinstance(value, bool):
            return f"has {one_line(repr(value), 60)} as {key!r}, not {wanted}"
    if not isinstance(run["task"].get("prompt"), str):
        return "has a 'task' without a 'prompt'"
    numbers = ((run, "max_iterations"), (run, "stagnation_count"), (last, "iteration"))
    wrong = (key for one, key in numbers if not isinstance(one.get(key), int | None))
    return f"has no number as {key!r}" if (key := next(wrong, "")) else ""
