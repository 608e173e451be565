"""One criteria over a session passes exactly where every gate passes and nothing else is red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.pytest_loop.child import EvaluatedPart, Session
from pytest_reflex.drivers.pytest_loop.session_criteria import criteria_of, results_of
from pytest_reflex.model.enums import Level, Outcome, Severity
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.score import judge

FAULT = {"node": "t.py::test", "when": "call", "message": "boom", "text": "trace"}


def part(
    part_id: str, *, blocker: bool = True, mild: bool = True, bar: str = "0.9"
) -> EvaluatedPart:
    """Return a part with a rule of each severity that passed or not."""
    severities = {"a.x.one": Severity.FAIL, "b.x.two": Severity.WARN}
    rules = tuple(
        Rule(
            id=rule_id,
            description=f"{rule_id} holds",
            severity=severity,
            weight=Fraction(2),
            level=Level.B,
            checks=(),
        )
        for rule_id, severity in severities.items()
    )
    held = {"a.x.one": blocker, "b.x.two": mild}
    rows = [
        {
            "id": rule.id,
            "severity": rule.severity.value,
            "phase": "B",
            "outcome": "pass" if held[rule.id] else "fail",
            "details": "" if held[rule.id] else f"{rule.id} is broken",
            "duration": 0.0,
            "checks": [{"outcome": "pass" if held[rule.id] else "fail"}],
        }
        for rule in rules
    ]
    passed = blocker and mild
    return EvaluatedPart(
        id=part_id,
        evaluation={
            "artifact": part_id,
            "threshold": float(bar),
            "passed": passed,
            "rule_results": rows,
        },
        rules={
            rule.id: {
                "description": rule.description,
                "hint": "",
                "weight": "2",
                "fix": [],
                "commands": {},
            }
            for rule in rules
        },
        artifact=part_id,
        reason="" if passed else "below",
        narrowed="",
    )


def session(*parts: EvaluatedPart, status: int = 0, **more: Any) -> Session:
    return Session(status=status, output="== 1 failed ==", seconds=0.1, parts=parts, **more)


def evaluation(criteria: Criteria, found: Session) -> Evaluation:
    target = Target(criteria=criteria, level=Level.B, artifact=Path(), root=Path())
    return judge(target, results_of(criteria, found), sha256="0" * 64, unsound=found.ended)


GOOD = session(part("one.md"), part("two.md", bar="0.4"))


@pytest.mark.parametrize("bits", list(product([True, False], repeat=5)), ids=str)
def test_the_whole_passes_where_every_part_does(bits: tuple[bool, ...]) -> None:
    one = part("one.md", blocker=bits[0], mild=bits[1])
    two = part("two.md", blocker=bits[2], mild=bits[3], bar="0.4")
    faults = () if bits[4] else (FAULT,)
    found = session(one, two, status=0 if all(bits) else 1, faults=faults)
    assert evaluation(criteria_of(GOOD), found).passed is all(bits)


def test_rules_that_parts_share_have_names_of_their_own() -> None:
    assert [rule.id for rule in criteria_of(GOOD).rules] == [
        "a.x.one.one-md",
        "b.x.two.one-md",
        "a.x.one.two-md",
        "b.x.two.two-md",
        "b.gate.one-md",
        "b.gate.two-md",
        "b.session.other-tests",
    ]


@pytest.mark.parametrize(
    ("found", "rule", "outcome", "told"),
    [
        (
            session(part("one.md")),
            "a.x.one.two-md",
            Outcome.NOT_MEASURED,
            "the session did not check it",
        ),
        (
            session(ended="it was stopped"),
            "a.x.one.one-md",
            Outcome.NOT_MEASURED,
            "it was stopped",
        ),
        (
            session(part("one.md", bar="0.1"), part("two.md", bar="0.4")),
            "b.gate.one-md",
            Outcome.ERROR,
            "the threshold is 0.1, not 0.9",
        ),
        (
            session(part("one.md"), part("two.md", bar="0.4"), status=6),
            "b.session.other-tests",
            Outcome.FAIL,
            "left with status 6: 1 failed",
        ),
        (
            session(part("one.md"), part("two.md"), faults=(FAULT, FAULT), status=1),
            "b.session.other-tests",
            Outcome.FAIL,
            "t.py::test: boom (and 1 more)",
        ),
    ],
)
def test_what_is_not_said_is_not_passed(
    found: Session, rule: str, outcome: Outcome, told: str
) -> None:
    result = results_of(criteria_of(GOOD), found)[rule, 0]
    assert result.outcome is outcome
    assert told in result.message


def test_a_rule_that_became_milder_is_an_error() -> None:
    mild = part("one.md")
    mild.evaluation["rule_results"][0]["severity"] = "info"
    result = results_of(criteria_of(GOOD), session(mild))["a.x.one.one-md", 0]
    assert (result.outcome, result.message) == (
        Outcome.ERROR,
        "a.x.one has another severity or weight than at the start",
    )


def test_what_a_session_says_of_a_rule_is_evidence() -> None:
    fault = {**FAULT, "target": "one.md", "rule": "a.x.one"}
    found = session(part("one.md", blocker=False), faults=(fault,), status=1)
    result = results_of(criteria_of(GOOD), found)["a.x.one.one-md", 0]
    assert (result.message, result.evidence) == ("one.md: a.x.one is broken", "trace")


def test_a_rule_that_does_not_apply_to_its_part_is_out_of_the_whole() -> None:
    one = part("one.md", mild=False)
    row = one.evaluation["rule_results"][1]
    row.update(outcome="not_applicable", details="x is not there")
    row["checks"] = [{"outcome": "not_applicable", "message": "x is not there"}]
    one = replace(one, evaluation={**one.evaluation, "passed": True})
    found = evaluation(criteria_of(GOOD), session(one, part("two.md", bar="0.4")))
    assert (found.passed, found.score) == (True, 1)
    (result,) = found.not_applicable
    assert (result.rule.id, result.message) == ("b.x.two.one-md", "one.md: x is not there")
