"""From what was expected and what was reported to a verdict: every case of what is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.session.conclude import (
    CHANGED,
    CRASHED,
    Conclusion,
    ResultTally,
    conclude,
    expected_targets,
)
from pytest_reflex.session.plan import PlannedTarget, SessionPlan
from pytest_reflex.session.results import ReportedResult
from tests.verdict.sets import rule, target

ID = "it.reflex.yaml"
FAIL, MILD, PAIR = rule("a.x.fail"), rule("b.x.mild", "warn"), rule("b.x.pair", checks=2)
RULES = (FAIL, MILD, PAIR)
CHECKS = ("a.x.fail::0", "b.x.mild::0", "b.x.pair::0", "b.x.pair::1")
SAID = {"pass": Outcome.PASS, "fail": Outcome.FAIL, "error": Outcome.ERROR}


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    path = tmp_path / "artifact.md"
    path.write_text("text")
    return path


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def report(node_id: str, outcome: str = "passed", when: str = "call") -> Any:
    failed, skipped = outcome == "failed", outcome == "skipped"
    reason = ("it.py", 1, "Skipped: why") if skipped else f"it {outcome}"
    return SimpleNamespace(
        nodeid=node_id, outcome=outcome, when=when, failed=failed, skipped=skipped, longrepr=reason
    )


def reported(check: str, outcome: Outcome, *, sha256: str = digest("text")) -> ReportedResult:
    rule_id, _, index = check.partition("::")
    return ReportedResult(
        node_id=f"{ID}::{check}",
        target=ID,
        rule=rule_id,
        index=int(index),
        sha256=sha256,
        result=CheckResult(outcome=outcome, message="said so"),
    )


def add(tally: ResultTally, plan: SessionPlan, check: str, word: str) -> None:
    """Let a check have passed, failed or erred, or be deselected, skipped, lost or cut off."""
    node_id = f"{ID}::{check}"
    if word in SAID:
        tally.add(report(node_id), reported(check, SAID[word]))
    elif word == "deselected":
        plan.left_out.add(node_id)
    elif word == "skipped":
        tally.add(report(node_id, "skipped", "setup"), None)
    elif word == "lost":
        tally.add(report(node_id, "failed", CRASHED), None)
    else:
        assert word == "cut off"


def judged(
    artifact: Path,
    *words: str,
    partial: bool = True,
    rules: Sequence[Rule] = RULES,
    then: Callable[[ResultTally], object] | None = None,
) -> Conclusion:
    """Return the conclusion over four checks of three rules; the rest of `words` is "pass"."""
    one = replace(target(*rules, threshold="0.9"), artifact=artifact)
    plan, tally = SessionPlan(targets={ID: PlannedTarget(one, digest("text"))}), ResultTally()
    for check, word in zip(CHECKS, [*words, *["pass"] * 4], strict=False):
        add(tally, plan, check, word)
    if then:
        then(tally)
    (found,) = expected_targets(plan, artifact.parent)
    return conclude(found, plan, tally, partial=partial)


@pytest.mark.parametrize(
    ("words", "whole", "partial"),
    [
        (("pass", "pass"), "passed", "passed"),
        (("deselected",), "incomplete", "partial"),
        (("pass", "deselected", "deselected", "deselected"), "incomplete", "partial"),
        # A rule beside the deselected one that did not run for another reason.
        (("deselected", "skipped"), "incomplete", "incomplete"),
        (("deselected", "lost"), "incomplete", "incomplete"),
        (("deselected", "cut off"), "incomplete", "incomplete"),
        (("skipped",), "incomplete", "incomplete"),
        (("lost",), "incomplete", "incomplete"),
        (("cut off",), "incomplete", "incomplete"),
        # One rule, of which one check is deselected and the other one is not.
        (("pass", "pass", "deselected", "pass"), "incomplete", "partial"),
        (("pass", "pass", "deselected", "skipped"), "incomplete", "incomplete"),
        (("pass", "pass", "lost", "deselected"), "incomplete", "incomplete"),
        (("pass", "pass", "cut off", "deselected"), "incomplete", "incomplete"),
        (("pass", "pass", "fail", "deselected"), "failed", "failed"),
        (("pass", "pass", "deselected", "error"), "failed", "failed"),
        # What was measured beside the deselected rule.
        (("fail", "deselected"), "incomplete", "failed"),
        (("error", "deselected"), "incomplete", "failed"),
        (("deselected", "fail"), "incomplete", "partial"),
        (("deselected", "error"), "incomplete", "partial"),
    ],
)
def test_status_by_what_became_of_each_check(
    artifact: Path, words: tuple[str, ...], whole: str, partial: str
) -> None:
    assert judged(artifact, *words, partial=False).judged.status == whole
    assert judged(artifact, *words, partial=True).judged.status == partial


@pytest.mark.parametrize("words", [("fail", "deselected"), ("deselected", "error")])
def test_a_mild_rule_of_which_a_part_failed_is_not_excused(
    artifact: Path, words: tuple[str, str]
) -> None:
    mild_pair = rule("b.x.pair", "warn", checks=2)
    rules = (FAIL, MILD, mild_pair)
    found = judged(artifact, "pass", "pass", *words, rules=rules)
    assert found.judged.status == "failed"
    assert found.judged.excused == frozenset()


def test_each_check_that_did_not_run_is_named_with_its_reason(artifact: Path) -> None:
    found = judged(artifact, "deselected", "skipped", "lost", "cut off")
    assert [(row.node_id.removeprefix(f"{ID}::"), row.reason) for row in found.not_run] == [
        ("a.x.fail::0", "deselected"),
        ("b.x.mild::0", "skipped: why"),
        ("b.x.pair::0", "the worker died while it ran"),
        ("b.x.pair::1", "the session ended before it reported"),
    ]
    assert found.judged.evaluation.unsound == "4 of 4 checks did not run"


@pytest.mark.parametrize("partial", [False, True])
def test_an_artifact_that_is_gone_fails(artifact: Path, partial: bool) -> None:
    found = judged(artifact, "deselected", partial=partial, then=lambda tally: artifact.unlink())
    assert found.judged.evaluation.unsound == CHANGED
    assert found.judged.status in ("failed", "incomplete")


@pytest.mark.parametrize("words", [(), ("deselected",)])
def test_an_artifact_that_changed_does_not_pass(artifact: Path, words: tuple[str, ...]) -> None:
    found = judged(artifact, *words, then=lambda tally: artifact.write_text("other"))
    assert found.judged.evaluation.unsound == CHANGED
    assert not found.judged.evaluation.passed
    assert found.judged.status in ("failed", "incomplete")


@pytest.mark.parametrize("words", [(), ("deselected",)])
def test_nor_does_one_that_changed_and_changed_back(artifact: Path, words: tuple[str, ...]) -> None:
    def read_otherwise(tally: ResultTally) -> None:
        check = "b.x.mild::0"
        other = reported(check, Outcome.PASS, sha256=digest("other"))
        tally.add(report(f"{ID}::{check}"), other)

    found = judged(artifact, *words, then=read_otherwise)
    assert artifact.read_text() == "text"
    assert found.judged.evaluation.unsound == CHANGED
    assert found.judged.status in ("failed", "incomplete")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Outcome.PASS, Outcome.FAIL),
        (Outcome.PASS, Outcome.ERROR),
        (Outcome.PASS, Outcome.NOT_MEASURED),
        (Outcome.NOT_MEASURED, Outcome.ERROR),
        (Outcome.NOT_MEASURED, Outcome.FAIL),
        (Outcome.ERROR, Outcome.FAIL),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_an_item_that_reports_twice_counts_with_its_worst(
    first: Outcome, second: Outcome, swapped: bool
) -> None:
    tally, check = ResultTally(), "a.x.fail::0"
    for outcome in (second, first) if swapped else (first, second):
        tally.add(report(f"{ID}::{check}"), reported(check, outcome))
    found = tally.result(f"{ID}::{check}", ID, "a.x.fail", 0)
    assert found is not None
    assert found.outcome is second


@pytest.mark.parametrize("word", ["skipped", "lost"])
def test_a_check_that_passed_and_was_skipped_or_lost_too_is_not_measured(
    artifact: Path, word: str
) -> None:
    found = judged(artifact, then=lambda tally: add(tally, SessionPlan(), "a.x.fail::0", word))
    assert found.judged.status == "incomplete"


def test_one_that_failed_and_was_lost_too_has_failed(artifact: Path) -> None:
    found = judged(
        artifact, "fail", then=lambda tally: add(tally, SessionPlan(), "a.x.fail::0", "lost")
    )
    assert found.judged.status == "failed"


@pytest.mark.parametrize(
    ("outcome", "when", "word", "message"),
    [
        ("failed", "call", Outcome.FAIL, "it failed"),
        ("failed", "setup", Outcome.ERROR, "error in setup: it failed"),
        ("failed", "teardown", Outcome.ERROR, "error in teardown: it failed"),
        ("passed", "call", Outcome.PASS, "said so"),
    ],
)
def test_the_final_outcome_of_a_report_counts_where_it_is_worse(
    outcome: str, when: str, word: Outcome, message: str
) -> None:
    tally, check = ResultTally(), "a.x.fail::0"
    tally.add(report(f"{ID}::{check}", outcome, when), reported(check, Outcome.PASS))
    found = tally.result(f"{ID}::{check}", ID, "a.x.fail", 0)
    assert found is not None
    assert (found.outcome, found.message) == (word, message)


def test_a_report_that_is_skipped_in_the_end_is_not_measured(artifact: Path) -> None:
    one, check = report(f"{ID}::a.x.fail::0", "skipped"), reported("a.x.fail::0", Outcome.PASS)
    found = judged(artifact, "cut off", then=lambda tally: tally.add(one, check))
    assert [row.reason for row in found.not_run] == ["skipped: why"]


def test_an_item_of_a_group_that_was_lost_is_found_by_its_id() -> None:
    tally = ResultTally()
    tally.add(report(f"{ID}::a.x.fail::0@group", "failed", CRASHED), None)
    assert tally.lost == {f"{ID}::a.x.fail::0@group", f"{ID}::a.x.fail::0"}


def test_a_rerun_says_nothing() -> None:
    tally = ResultTally()
    tally.add(report(f"{ID}::a.x.fail::0", "rerun"), reported("a.x.fail::0", Outcome.FAIL))
    tally.add(report(f"{ID}::b.x.mild::0", "rerun", CRASHED), None)
    assert not tally.results
    assert not tally.lost


@pytest.mark.parametrize(
    ("target_id", "rule_id", "index"),
    [("other", "a.x.fail", 0), (ID, "b.x.mild", 0), (ID, "a.x.fail", 1)],
)
def test_a_result_counts_for_the_check_that_its_item_is(
    artifact: Path, target_id: str, rule_id: str, index: int
) -> None:
    one = reported("a.x.fail::0", Outcome.PASS)
    other = replace(one, target=target_id, rule=rule_id, index=index)
    found = judged(
        artifact, "cut off", partial=False, then=lambda tally: tally.add(report(ID), other)
    )
    assert found.judged.status == "incomplete"
    assert [row.rule_id for row in found.not_run] == ["a.x.fail"]
