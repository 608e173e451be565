"""Criteria of each kind are verified by what they say, and by nothing that nobody approved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.drivers.goal.model import Criterion, MustNot, Verification, VerificationPlan
from pytest_reflex.drivers.goal.verify import EVIDENCE, Approvals, Verifier, as_claim

WORDS = """\
name: words
version: 1
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
"""
RUNS = """\
name: runs
version: 1
rules:
  - id: a.x.runs
    description: it runs
    severity: fail
    check: {type: executable, command: touch ran.txt}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "words.yaml").write_text(WORDS)
    (folder / "runs.yaml").write_text(RUNS)
    (folder / "good.md").write_text("alpha beta\n")
    (folder / "weak.md").write_text("alpha\n")
    return folder


def verifier(project: Path, *approved: VerificationPlan) -> Verifier:
    registry = built_in_registry()
    approvals = Approvals.load(project)
    approvals = approvals.record(approvals.find_missing(approved, registry))
    return Verifier(approvals=approvals, registry=registry, timeout=20)


def verified(project: Path, met: bool = False, approve: bool = True, **plan: Any) -> Criterion:
    one = Criterion(text="c", plan=VerificationPlan(**plan), met=met)
    (found,) = verifier(project, *([one.plan] if approve else [])).verify([one])
    return found


