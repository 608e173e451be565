"""The gate over several evaluations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from pytest_reflex.verdict.formatting import gap
from pytest_reflex.verdict.gate import GateStatus, JudgedTarget, failure_reason, gate_over
from tests.verdict.sets import evaluation, rule

FAIL, WARN = rule("a.x.fail", "fail"), rule("a.x.warn", "warn")


def judged(fail: str, warn: str, **more: Any) -> JudgedTarget:
    return JudgedTarget(
        evaluation=evaluation([(FAIL, fail), (WARN, warn)], threshold="0.6"), **more
    )


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (judged("pass", "pass"), "passed"),
        (judged("pass", "fail"), "passed"),
        (judged("pass", "not_measured"), "passed"),
        (judged("fail", "pass"), "failed"),
        (judged("error", "pass"), "failed"),
        (judged("fail", "not_measured"), "incomplete"),
        (judged("not_measured", "pass"), "incomplete"),
        (judged("fail", "pass", narrowed="one test was chosen"), "incomplete"),
        (judged("not_measured", "pass", partial=True, excused=frozenset({"a.x.fail"})), "partial"),
        (judged("fail", "not_measured", partial=True, excused=frozenset({"a.x.warn"})), "failed"),
        (
            judged("not_measured", "not_measured", partial=True, excused=frozenset({"a.x.warn"})),
            "incomplete",
        ),
        (judged("error", "not_measured", partial=True, excused=frozenset({"a.x.warn"})), "failed"),
        (judged("pass", "error", partial=True, excused=frozenset({"a.x.fail"})), "passed"),
        (judged("not_measured", "error", partial=True, excused=frozenset({"a.x.fail"})), "partial"),
        (judged("not_measured", "pass", partial=True, narrowed="--lf"), "incomplete"),
        (judged("fail", "pass", partial=True, narrowed="--lf"), "failed"),
    ],
)
def test_status_of_one_evaluation(one: JudgedTarget, status: str) -> None:
    assert one.status == status


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ((), "error"),
        (("passed", "passed"), "passed"),
        (("passed", "partial"), "partial"),
        (("partial", "incomplete"), "incomplete"),
        (("incomplete", "failed", "passed"), "failed"),
    ],
)
def test_the_gravest_status_is_that_of_the_gate(statuses: tuple[str, ...], status: str) -> None:
    samples = {
        "passed": judged("pass", "pass"),
        "failed": judged("fail", "pass"),
        "incomplete": judged("not_measured", "pass"),
        "partial": judged("not_measured", "pass", partial=True, excused=frozenset({"a.x.fail"})),
    }
    gate = gate_over([samples[word] for word in statuses])
    assert gate.status == status
    assert gate.passed == (status == "passed")
    assert gate.blocks == (status in ("failed", "incomplete", "error"))


def test_a_problem_makes_the_gate_an_error_whatever_else_passed() -> None:
    gate = gate_over([judged("pass", "pass")], ["x.yaml:1: broken"])
    assert gate.status is GateStatus.ERROR
    assert gate.reasons == ("x.yaml:1: broken",)


def test_reasons_name_blockers_score_and_what_is_missing() -> None:
    assert judged("fail", "pass").reason == (
        "artifact.md: failed rules: a.x.fail; score 0.333 is below 0.6"
    )
    assert judged("fail", "not_measured").reason == (
        "artifact.md: only 1 of 2 rules were measured; failed rules: a.x.fail"
    )
    assert judged("pass", "pass").reason == ""
    assert (
        judged("error", "not_measured", partial=True).reason
        == "artifact.md: failed rules: a.x.fail"
    )
    assert judged("not_measured", "fail").reason == ("artifact.md: only 1 of 2 rules were measured")


def test_reasons_of_what_was_left_out_on_purpose() -> None:
    one, both = frozenset({"a.x.fail"}), frozenset({"a.x.fail", "a.x.warn"})
    left = judged("not_measured", "not_measured", partial=True, excused=both)
    assert left.reason == "artifact.md: 2 rules deselected"
    left = judged("not_measured", "pass", partial=True, excused=one)
    assert left.reason == "artifact.md: 1 rule deselected"
    narrowed = judged("not_measured", "pass", partial=True, excused=one, narrowed="--lf hides some")
    assert narrowed.reason == "artifact.md: --lf hides some"


def test_reasons_of_what_is_incomplete() -> None:
    assert judged("fail", "pass", narrowed="one test was chosen").reason == (
        "artifact.md: one test was chosen; failed rules: a.x.fail"
    )
    assert judged("pass", "fail", narrowed="one test was chosen").status is GateStatus.PASSED
    assert judged("not_measured", "pass", narrowed="one test was chosen").reason == (
        "artifact.md: only 1 of 2 rules were measured"
    )


def test_reasons_of_what_failed_start_with_what_made_it_unsound() -> None:
    fine = evaluation([(FAIL, "pass"), (WARN, "pass")])
    assert failure_reason(replace(fine, unsound="it changed")) == "it changed"
    failed = evaluation([(FAIL, "fail"), (WARN, "pass")])
    assert failure_reason(replace(failed, unsound="it changed")) == (
        "it changed; failed rules: a.x.fail; score 0.333 is below 0.8"
    )
    assert failure_reason(evaluation([(FAIL, "pass"), (WARN, "fail")])) == (
        "score 0.666 is below 0.8"
    )
    reached = evaluation([(FAIL, "fail"), (WARN, "pass")], threshold=Fraction(1, 3))
    assert failure_reason(reached) == "failed rules: a.x.fail"
    assert failure_reason(evaluation([])) == "no rule is active"


def test_files_whose_rules_are_not_known_make_a_gate_incomplete() -> None:
    gate = gate_over([judged("pass", "pass")], unread=["test_it.py: skipped: why"])
    assert gate.status is GateStatus.INCOMPLETE
    assert gate.reasons == ("test_it.py: skipped: why",)
    assert gate_over([], unread=["test_it.py: why"]).status is GateStatus.INCOMPLETE
    assert gate_over([judged("fail", "pass")], unread=["test_it.py"]).status is GateStatus.FAILED
    assert gate_over([], ["broken"], ["test_it.py"]).reasons == ("broken", "test_it.py")


def test_gap_is_rounded_up() -> None:
    assert gap(evaluation([(FAIL, "pass"), (WARN, "fail")], threshold="0.667")) == "0.001"
    assert gap(evaluation([(FAIL, "pass")], threshold=Fraction(1, 2))) == "0.000"
