"""What people read at the end of a session or of ``evaluate``."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.errors import Place, Problem
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.reports.terminal import (
    brief_lines,
    decision_lines,
    evaluation_text,
)
from pytest_reflex.session.items import explain
from pytest_reflex.verdict.gate import JudgedTarget, SessionVerdict, gate_over
from pytest_reflex.verdict.score import judge
from tests.verdict.sets import SHA, evaluation, rule, target

GOOD, BAD = rule("a.x.good", "fail", 3), rule("a.x.bad", "fail", 2)
MILD, NOTE = rule("b.x.mild", "warn"), rule("b.x.note", "info")


def told(message: str, outcome: str = "fail", evidence: str = "") -> CheckResult:
    place = Place("doc.md", 3, 7)
    return CheckResult(outcome=Outcome(outcome), message=message, location=place, evidence=evidence)


def sample(message: str = "no such section") -> Evaluation:
    bad = replace(BAD, hint="add the section")
    results = {
        ("a.x.good", 0): CheckResult(outcome=Outcome.PASS),
        ("a.x.bad", 0): told(message),
        ("b.x.mild", 0): told("it took too long", "error"),
        ("b.x.note", 0): told("a remark"),
    }
    late = rule("b.x.late", "warn")
    return judge(target(GOOD, bad, MILD, NOTE, late), results, sha256=SHA)


def decision(*evaluations: Evaluation, problems: tuple[Problem, ...] = ()) -> SessionVerdict:
    judged = tuple(JudgedTarget(evaluation=one) for one in evaluations)
    gate = gate_over(judged, problems)
    return SessionVerdict(judged=judged, gate=gate, exit_status=1, problems=problems)


def test_an_evaluation_says_everything_in_80_columns() -> None:
    assert evaluation_text(sample()).splitlines() == [
        "ARTIFACT    artifact.md (sha256 abababab)",
        "CRITERIA    set version 1, phase B",
        "INCOMPLETE  score 0.428 (3 of 7 points), threshold 0.8",
        "FAIL        a.x.bad: no such section (doc.md:3:7)",
        "            hint: add the section",
        "WARNING     b.x.mild: check error: it took too long (doc.md:3:7)",
        "            expected: what b.x.mild asks for",
        "INFO        b.x.note: a remark (doc.md:3:7)",
        "            expected: what b.x.note asks for",
        "NOT MEASURED this check did not report: b.x.late",
        "TO PASS     +0.372 and 1 failing rule, 1 of 5 rules pass",
    ]


def test_a_passed_evaluation_is_three_lines() -> None:
    assert len(evaluation_text(evaluation([(GOOD, "pass")])).splitlines()) == 3


def test_colour_is_only_added() -> None:
    plain, coloured = evaluation_text(sample()), evaluation_text(sample(), colour=True)
    assert "\x1b[31;1mFAIL\x1b[0m" in coloured
    assert "\x1b" not in plain
    assert len(coloured.splitlines()) == len(plain.splitlines())


def test_b019_a_missed_threshold_never_looks_met() -> None:
    one = evaluation([(rule("a.x.y", "fail", 7999), "pass"), (rule("a.x.z", "warn", 2001), "fail")])
    assert "score 0.799 (7999 of 10000 points), threshold 0.8" in evaluation_text(one)


def test_b059_words_that_look_like_numbers_stay_as_they_are() -> None:
    one = replace(sample(), artifact="1e10", criteria="007", artifact_sha256="12335e61" * 8)
    lines = decision_lines(decision(one, replace(one, artifact="0x10")))
    assert lines[2].split()[-2:] == ["007", "1e10"]
    assert lines[3].split()[-1] == "0x10"
    assert any("(sha256 12335e61)" in line for line in lines)


def test_many_rows_of_a_kind_are_counted() -> None:
    many = [(rule(f"a.x.r{number}", "fail", 1), "fail") for number in range(40)]
    text = evaluation_text(evaluation(many))
    assert text.count("FAIL  ") == 26
    assert "and 15 more" in text


def test_several_evaluations_get_an_overview_and_only_news_is_detailed() -> None:
    good = replace(evaluation([(GOOD, "pass")]), artifact="good.md")
    lines = decision_lines(decision(good, sample()))
    assert lines[0].split() == ["gate", "score", "threshold", "phase", "criteria", "artifact"]
    assert lines[2].split() == ["PASSED", "1.000", "0.8", "B", "set", "good.md"]
    assert sum(line.startswith("ARTIFACT") for line in lines) == 1


def test_what_makes_an_evaluation_unsound_has_a_label_of_its_own() -> None:
    one = replace(sample(), unsound="a.md changed during the evaluation")
    assert "UNSOUND     a.md changed during the evaluation" in evaluation_text(one).splitlines()


def test_problems_and_the_exit_status_are_told() -> None:
    problem = Problem(message="what", place=Place("x.yaml", 1, 2), hint="do this")
    lines = decision_lines(decision(problems=(problem,)))
    assert lines[0] == "ERROR       x.yaml:1:2: what (do this)"
    assert lines[-1] == "GATE        ERROR: 1 problem in criteria or marks (exit status 1)"
    assert brief_lines(decision(problems=(problem,))) == ["reflex ERROR x.yaml:1:2: what (do this)"]


@pytest.mark.long
@given(st.text(), st.sampled_from([20, 80, 200]))
def test_foreign_text_never_acts_and_never_starts_a_line(text: str, width: int) -> None:
    one = replace(sample(text), artifact=text, unsound=text)
    lines = decision_lines(decision(one), width=width) + brief_lines(decision(one))
    for line in lines:
        assert "\n" not in line
        assert not any((ord(c) < 32 and c != "\t") or 127 <= ord(c) < 160 for c in line)
        assert line.partition(" ")[0].isupper() or line[:1] in (" ", "") or "reflex" in line


@pytest.mark.parametrize("payload", ["::error::x", "##vso[task]", "##teamcity[x]", "::add-mask::a"])
def test_commands_of_build_systems_do_not_start_a_line(payload: str) -> None:
    one = replace(sample(payload + "\n" + payload), artifact=payload)
    text = "\n".join(decision_lines(decision(one, one)) + brief_lines(decision(one)))
    assert not any(line.startswith(payload[:2]) for line in text.splitlines())


@given(st.text(), st.text("\n\r\x1b:#a "))
def test_foreign_text_in_a_failure_is_visible_and_indented(text: str, more: str) -> None:
    hostile = replace(BAD, description=more, hint=text)
    result = CheckResult(
        outcome=Outcome.FAIL, message=text, evidence=more, expected=text, notes=(more,)
    )
    first, *others = explain(hostile, 0, result).split("\n")
    assert first.startswith("fail: ")
    assert all(line.startswith("  ") for line in others)
    assert not any(
        (ord(c) < 32 and c != "\t") or 127 <= ord(c) < 160 for c in first + "".join(others)
    )
