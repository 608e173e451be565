"""Score and gate: decision tables and properties."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import cannot_fail
from pytest_reflex.verdict.score import gate, judge, outcome_of, with_results
from tests.verdict.sets import SHA, evaluation, rule, target

GATES = {
    "all pass": ([("fail", "pass"), ("warn", "pass")], "0.8", True),
    "a blocker fails above the threshold": ([("fail", "fail"), ("warn", "pass")], "0.1", False),
    "a warning fails, score met": ([("fail", "pass"), ("warn", "fail")], "0.6", True),
    "a warning fails, score missed": ([("fail", "pass"), ("warn", "fail")], "0.7", False),
    "score equals the threshold": (
        [("fail", "pass"), ("fail", "pass"), ("warn", "fail")],
        "0.8",
        True,
    ),
    "an error blocks at severity fail": ([("fail", "error")], "0", False),
    "not measured blocks at severity fail": ([("fail", "not_measured")], "0", False),
    "an error of a warn rule costs its weight": (
        [("fail", "pass"), ("warn", "error")],
        "0.7",
        False,
    ),
    "info fails": ([("fail", "pass"), ("info", "fail")], "1", True),
}


@pytest.mark.parametrize(("rows", "threshold", "passed"), GATES.values(), ids=GATES.keys())
def test_gate(rows: list[tuple[str, str]], threshold: str, passed: bool) -> None:
    pairs = [(rule(f"a.x.r{n}", severity), word) for n, (severity, word) in enumerate(rows)]
    assert evaluation(pairs, threshold=threshold).passed is passed


def test_weights_are_exact_where_floats_miss_the_threshold() -> None:
    weights = [("0.1", "pass"), ("0.7", "pass"), ("0.2", "fail")]
    pairs = [(rule(f"a.x.r{n}", "warn", w), word) for n, (w, word) in enumerate(weights)]
    result = evaluation(pairs, threshold="0.8")
    assert (result.score, result.passed) == (Fraction(4, 5), True)


def test_b018_two_to_one_with_the_heavier_failed_is_a_third() -> None:
    result = evaluation([(rule("a.x.one"), "fail"), (rule("a.x.two", "warn"), "pass")])
    assert result.to_json()["score_exact"] == "1/3"


def test_zero_weight_fail_rules_alone_score_one_and_still_block() -> None:
    result = evaluation([(rule("a.x.one", "fail", 0), "fail")])
    assert (result.score, result.passed) == (Fraction(1), False)


def test_a_check_that_did_not_report_is_not_measured() -> None:
    goal = target(rule("a.x.one", checks=2))
    result = judge(goal, {("a.x.one", 0): CheckResult(outcome=Outcome.PASS)}, sha256=SHA)
    assert (result.results[0].outcome, result.passed) == (Outcome.NOT_MEASURED, False)


def test_an_unsound_evaluation_never_passes() -> None:
    goal = target(rule("a.x.one"))
    results = {("a.x.one", 0): CheckResult(outcome=Outcome.PASS)}
    assert not judge(goal, results, sha256=SHA, unsound="the artifact changed").passed


def test_rules_of_level_b_do_not_count_at_a() -> None:
    pairs = [(rule("a.x.one"), "pass"), (rule("b.x.two"), "fail")]
    assert evaluation(pairs, level="A").passed


WORST = {
    "no checks": ([], "not_measured"),
    "all pass": (["pass", "pass"], "pass"),
    "fail over error": (["error", "fail"], "fail"),
    "error over not measured": (["not_measured", "error"], "error"),
    "one is missing": (["pass", "not_measured"], "not_measured"),
}


@pytest.mark.parametrize(("words", "expected"), WORST.values(), ids=WORST.keys())
def test_outcome_of_a_rule(words: list[str], expected: str) -> None:
    assert outcome_of([CheckResult(outcome=Outcome(w)) for w in words]) == expected


OTHER_RESULTS = {
    "passed, and still does": (("pass", "pass"), ("pass", "pass"), True),
    "passed, and a blocker comes": (("pass", "pass"), ("fail", "pass"), False),
    "passed, and the score sinks": (("pass", "pass"), ("pass", "fail"), False),
    "passed, and a rule was not measured": (("pass", "pass"), ("pass", "not_measured"), False),
    "failed, and all would pass": (("fail", "pass"), ("pass", "pass"), False),
    "failed by the score, and all would pass": (("pass", "fail"), ("pass", "pass"), False),
}


@pytest.mark.parametrize(
    ("before", "after", "passed"), OTHER_RESULTS.values(), ids=OTHER_RESULTS.keys()
)
def test_other_results_pass_only_where_the_first_ones_did(
    before: tuple[str, str], after: tuple[str, str], passed: bool
) -> None:
    rules = (rule("a.x.one"), rule("a.x.two", "warn"))
    first = evaluation(zip(rules, before, strict=True))
    other = evaluation(zip(rules, after, strict=True))
    found = with_results(first, other.results)
    assert (found.passed, found.score, found.results) == (passed, other.score, other.results)


def test_other_results_do_not_make_an_unsound_evaluation_pass() -> None:
    goal, results = target(rule("a.x.one")), {("a.x.one", 0): CheckResult(outcome=Outcome.PASS)}
    unsound = judge(goal, results, sha256=SHA, unsound="the artifact changed")
    found = with_results(unsound, evaluation([(rule("a.x.one"), "pass")]).results)
    assert (found.passed, found.unsound) == (False, "the artifact changed")


def test_a_threshold_that_was_met_is_held_against_other_results() -> None:
    pairs = [(rule("a.x.one", "warn", 4), "pass"), (rule("a.x.two", "warn", 1), "pass")]
    first = evaluation(pairs, threshold="0.8")
    met = evaluation([pairs[0], (pairs[1][0], "fail")]).results
    missed = evaluation([(pairs[0][0], "fail"), pairs[1]]).results
    assert with_results(first, met).passed
    assert not with_results(first, missed).passed


CANNOT_FAIL = {
    "a fail rule": (["fail"], "0", False),
    "a warn rule": (["warn"], "0.8", False),
    "a warn rule under threshold 0": (["warn"], "0", True),
    "info rules only": (["info", "info"], "0.8", True),
    "a warn rule at threshold 1": (["warn"], "1", False),
    "a warn rule beside info rules": (["info", "warn", "info"], "0.8", False),
    "a fail rule under threshold 0": (["warn", "fail"], "0", False),
    "no rules": ([], "0.8", True),
}


@pytest.mark.parametrize(("severities", "bar", "expected"), CANNOT_FAIL.values(), ids=CANNOT_FAIL)
def test_sets_in_which_nothing_can_fail(severities: list[str], bar: str, expected: bool) -> None:
    rules = [rule(f"a.x.r{n}", severity) for n, severity in enumerate(severities)]
    assert cannot_fail(rules, Fraction(bar)) is expected


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["fail", "warn", "info"]),
        st.fractions(min_value=0, max_value=10, max_denominator=1000),
        st.sampled_from(["pass", "fail", "error", "not_measured"]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.long
@given(ROWS, st.data())
@settings(deadline=None)
def test_turning_a_failure_into_a_pass_never_lowers_the_score(rows, data) -> None:  # type: ignore[no-untyped-def]
    n = data.draw(st.integers(0, len(rows) - 1))
    rules = [rule(f"a.x.r{i}", severity, str(w)) for i, (severity, w, _) in enumerate(rows)]
    words = [word for *_, word in rows]
    before = evaluation(zip(rules, words, strict=True))
    words[n] = "pass"
    after = evaluation(zip(rules, words, strict=True))
    assert after.score >= before.score
    assert after.passed or not before.passed


@pytest.mark.long
@given(ROWS, st.data())
@settings(deadline=None)
def test_an_error_never_raises_the_score(rows, data) -> None:  # type: ignore[no-untyped-def]
    n = data.draw(st.integers(0, len(rows) - 1))
    rules = [rule(f"a.x.r{i}", severity, str(w)) for i, (severity, w, _) in enumerate(rows)]
    words = [word for *_, word in rows]
    before = evaluation(zip(rules, words, strict=True))
    words[n] = "error"
    after = evaluation(zip(rules, words, strict=True))
    assert after.score <= before.score
    assert before.passed or not after.passed


def test_v4_where_nothing_was_judged_nothing_passes() -> None:
    assert not gate(Fraction(1), Fraction("0.8"), ())
