"""What cannot be read fails one rule; the others that have to read it are not measured."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation, PlacedFinding
from pytest_reflex.verdict.gate import GateStatus, JudgedTarget
from pytest_reflex.verdict.score import judge
from tests.verdict.sets import SHA, rule, target

NOT_YAML = CheckResult(
    outcome=Outcome.NOT_MEASURED,
    message="not valid YAML: a tab",
    location=Place("a.yaml", 3, 1),
    findings=(PlacedFinding(message="not valid YAML: a tab", location=Place("a.yaml", 3, 1)),),
    cause="a.yaml as YAML",
)
NO_TEXT = CheckResult(outcome=Outcome.ERROR, message="b is binary", cause="b as text")
FAILS = CheckResult(outcome=Outcome.FAIL, message="x is not there")
PASSES = CheckResult(outcome=Outcome.PASS)

Row = tuple[str, str, Sequence[CheckResult]]


def judged(*rows: Row, order: Sequence[int] | None = None) -> Evaluation:
    """Return what rules come to whose checks have reported in some order."""
    rules = [rule(name, severity, checks=len(checks)) for name, severity, checks in rows]
    results = [((row[0], n), check) for row in rows for n, check in enumerate(row[2])]
    if order is not None:
        results = [results[index] for index in order]
    return judge(target(*rules), dict(results), sha256=SHA)


def told(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [(row.outcome.value, row.same_cause) for row in evaluation.results]


CASES = {
    "the first of two": (
        [("a.x.one", "fail", [NOT_YAML]), ("a.x.two", "fail", [NOT_YAML])],
        [("fail", ""), ("not_measured", "a.x.one")],
    ),
    "a warn rule before a fail rule": (
        [
            ("a.x.warn", "warn", [NOT_YAML]),
            ("a.x.one", "fail", [NOT_YAML]),
            ("a.x.two", "fail", [NOT_YAML]),
        ],
        [("not_measured", "a.x.one"), ("fail", ""), ("not_measured", "a.x.one")],
    ),
    "warn rules alone": (
        [
            ("a.x.info", "info", [NOT_YAML]),
            ("a.x.one", "warn", [NOT_YAML]),
            ("a.x.two", "warn", [NOT_YAML]),
        ],
        [("not_measured", "a.x.one"), ("fail", ""), ("not_measured", "a.x.one")],
    ),
    "one that does not read it is first": (
        [("a.x.other", "fail", [PASSES]), ("a.x.one", "fail", [NOT_YAML])],
        [("pass", ""), ("fail", "")],
    ),
    "two things that cannot be read": (
        [
            ("a.x.one", "fail", [NOT_YAML]),
            ("a.x.two", "fail", [NO_TEXT]),
            ("a.x.three", "fail", [NO_TEXT, NOT_YAML]),
        ],
        [("fail", ""), ("fail", ""), ("not_measured", "a.x.two")],
    ),
    "a check that fails by itself beside one that cannot read": (
        [("a.x.one", "fail", [NOT_YAML]), ("a.x.two", "fail", [NOT_YAML, FAILS])],
        [("fail", ""), ("fail", "")],
    ),
    "two checks of the first rule": (
        [("a.x.one", "fail", [NOT_YAML, NOT_YAML]), ("a.x.two", "warn", [NOT_YAML])],
        [("fail", ""), ("not_measured", "a.x.one")],
    ),
    "an error is a failure of who has to read it": (
        [("a.x.one", "fail", [NO_TEXT]), ("a.x.two", "warn", [NO_TEXT])],
        [("fail", ""), ("not_measured", "a.x.one")],
    ),
}


@pytest.mark.parametrize(("rows", "outcomes"), CASES.values(), ids=CASES)
def test_first_rule_that_has_to_read_it_fails(
    rows: list[Row], outcomes: list[tuple[str, str]]
) -> None:
    assert told(judged(*rows)) == outcomes


@pytest.mark.parametrize(("rows", "outcomes"), CASES.values(), ids=CASES)
def test_order_in_which_checks_report_decides_nothing(
    rows: list[Row], outcomes: list[tuple[str, str]]
) -> None:
    count = sum(len(checks) for _, _, checks in rows)
    expected = judged(*rows).to_json()
    for order in permutations(range(count)):
        assert judged(*rows, order=order).to_json() == expected


@pytest.mark.long
def test_any_results_in_any_order_are_one_verdict_of_which_nothing_earns_more() -> None:
    chance = random.Random(7)
    kinds = (NOT_YAML, NO_TEXT, FAILS, PASSES)
    for _ in range(300):
        rows = [
            (f"a.x.r{n}", chance.choice(("fail", "warn", "info")), chance.choices(kinds, k=2))
            for n in range(chance.randint(1, 6))
        ]
        order = list(range(2 * len(rows)))
        chance.shuffle(order)
        found = judged(*rows, order=order)
        assert found.to_json() == judged(*rows).to_json()
        passed = [all(check is PASSES for check in checks) for _, _, checks in rows]
        assert [row.passed for row in found.results] == passed
        blamed = [row.rule.id for row in found.results if row.outcome is Outcome.FAIL]
        assert {row.same_cause for row in found.results} <= {"", *blamed}


def test_wire_names_the_rule_and_the_cause_and_is_read_again() -> None:
    found = judged(("a.x.one", "fail", [NOT_YAML]), ("a.x.two", "fail", [NOT_YAML]))
    first, second = found.to_json()["failed"]
    assert "same_cause" not in first
    assert first["message"] == "not valid YAML: a tab"
    assert second["same_cause"] == "a.x.one"
    wire = found.to_json()["rule_results"]
    assert wire[0]["location"] == {"path": "a.yaml", "line": 3, "column": 1}
    assert [row["checks"][0]["cause"] for row in wire] == ["a.yaml as YAML"] * 2
    again = CheckResult.from_json(wire[1]["checks"][0])
    assert (again.same_cause, again.cause) == ("a.x.one", "a.yaml as YAML")
    assert CheckResult.from_json(wire[0]["checks"][0]).findings == NOT_YAML.findings


@pytest.mark.parametrize("severity", ["fail", "warn"])
def test_nothing_is_missing_where_another_rule_has_failed_by_it(severity: str) -> None:
    found = judged(("a.x.one", severity, [NOT_YAML]), ("a.x.two", "warn", [NOT_YAML]))
    assert found.complete
    one = JudgedTarget(evaluation=found)
    assert one.status is GateStatus.FAILED
    assert "a.x.two" not in one.reason
    assert not found.score
    assert not found.passed


def test_result_of_an_earlier_program_has_no_cause() -> None:
    wire = {"outcome": "not_measured", "message": "not valid YAML", "duration": 0.1}
    old = CheckResult.from_json(wire)
    assert (old.cause, old.same_cause, old.findings, old.more_findings) == ("", "", (), 0)
    assert old.to_json() == wire
