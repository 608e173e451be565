"""The gate over several evaluations."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_reflex.verdict.figures import gap
from pytest_reflex.verdict.gate import GateStatus, Judged, gate_over
from tests.verdict.sets import evaluation, rule

FAIL, WARN = rule("a.x.fail", "fail"), rule("a.x.warn", "warn")


def judged(fail: str, warn: str, **more: object) -> Judged:
    return Judged(evaluation=evaluation([(FAIL, fail), (WARN, warn)], threshold="0.6"), **more)  # type: ignore[arg-type]


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
    ],
)
def test_status_of_one_evaluation(one: Judged, status: str) -> None:
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
        "artifact.md: blocked by a.x.fail; score 0.333 is below 0.6"
    )
    assert judged("fail", "not_measured").reason == (
        "artifact.md: only 1 of 2 rules were measured; blocked by a.x.fail"
    )
    assert judged("pass", "pass").reason == ""


def test_gap_is_rounded_up() -> None:
    assert gap(evaluation([(FAIL, "pass"), (WARN, "fail")], threshold="0.667")) == "0.001"
    assert gap(evaluation([(FAIL, "pass")], threshold=Fraction(1, 2))) == "0.000"
