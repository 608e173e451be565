"""The agent that needs nothing: same request, same answer, and nothing claimed that is not so."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from pytest_reflex.agents.offline import OfflineAgent
from pytest_reflex.contracts.steps import read_artifact, read_checks, read_issues, read_plan
from pytest_reflex.model.enums import Step
from pytest_reflex.model.rules import Rule
from tests.agents.making import evaluation, request, rule, section


def said(step: Step, *rules: Rule, **more: Any) -> str:
    reply = OfflineAgent().respond(request(step, *rules, **more))
    assert (reply.agent, reply.error, reply.details) == ("offline", "", {"free": True})
    return reply.text


MANY = [rule(f"a.{group}.{n}") for group in "abcdefg" for n in range(6)]


@pytest.mark.parametrize("count", [0, 1, 2, 8, 42])
@pytest.mark.parametrize("failed", [False, True])
def test_plan_keeps_its_contract_and_names_the_rules(count: int, failed: bool) -> None:
    rules = MANY[:count]
    found = evaluation({r.id: "m" for r in rules}, *rules) if failed and rules else None
    steps = read_plan(said(Step.PLAN, *rules, evaluation=found))
    assert 3 <= len(steps) <= 5
    assert all(r.id in " ".join(steps) for r in rules[:20])


def test_plan_puts_what_failed_first() -> None:
    rules = MANY[:7]
    steps = read_plan(said(Step.PLAN, *rules, evaluation=evaluation({"a.b.0": "m"}, *rules)))
    assert steps[0] == "Fix what the last evaluation found: a.b.0"


def test_plan_of_very_many_rules_stays_short() -> None:
    rules = [rule(f"a.{'long' * 20}.{n}") for n in range(500)]
    assert all(len(step) < 4000 for step in read_plan(said(Step.PLAN, *rules)))


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"artifact": "old\r\n", "draft": "draft"}, "old\r\n"),
        ({"draft": "draft without end"}, "draft without end"),
        ({"artifact": None, "draft": " "}, "# Write a courses API\n\nWrite a courses API\n"),
        ({"task": "a\n\nb "}, "# a b\n\na\n\nb\n"),
    ],
    ids=["previous artifact", "draft", "empty draft", "neither"],
)
def test_produce_starts_from_what_there_is(inputs: dict[str, Any], text: str) -> None:
    assert read_artifact(said(Step.PRODUCE, **inputs)) == text


def prose(text: str) -> Rule:
    return rule("a.x.y", checks=(), prose=text)


def test_prepare_checks_what_prose_quotes() -> None:
    asked = prose("The headings `## Usage` and `## FAQ (old)` and `## Usage` are there")
    checks = read_checks(said(Step.PREPARE, asked), [asked])
    assert [check["search"] for check in checks] == ["## Usage", "## FAQ (old)"]
    assert all(check["literal"] for check in checks)


@pytest.mark.parametrize(
    "text",
    [
        "All endpoints are there",
        "No `TODO` is left",
        "Does not contain `TODO`",
        "Never says `obviously`",
        "Either `a` or `b`",
        "Remove `TODO`",
        "If there is a `Makefile`, it is named",
    ],
)
def test_prepare_does_not_guess(text: str) -> None:
    assert json.loads(said(Step.PREPARE, prose(text))) == {"checks": []}


def test_critique_is_ordered_by_severity_weight_and_what_can_be_mended() -> None:
    rules = [
        rule("a.a.warn", "warn", weight=Fraction(9)),
        rule("a.b.light"),
        rule("a.c.mendable", fixes=(section("## C"),)),
        rule("a.d.heavy", weight=Fraction(3)),
        rule("a.e.passed"),
        rule("a.f.light"),
        rule("a.g.light"),
    ]
    found = evaluation({r.id: f"{r.id} is missing" for r in rules if r.id != "a.e.passed"}, *rules)
    failed = [row.rule.id for row in (*found.failed, *found.warnings)]
    issues = json.loads(said(Step.CRITIQUE, *rules, artifact="x", evaluation=found))["issues"]
    order = [issue["rule_id"] for issue in issues]
    assert order == ["a.d.heavy", "a.c.mendable", "a.b.light", "a.f.light", "a.g.light"]
    assert len(read_issues(json.dumps({"issues": issues}), failed)) == 5


def test_critique_says_what_is_wrong_and_what_to_do() -> None:
    rules = [rule("a.a.hinted", hint="Add it", fixes=(section("## A"),)), rule("a.b.bare")]
    found = evaluation({"a.a.hinted": "no A", "a.b.bare": "no B"}, *rules)
    first, second = json.loads(said(Step.CRITIQUE, *rules, evaluation=found))["issues"]
    assert first == {
        "rule_id": "a.a.hinted",
        "problem": "no A",
        "fix_instruction": "Add it",
        "expected_effect": "Rule a.a.hinted passes",
    }
    assert second["fix_instruction"] == (
        "Change the artifact so that this holds: a.b.bare holds "
        "(the rule carries no safe fix: a person or another agent has to do it)"
    )


def test_refine_applies_safe_fixes_only() -> None:
    rules = [
        rule("a.a.safe", fixes=(section("## Safe"), section("## Risky", safe=False))),
        rule("a.b.bare"),
        rule("a.c.other", fixes=(section("## Other"),)),
    ]
    issues = tuple({"rule_id": name} for name in ("a.a.safe", "a.b.bare", "a.z.gone"))
    text = said(Step.REFINE, *rules, artifact="# T\r\n", issues=issues)
    assert text == "# T\r\n\r\n## Safe\r\n"
    assert said(Step.REFINE, *rules, artifact=text, issues=issues) == text


def test_other_steps_have_no_answer() -> None:
    reply = OfflineAgent().respond(request(Step.EVALUATE))
    assert reply.error == "the offline agent has no answer to EVALUATE"
