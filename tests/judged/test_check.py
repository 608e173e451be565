"""Checks of type judged: parameters, outcomes, how often is asked, nobody by default."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from pytest_reflex.checks.judged import LONGEST, BudgetedJudge, JudgedCheck
from pytest_reflex.checks.registry import Registry, built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.contracts.validate import problems
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.judged import Case, Ruling, Vote
from pytest_reflex.model.results import Evaluation, evaluation_from_json
from pytest_reflex.model.rules import CheckSpec, Rule
from pytest_reflex.model.targets import CheckContext
from tests.checks.building import document, rule, target
from tests.judged.jurors import case, judge


def judged(**params: Any) -> CheckSpec:
    return CheckSpec(type="judged", params=params)


def registry(folder: Path, body: str, **table: Any) -> Registry:
    found = built_in_registry()
    found.judge = judge(folder, body, **table)
    return found


def verdict(
    folder: Path, body: str, *rules: Rule, text: str = "A polite text.\n", **table: Any
) -> Evaluation:
    path = folder / "a.md"
    path.write_text(text)
    wanted = rules or (rule("a.tone.polite", judged(votes=3)),)
    return evaluate(target(path, *wanted), registry(folder, body, **table))


OUTCOMES = {
    "pass": (Outcome.PASS, "judged: 2 of 3 pass, 2 needed, 2 asked: line 1 is polite"),
    "fail": (Outcome.FAIL, "judged: 0 of 3 pass, 2 needed, 2 asked: line 1 is rude"),
    "undecided": (Outcome.ERROR, "judged: 0 of 3 pass, 2 needed, 2 asked, 2 undecided: it does"),
    "crash": (Outcome.ERROR, "2 asked, 2 void: "),
    "echo": (Outcome.ERROR, "2 asked, 2 void: its answer cannot be used"),
    "turns": (Outcome.PASS, "judged: 2 of 3 pass, 2 needed: by turns"),
}


@pytest.mark.parametrize("body", OUTCOMES)
def test_votes_become_the_outcome_of_the_check(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome, message = OUTCOMES[body]
    found = verdict(tmp_path, body).results[0]
    assert found.outcome is outcome
    assert message in found.message


def test_asking_ends_when_the_outcome_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = verdict(tmp_path, "counts", rule("a.x.y", judged(votes=9, quorum=2)))
    assert (tmp_path / "asked").read_text() == "xx"
    assert len(found.ballots[0].votes) == 2


def test_without_a_judge_nobody_is_asked_and_the_message_says_how(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x\n")
    found = evaluate(target(tmp_path / "a.md", rule("a.x.y", judged())), built_in_registry())
    assert found.results[0].outcome is Outcome.NOT_MEASURED
    assert "--judge" in found.results[0].message
    assert not found.passed


def test_a_rule_without_a_check_is_judged_where_somebody_judges(tmp_path: Path) -> None:
    found = verdict(tmp_path, 'say("pass" if "a.x.prose: a.x.prose" in prompt else "fail", "it")',
                    rule("a.x.prose"))  # fmt: skip
    assert found.passed
    assert found.judged == 1


def test_votes_survive_the_wire_and_the_schema(tmp_path: Path) -> None:
    wanted = rule("a.x.y", judged(votes=2))
    found = verdict(tmp_path, "pass", wanted)
    wire = found.to_json()
    assert problems("evaluation", wire) == []
    assert wire["judged"] == 1
    again = evaluation_from_json(wire, {wanted.id: wanted})
    assert (again.ballots, again.to_json()) == (found.ballots, wire)


def test_alternatives_keep_the_votes_of_those_that_lost(tmp_path: Path) -> None:
    alternatives = [judged().to_json(), {"type": "content", "search": "zebra"}]
    wanted = rule("a.x.y", CheckSpec(type="any_of", params={"any_of": alternatives}))
    found = verdict(tmp_path, "fail", wanted)
    assert not found.passed
    assert len(found.ballots) == 1


def test_a_folder_is_judged_by_its_files(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("one\n")
    (docs / "b.md").write_text("two\n")
    body = 'say("pass" if "a.md (data)" in prompt and "two" in prompt else "fail", "both")'
    found = evaluate(target(docs, rule("a.x.y", judged())), registry(tmp_path, body))
    assert found.passed


@pytest.mark.parametrize("name", ["x.md", "sub", "deep/x.md"])
def test_a_folder_of_which_not_all_was_read_costs_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/a.md").write_text("one\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "docs" / name).symlink_to(tmp_path / "other")
    wanted = target(tmp_path / "docs", rule("a.x.y", judged()))
    found = evaluate(wanted, registry(tmp_path, "counts")).results[0]
    assert (found.outcome, found.message.partition(" (")[0]) == ("error", f"not checked: {name}")
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("data", "told", "outcome"),
    [
        (b"\xff\xfe", "UTF-8", Outcome.FAIL),
        (b"x" * (LONGEST + 1), f"{LONGEST:,} at most", Outcome.ERROR),
    ],
    ids=["no text", "too long"],
)
def test_what_cannot_be_read_does_not_pass_and_costs_nothing(
    data: bytes, told: str, outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_bytes(data)
    wanted = target(tmp_path / "a.md", rule("a.x.y", judged()))
    found = evaluate(wanted, registry(tmp_path, "counts")).results[0]
    assert found.outcome is outcome
    assert told in found.message
    assert not (tmp_path / "asked").exists()


def test_secrets_in_what_a_judge_says_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TEST_API_KEY", "sesame-open-4711")
    found = verdict(tmp_path, 'say("fail", "it has sesame-open-4711")')
    assert "sesame-open-4711" not in str(found.to_json())
    assert "$A_TEST_API_KEY" in found.ballots[0].votes[0].reason_text


FAULTS = {
    "an unknown key": ({"rubrik": "x"}, "'rubrik' is not a key of a check of type judged"),
    "no vote": ({"votes": 0}, "votes must be a whole number from 1 to 9, not 0"),
    "an empty rubric": ({"rubric": ""}, "rubric must be a non-empty string, not ''"),
    "a quorum beyond": ({"votes": 2, "quorum": 3}, "quorum is 3, more than votes, which is 2"),
    "a quorum alone": ({"quorum": 2}, "quorum is 2, more than votes, which is 1"),
}


@pytest.mark.parametrize(("params", "told"), FAULTS.values(), ids=FAULTS)
def test_a_mistake_is_told_before_anybody_is_asked(params: dict[str, Any], told: str) -> None:
    spec = judged(**params)
    assert told in "; ".join(map(str, JudgedCheck().problems(spec)))
    with pytest.raises(CriteriaError, match=r"votes|rubric|rubrik|quorum"):
        JudgedCheck().compile(spec, {})


def test_up_to_nine_votes_may_be_asked_for() -> None:
    assert JudgedCheck().compile(judged(votes=9), {}).votes == 9
    with pytest.raises(CriteriaError, match="votes must be a whole number from 1 to 9, not 10"):
        JudgedCheck().compile(judged(votes=10), {})


def test_a_session_that_ends_leaves_no_verdict(tmp_path: Path) -> None:
    cancel = Event()
    cancel.set()
    check = JudgedCheck().compile(judged(votes=3), {})
    context = CheckContext(
        root=tmp_path,
        cancel=cancel,
        judge=judge(tmp_path, "pass"),
        rule=rule("a.x.y"),
    )
    found = check(document("A polite text."), context)
    assert found.outcome is Outcome.ERROR
    assert found.message == "judged: 0 of 3 pass, 2 needed, 0 asked: the session ended"


@pytest.mark.parametrize(("part", "asked"), [("calls", 2), ("usd", 3), ("seconds", 1)])
def test_a_purse_is_empty_after_the_vote_that_emptied_it(part: str, asked: int) -> None:
    left = {"calls": 2.0, "usd": 0.5, "seconds": 5.0}
    purse = BudgetedJudge(Priced(), {part: left[part]})
    votes = [purse.vote(case(number=n)) for n in range(1, 5)]
    assert [vote.ruling for vote in votes].count(Ruling.PASS) == asked
    assert f"used up ({part})" in votes[-1].error


class Priced:
    """A judge with a price."""

    name, seconds = "priced", 1.0

    def prompt(self, case: Case) -> str:
        return ""

    def vote(self, case: Case) -> Vote:
        cost = {"calls": 1, "seconds": 9.0, "usd": 0.2, "tokens": None}
        return Vote(ruling=Ruling.PASS, agent=self.name, cost=cost)