@pytest.mark.parametrize(
    ("plan", "met", "proof", "evidence"),
    [
        ({"command": "true"}, True, "execution output", "exit status 0"),
        ({"command": "echo no; exit 3"}, False, "execution output", "exit status 3: no"),
        ({"command": "no-such-program-here"}, False, "execution output", "no-such-program-here"),
        ({"command": "echo p95: 87 ms", "compare": "p95 < 100 ms"}, True, "measurement",
         "87 ms, wanted p95 < 100 ms"),
        ({"command": "echo p95: 0.2 s", "compare": "p95 < 100 ms"}, False, "measurement",
         "200 ms, wanted p95 < 100 ms"),
        ({"command": "echo fine", "compare": "p95 < 100 ms"}, False, "measurement",
         "no number beside 'p95'"),
        ({"command": "echo 3; exit 1", "compare": "< 5"}, False, "measurement", "exit status 1"),
        ({"command": "echo 3", "compare": "soon"}, False, "measurement",
         "'soon' is not a comparison (such as: p95 < 100 ms, or: >= 90)"),
        ({"criteria": "words.yaml", "artifact": "good.md"}, True, "execution output", "1.000"),
        ({"criteria": "words.yaml", "artifact": "weak.md"}, False, "execution output", "below"),
        ({"criteria": "words.yaml", "artifact": "weak.md", "rule": "a.x.alpha"}, True,
         "execution output", "score 1.000, needs 1"),
        ({"criteria": "words.yaml", "artifact": "weak.md", "rule": "b.x.beta"}, False,
         "execution output", "below 1"),
        ({"criteria": "words.yaml", "artifact": "weak.md", "rule": "b.x.bet"}, False,
         "execution output", "b.x.beta"),
        ({"criteria": "words.yaml", "artifact": "none.md"}, False, "execution output", "none.md"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_criterion_of_each_kind(
    project: Path, plan: dict[str, Any], met: bool, proof: str, evidence: str
) -> None:
    found = verified(project, **plan)
    assert (found.met, found.verification) == (met, Verification(proof))
    assert evidence in found.evidence
    assert len(found.evidence) <= EVIDENCE


def test_what_was_claimed_gives_way_to_what_is_found(project: Path) -> None:
    assert not verified(project, met=True, command="false").met


def test_criteria_that_cannot_be_read_are_not_met(project: Path) -> None:
    found = verified(project, met=True, approve=False, criteria="none.yaml", artifact="good.md")
    assert not found.met
    assert "none.yaml" in found.evidence


@pytest.mark.parametrize("word", [None, "observation", "code review", "assumption", "claim"])
def test_what_only_somebody_else_can_show_stays_as_it_is(project: Path, word: str | None) -> None:
    proof = Verification(word) if word else None
    one = Criterion(text="c", met=True, verification=proof, plan=VerificationPlan(required=proof))
    assert verifier(project).verify([one]) == (one,)


@pytest.mark.parametrize(
    ("word", "left"),
    [
        ("execution output", "claim"),
        ("measurement", "claim"),
        ("observation", "claim"),
        (None, "claim"),
        ("assumption", "assumption"),
    ],
)
def test_what_another_program_says_is_a_claim(word: str | None, left: str) -> None:
    one = Criterion(text="c", met=True, verification=Verification(word) if word else None)
    assert as_claim(one).verification is Verification(left)
    unmet = Criterion(text="c", verification=Verification.OBSERVATION)
    assert as_claim(unmet).verification is None


@pytest.mark.parametrize(
    ("plan", "shown"),
    [
        ({"command": "touch ran.txt"}, "touch ran.txt"),
        ({"command": "touch ran.txt; echo 3", "compare": "< 5"}, "touch ran.txt; echo 3"),
        ({"criteria": "runs.yaml", "artifact": "good.md"}, "touch ran.txt"),
        ({"criteria": "runs.yaml", "artifact": "good.md", "rule": "a.x.runs"}, "touch ran.txt"),
    ],
)
@pytest.mark.parametrize("met", [True, False])
def test_what_nobody_approved_is_shown_and_not_run(
    project: Path, plan: dict[str, Any], shown: str, met: bool
) -> None:
    found = verified(project, met=met, approve=False, **plan)
    assert not (project / "ran.txt").exists()
    assert shown in found.evidence
    assert found.met is met
    assert found.verification is (Verification.CLAIM if met else None)
    assert verified(project, met=met, approve=True, **plan).met
    assert (project / "ran.txt").exists()


def test_an_approval_is_of_one_command_in_one_project(project: Path) -> None:
    plan = VerificationPlan(command="touch ran.txt")
    verifier(project, plan)
    registry = built_in_registry()
    again = Approvals.load(project)
    assert again.find_missing([plan], registry) == ()
    (other,) = again.find_missing([VerificationPlan(command="touch ran.txt "), plan], registry)
    assert other.text == "touch ran.txt "
    beside = project.parent / "beside"
    beside.mkdir()
    assert len(Approvals.load(beside).find_missing([plan], registry)) == 1


@pytest.mark.parametrize("changed", ["the file", "what it extends", "the artifact"])
def test_criteria_are_approved_with_the_content_of_their_files(project: Path, changed: str) -> None:
    (project / "top.yaml").write_text("name: top\nversion: 1\nextends: ./runs.yaml\n")
    plan = VerificationPlan(criteria="top.yaml", artifact="good.md")
    approvals = verifier(project, plan).approvals
    assert approvals.find_missing([plan], built_in_registry()) == ()
    if changed == "the file":
        (project / "top.yaml").write_text("name: tops\nversion: 1\nextends: ./runs.yaml\n")
    elif changed == "what it extends":
        (project / "runs.yaml").write_text(RUNS.replace("touch", "rm -rf"))
    else:
        plan = VerificationPlan(criteria="top.yaml", artifact="weak.md")
    assert len(approvals.find_missing([plan], built_in_registry())) == 1


@pytest.mark.parametrize("mask", [0o002, 0o000, 0o077])
def test_a_record_is_for_nobody_else_whatever_the_umask_is(project: Path, mask: int) -> None:
    old = os.umask(mask)
    try:
        verifier(project, VerificationPlan(command="true"))
    finally:
        os.umask(old)
    assert (
        Approvals.load(project).find_missing(
            [VerificationPlan(command="true")], built_in_registry()
        )
        == ()
    )
    (record,) = (project.parent / "state").rglob("*.json")
    modes = [path.stat().st_mode & 0o777 for path in (record, *record.parents[:2])]
    assert modes == [0o600, 0o700, 0o700]


def test_criteria_that_start_nothing_need_no_approval(project: Path) -> None:
    assert verified(project, approve=False, criteria="words.yaml", artifact="good.md").met


@pytest.mark.parametrize("spoilt", ["no JSON", "another project", "a link", "open to all", "list"])
def test_a_record_that_cannot_be_relied_on_approves_nothing(project: Path, spoilt: str) -> None:
    plan = VerificationPlan(command="true")
    verifier(project, plan)
    (record,) = (project.parent / "state").rglob("*.json")
    text = record.read_text()
    if spoilt == "no JSON":
        record.write_text(text[:-4])
    elif spoilt == "another project":
        record.write_text(text.replace(str(project), "/elsewhere"))
    elif spoilt == "a link":
        record.rename(project / "record.json")
        record.symlink_to(project / "record.json")
    elif spoilt == "open to all":
        record.parent.chmod(0o777)
    else:
        record.write_text("[]")
    assert len(Approvals.load(project).find_missing([plan], built_in_registry())) == 1


def test_a_state_folder_in_the_project_approves_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_reflex.errors import StateError

    monkeypatch.setenv("XDG_STATE_HOME", str(project / ".state"))
    with pytest.raises(StateError, match="XDG_STATE_HOME"):
        verifier(project, VerificationPlan(command="true"))
    assert not (project / ".state").exists()


def test_a_command_of_several_criteria_is_run_once(project: Path) -> None:
    plan = VerificationPlan(command="echo x >> runs.txt")
    criteria = [Criterion(text=text, plan=plan) for text in "abc"]
    found = verifier(project, plan).verify(criteria)
    assert [one.met for one in found] == [True] * 3
    assert (project / "runs.txt").read_text() == "x\n"


def test_what_must_not_be_true_is_named_where_it_is(project: Path) -> None:
    plans = [
        VerificationPlan(command="true"),
        VerificationPlan(command="false"),
        VerificationPlan(),
        VerificationPlan(command="exit 2"),
    ]
    must_not = [MustNot(text=str(index), plan=plan) for index, plan in enumerate(plans)]
    unapproved = MustNot(text="unapproved", plan=VerificationPlan(command="touch ran.txt"))
    found = verifier(project, *plans).true_ones([*must_not, unapproved])
    assert [one.text for one, _ in found] == ["0"]
    assert not (project / "ran.txt").exists()
