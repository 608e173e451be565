"""What CRITIQUE is told of an evaluation: nothing is lost, and it never grows beyond its budget."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.agents.findings import (
    BUDGET,
    MOST_FOLDED_FINDINGS,
    MOST_FOLDED_RULES,
    findings,
    findings_section,
    findings_text,
)
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Level, Outcome, Severity
from pytest_reflex.model.results import CheckResult, Evaluation, PlacedFinding, RuleResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.verdict.score import outcome_of, score_of

SMALL = 3_000


def check(message: str, outcome: Outcome = Outcome.FAIL, **more: Any) -> CheckResult:
    return CheckResult(outcome=outcome, message=message, **more)


def rule(name: str, *checks: CheckResult, severity: str = "fail", weight: int = 2) -> RuleResult:
    made = Rule(
        id=name,
        description=f"What {name} wants",
        severity=Severity(severity),
        weight=Fraction(weight),
        level=Level.A,
        checks=(),
    )
    return RuleResult(rule=made, checks=checks, outcome=outcome_of(checks))


def evaluation(*rows: RuleResult) -> Evaluation:
    return Evaluation(
        criteria="c",
        version=1,
        level=Level.A,
        threshold=Fraction(1),
        artifact="a.md",
        artifact_sha256="0" * 64,
        results=rows,
        score=score_of(rows),
        passed=False,
    )


def told(*rows: RuleResult, budget: int = BUDGET) -> list[dict[str, Any]]:
    return findings(evaluation(*rows), budget)


def parts(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the findings in an entry: a single one stands in the entry itself."""
    return list(entry.get("findings", [entry]))


def test_equal_findings_of_a_rule_are_one_with_their_number() -> None:
    rows = [check("no heading", location=Place("a.md", line, 1)) for line in (9, 3, 7)]
    (entry,) = told(rule("a.x.one", *rows, check("too long"), check("fine", Outcome.PASS)))
    first, second = entry["findings"]
    assert (first["message"], first["times"], first["line"]) == ("no heading", 3, [3, 7, 9])
    assert (second["message"], "times" in second) == ("too long", False)
    assert "more_findings" not in entry


def test_rules_that_failed_by_one_cause_share_it() -> None:
    lost = check("cannot start ruff: it was not found", Outcome.ERROR, evidence="long " * 100)
    one, other, own = told(
        rule("a.x.one", lost),
        rule("a.x.two", lost, severity="warn", weight=1),
        rule("a.x.own", check("a heading is missing"), severity="warn", weight=1),
    )
    assert parts(one)[0]["evidence"].startswith("long")
    assert (other["rule_id"], other["severity"], other["same_as"]) == ("a.x.two", "warn", "a.x.one")
    assert "message" not in other
    assert parts(own)[0]["message"] == "a heading is missing"


def test_of_many_findings_the_first_are_shown_and_the_rest_counted() -> None:
    many = [check(f"place {number}") for number in range(MOST_FOLDED_FINDINGS + 7)]
    (entry,) = told(rule("a.x.one", *many))
    assert len(entry["findings"]) == MOST_FOLDED_FINDINGS
    assert entry["more_findings"] == 7


def test_what_was_judged_stands_before_what_was_not_measured() -> None:
    lost = [check(f"lost {number}", Outcome.NOT_MEASURED) for number in range(9)]
    (entry,) = told(rule("a.x.one", *lost, check("broken"), check("crashed", Outcome.ERROR)))
    assert [one["message"] for one in entry["findings"][:2]] == ["broken", "crashed"]


def test_evidence_is_cut_to_one_length_before_a_rule_is_left_out() -> None:
    rows = [rule(f"a.x.r{n}", check(f"m{n}", evidence=f"{n}" * 1_900)) for n in range(10)]
    rows.append(rule("a.x.short", check("short", evidence="short")))
    found = told(*rows, budget=9_000)
    lengths = {len(parts(one)[0]["evidence"]) for one in found}
    assert len(found) == 11
    assert len(lengths) == 2
    assert 5 in lengths


def test_of_many_rules_the_weighty_ones_are_shown_and_the_rest_counted() -> None:
    light = [rule(f"a.x.w{n}", check(f"w{n}"), severity="warn", weight=1) for n in range(20)]
    grave = [rule(f"a.x.f{n}", check(f"f{n}"), weight=n) for n in range(5)]
    *shown, last = told(*light, *grave)
    assert [one["rule_id"] for one in shown[:2]] == ["a.x.f4", "a.x.f3"]
    assert len(shown) == MOST_FOLDED_RULES
    assert last == {"more_rules": 5, "of_severity_fail": 0}


def test_a_rule_about_which_nobody_was_asked_is_no_finding() -> None:
    unasked = check("not asked", Outcome.NOT_MEASURED, not_asked=True)
    (entry,) = told(rule("a.x.free", check("broken")), rule("a.x.judged", unasked))
    assert entry["rule_id"] == "a.x.free"


def test_a_rule_without_a_check_says_why_it_was_not_measured() -> None:
    (entry,) = told(rule("a.x.prose"))
    assert parts(entry)[0]["outcome"] == "not_measured"


