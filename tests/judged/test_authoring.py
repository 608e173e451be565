"""Judged rules for those who write them: samples, proofs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from tests.judged.jurors import configured

TONE = """\
name: tone
rules:
  - id: a.tone.polite
    description: The text is polite
    severity: fail
    check: {type: judged, rubric: No insults.}
    samples: {good: [a polite text], bad: [a rude text]}
  - id: a.tone.kind
    description: The text is kind
    severity: warn
    check: It reads kind.
    samples: {good: [a polite text]}
  - id: a.tone.either
    description: It says so
    severity: warn
    check:
      any_of: [{type: content, search: polite}, {type: judged}]
  - id: a.tone.both
    description: There is text
    severity: warn
    check: [{type: content, search: '\\w'}, {type: judged}]
    samples: {good: [a polite text]}
  - id: a.tone.word
    description: It says polite
    severity: warn
    check: [{type: content, search: polite}, {type: judged}]
    samples: {good: [a polite text]}
"""
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tone.yaml").write_text(TONE)
    configured(tmp_path, "polite")
    file = tmp_path / "pytest-reflex.toml"
    file.write_text('judge = "jury"\n' + file.read_text())
    return tmp_path


def by_rule(capsys: Output, key: str) -> dict[str, Any]:
    return {one["rule"]: one[key] for one in json.loads(capsys.readouterr().out)["rules"]}


def test_samples_are_not_asked_about_unless_a_judge_is_named(project: Path, capsys: Output) -> None:
    configured(project, "counts")
    assert main(["criteria", "test", "tone.yaml", "a.tone.polite"]) == 0
    assert "not asked: a.tone.polite: an LLM judge grades the rule" in capsys.readouterr().out
    assert not (project / "asked").exists()


def test_strictly_a_sample_that_nobody_was_asked_about_shows_nothing() -> None:
    assert main(["criteria", "test", "tone.yaml", "a.tone.polite", "--strict"]) == 1


def test_a_judge_that_is_named_is_asked_about_samples(capsys: Output) -> None:
    assert main(["criteria", "test", "tone.yaml", "--judge", "jury", "--json"]) == 0
    assert by_rule(capsys, "verdict") == {
        "a.tone.polite": "validated",
        "a.tone.kind": "validated",
        "a.tone.either": "none",
        "a.tone.both": "validated",
        "a.tone.word": "validated",
    }


def test_a_judge_that_lets_a_bad_sample_pass_is_told(project: Path, capsys: Output) -> None:
    configured(project, "pass")
    assert main(["criteria", "test", "tone.yaml", "a.tone.polite", "--judge", "jury"]) == 1
    assert "bad sample 1 is missing" in capsys.readouterr().out


def test_a_proof_asks_nobody_and_counts_no_judged_rule(capsys: Output) -> None:
    assert main(["criteria", "prove", "tone.yaml", "--run-commands", "--json"]) == 0
    assert by_rule(capsys, "proof") == {
        "a.tone.polite": "judged",
        "a.tone.kind": "unproven",
        "a.tone.either": "judged",
        "a.tone.both": "judged",
        "a.tone.word": "proved",
    }


def test_a_proof_says_what_to_do_for_a_judged_rule(capsys: Output) -> None:
    assert main(["criteria", "prove", "tone.yaml", "--strict"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "a.tone.polite is judged: an LLM judge grades it" in told
    assert "criteria test --judge NAME" in told
    assert "1 proved, 1 unproven, 3 judged" in told
