"""Rules that are not applicable: out of the score, in nobody's way, and never a pass."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation, evaluation_from_json
from pytest_reflex.verdict.formatting import arithmetic
from pytest_reflex.verdict.gate import GateStatus, JudgedTarget
from pytest_reflex.verdict.progress import flips_between, mark_of
from pytest_reflex.verdict.score import outcome_of
from tests.verdict.sets import evaluation, rule

NA = "not_applicable"
SEVERITIES = st.sampled_from(["fail", "warn", "info"])
WEIGHTS = st.sampled_from([0, 1, 2, "0.1", "0.7", 13])
WORDS = st.sampled_from(["pass", "fail", "error", "not_measured"])
BARS = st.sampled_from(["0", "0.5", "0.8", "1"])
ROWS = st.lists(st.tuples(SEVERITIES, WEIGHTS, WORDS), min_size=1, max_size=6)
OTHERS = st.lists(st.tuples(SEVERITIES, WEIGHTS), min_size=1, max_size=4)


def judged(rows: list[tuple[str, object, str]], bar: object = "0.8") -> Evaluation:
    return evaluation(
        [(rule(f"a.x.r{n}", s, w), word) for n, (s, w, word) in enumerate(rows)], threshold=bar
    )


@pytest.mark.long
@given(rows=ROWS, others=OTHERS, bar=BARS)
def test_a_rule_that_does_not_apply_changes_nothing_but_itself(
    rows: list[tuple[str, object, str]], others: list[tuple[str, object]], bar: str
) -> None:
    before = judged(rows, bar)
    after = judged([*rows, *((s, w, NA) for s, w in others)], bar)
    assert after.score == before.score
    assert after.passed <= before.passed
    assert [row.rule.id for row in after.failed] == [row.rule.id for row in before.failed]
    assert [row.rule.id for row in after.findings] == [row.rule.id for row in before.findings]
    assert arithmetic(after) == arithmetic(before)
    assert (after.measured, len(after.not_applicable)) == (before.measured, len(others))


@pytest.mark.long
@given(rows=ROWS, others=OTHERS, bar=BARS)
def test_it_keeps_a_gate_open_only_where_another_rule_can_shut_it(
    rows: list[tuple[str, object, str]], others: list[tuple[str, object]], bar: str
) -> None:
    before = judged(rows, bar)
    after = judged([*rows, *((s, w, NA) for s, w in others)], bar)
    can_fail = any(s == "fail" for s, _, _ in rows) or (
        bar != "0" and any(w not in (0, "0") for _, w, _ in rows)
    )
    assert after.passed is (before.passed and can_fail)
    assert after.decides is can_fail


NOTHING_LEFT: dict[str, tuple[list[tuple[str, object, str]], str]] = {
    "the only rule": ([("fail", 2, NA)], "0.8"),
    "all of several": ([("fail", 2, NA), ("warn", 1, NA), ("info", 0, NA)], "0.8"),
    "all but one that is only reported": ([("fail", 2, NA), ("info", 0, "pass")], "0.8"),
    "all but a warning, under threshold 0": ([("fail", 2, NA), ("warn", 1, "pass")], "0"),
    "all but a warning of weight 0": ([("fail", 2, NA), ("warn", 0, "pass")], "1"),
}


@pytest.mark.parametrize(("rows", "bar"), NOTHING_LEFT.values(), ids=NOTHING_LEFT)
def test_where_nothing_is_left_that_can_fail_the_gate_is_incomplete(
    rows: list[tuple[str, object, str]], bar: str
) -> None:
    found = judged(rows, bar)
    one = JudgedTarget(evaluation=found)
    assert (found.passed, one.status) == (False, GateStatus.INCOMPLETE)
    assert one.reason == "artifact.md: no rule that can fail the gate is applicable"
    assert found.to_json()["unsound"] == "no rule that can fail the gate is applicable"


def test_no_score_is_earned_where_no_rule_applies() -> None:
    assert judged([("fail", 2, NA), ("warn", 1, NA)]).score == Fraction(0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([NA, NA], NA),
        ([NA, "pass"], "not_measured"),
        ([NA, "error"], "error"),
        ([NA, "fail", "pass"], "fail"),
    ],
)
def test_a_rule_is_not_applicable_only_where_all_its_checks_say_so(
    words: list[str], expected: str
) -> None:
    assert outcome_of([CheckResult(outcome=Outcome(word)) for word in words]) == expected


def test_the_wire_form_says_it_and_is_read_again() -> None:
    found = judged([("fail", 2, "pass"), ("warn", 1, NA), ("fail", 3, NA)])
    wire = found.to_json()
    assert (wire["not_applicable"], wire["measured"], wire["total"]) == (2, 1, 3)
    assert [(row["verdict"], row["outcome"]) for row in wire["rule_results"]] == [
        ("pass", "pass"),
        (NA, NA),
        (NA, NA),
    ]
    assert (wire["failed"], wire["warnings"]) == ([], [])
    rules = {row.rule.id: row.rule for row in found.results}
    assert evaluation_from_json(wire, rules) == found


def test_an_evaluation_of_rules_that_all_apply_is_told_as_before() -> None:
    assert NA not in judged([("fail", 2, "pass"), ("warn", 1, "fail")]).to_json()


@pytest.mark.parametrize(
    ("before", "after", "fixed", "broken"),
    [
        ("fail", NA, (), ()),
        (NA, "fail", (), ()),
        (NA, "pass", (), ()),
        ("fail", "pass", ("a.x.r1",), ()),
        ("pass", "fail", (), ("a.x.r1",)),
    ],
)
def test_a_rule_that_no_longer_applies_is_not_fixed(
    before: str, after: str, fixed: tuple[str, ...], broken: tuple[str, ...]
) -> None:
    marks = [
        mark_of(judged([("fail", 2, "pass"), ("fail", 2, word)]), number)
        for number, word in enumerate((before, after), 1)
    ]
    flips = flips_between([marks[0], replace(marks[1], sha256="cd" * 32)])
    assert flips is not None
    assert (flips.fixed, flips.broken) == (fixed, broken)