def test_a_prompt_says_what_its_rarer_keys_mean() -> None:
    one, two = rule("a.x.one", check("lost")), rule("a.x.two", check("lost"))
    assert findings_section(evaluation(one)) == findings_text(evaluation(one))
    assert findings_section(evaluation(one, two)).startswith("`same_as`: the rule whose findings")
    assert "`times`" in findings_section(evaluation(rule("a.x.one", check("x"), check("x"))))


def test_without_an_evaluation_there_are_no_findings() -> None:
    assert json.loads(findings_text(None)) == []


def test_a_rule_of_which_a_part_does_not_apply_has_its_findings() -> None:
    lost = check("its worker died", Outcome.NOT_MEASURED)
    (entry,) = told(rule("a.x.one", check("no version", Outcome.NOT_APPLICABLE), lost))
    assert [one["outcome"] for one in parts(entry)] == ["not_measured", "not_applicable"]


texts = st.text(st.sampled_from('ab "\\\n\té日'), max_size=900)
checks = st.builds(
    CheckResult,
    outcome=st.sampled_from(Outcome),
    message=st.sampled_from(["", "one", "two", "three", "m" * 800, 'a "b"\n']),
    expected=st.sampled_from(["", "this", "e" * 900]),
    evidence=texts,
    location=st.none() | st.builds(Place, st.just("a.md"), st.integers(0, 400), st.just(1)),
)
many_rows = st.lists(
    st.tuples(st.lists(checks, max_size=30), st.sampled_from(["fail", "warn", "info"])),
    max_size=40,
).map(lambda rows: [rule(f"a.x.r{n}", *c, severity=s) for n, (c, s) in enumerate(rows)])


@pytest.mark.long
@settings(max_examples=60)
@given(rows=many_rows, budget=st.sampled_from([SMALL, 8_000, BUDGET]))
def test_nothing_is_lost_and_the_budget_holds(rows: list[RuleResult], budget: int) -> None:
    one = evaluation(*rows)
    text = findings_text(one, budget)
    assert len(text) <= budget
    found = json.loads(text)
    shown = [entry for entry in found if "rule_id" in entry]
    more = sum(entry["more_rules"] for entry in found if "more_rules" in entry)
    assert len(shown) + more == len(one.findings)
    ids = [entry["rule_id"] for entry in shown]
    assert len(set(ids)) == len(ids)
    by_id = {row.rule.id: row for row in one.findings}
    for entry in shown:
        bad = [c for c in by_id[entry["rule_id"]].checks if c.outcome is not Outcome.PASS]
        if "same_as" in entry:
            assert ids.index(entry["same_as"]) < ids.index(entry["rule_id"])
        elif bad:
            counted = sum(each.get("times", 1) for each in parts(entry))
            assert counted + entry.get("more_findings", 0) == len(bad)


@pytest.mark.parametrize("length", [2_001, 50_000])
def test_long_words_of_rules_do_not_break_the_budget(length: int) -> None:
    rows = [rule(f"a.x.r{n}", check("m" * length, expected="e" * length)) for n in range(20)]
    assert len(findings_text(evaluation(*rows), SMALL)) <= SMALL


def test_what_each_rule_wants_is_kept_where_the_cause_is_shared() -> None:
    missing = "missing or empty section"
    one, other = told(
        rule("a.x.usage", check(missing, expected="a section on use")),
        rule("a.x.install", check(missing, expected="a section on installation")),
    )
    assert parts(one)[0]["expected"] == "a section on use"
    assert (other["same_as"], other["expected"]) == ("a.x.usage", "a section on installation")


def test_rules_of_one_cause_name_the_one_that_failed_by_it() -> None:
    shared = check("same cause as a.x.one: not valid YAML", Outcome.NOT_MEASURED)
    shared = replace(shared, same_cause="a.x.one", cause="a.yaml as YAML")
    heavy = rule("a.x.heavy", shared, weight=9)
    mild = rule("a.x.mild", shared, severity="warn")
    fails = rule("a.x.one", check("not valid YAML", cause="a.yaml as YAML"))
    found = told(heavy, mild, fails)
    assert [one["rule_id"] for one in found] == ["a.x.one", "a.x.heavy", "a.x.mild"]
    assert [one.get("same_as") for one in found] == [None, "a.x.one", "a.x.one"]


@pytest.mark.parametrize(
    ("one", "has_hint"),
    [
        (check("x is not there"), True),
        (check("it took too long", Outcome.ERROR), False),
        (check("not valid YAML", cause="a.yaml as YAML"), False),
        (check("ruff is not installed", Outcome.NOT_MEASURED), False),
    ],
)
def test_hint_is_about_what_was_found_and_not_about_what_could_not_be_judged(
    one: CheckResult, has_hint: bool
) -> None:
    row = rule("a.x.one", one)
    row = replace(row, rule=replace(row.rule, hint="add an x"))
    assert ("hint" in told(row)[0]) is has_hint


def test_lines_are_those_of_all_findings_of_a_check() -> None:
    places = [PlacedFinding(message="m", location=Place("a.md", line)) for line in (9, 3, 3, 40)]
    one = check("m (and 3 more)", location=Place("a.md", 9), findings=tuple(places))
    assert told(rule("a.x.one", one))[0]["findings"][0]["line"] == [3, 9, 40]
