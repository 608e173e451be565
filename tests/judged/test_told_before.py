"""What a judge would be asked is reported before anybody is asked: compile, dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.judged.jurors import configured

TONE = """\
name: tone
rules:
  - id: a.tone.polite
    description: The text is polite
    severity: fail
    check: {type: judged, rubric: No insults., votes: 3}
  - {id: a.tone.kind, description: The text is kind, severity: warn, check: It reads kind.}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tone.yaml").write_text(TONE)
    (tmp_path / "draft.md").write_text("# Hello\n")
    configured(tmp_path, "counts")
    return tmp_path


def test_compile_shows_the_votes_and_the_prompt(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["criteria", "compile", "tone.yaml", "--judge", "jury"]) == 0
    told = capsys.readouterr().out
    assert "VOTES       3 at most, 2 have to pass" in told
    assert told.count("JUDGE       jury") == 2
    assert "a.tone.polite: The text is polite" in told
    assert not (project / "asked").exists()


def test_compile_says_where_nobody_judges(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "compile", "tone.yaml"]) == 0
    assert "JUDGE       no LLM judge is configured: it is not measured" in capsys.readouterr().out


def test_compile_as_json_has_the_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    main(["criteria", "compile", "tone.yaml", "--judge", "jury", "--json"])
    first, second = json.loads(capsys.readouterr().out)["checks"]
    assert (first["judge"], first["votes"], first["quorum"]) == ("jury", 3, 2)
    assert "No insults." in first["prompt"]
    assert (second["type"], second["votes"]) == ("judged", 1)


DRY = ["loop", "new", "Be polite", "--criteria", "tone.yaml", "--input", "draft.md", "--dry-run"]


def test_a_dry_run_shows_what_the_judge_would_be_asked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*DRY, "--judge", "jury"]) == 0
    told = capsys.readouterr().out
    assert "a.tone.polite: judged by jury, 3 votes at most, 2 have to pass" in told
    assert "Case number: " in told
    assert not (project / "asked").exists()
    assert not (project / ".ai-factory").exists()


def test_a_dry_run_as_json_says_that_nobody_judges(capsys: pytest.CaptureFixture[str]) -> None:
    main([*DRY, "--json"])
    (found,) = json.loads(capsys.readouterr().out)["evaluate"]["judged"]
    assert found == {
        "rule_id": "a.tone.polite",
        "judge": None,
        "votes": 3,
        "quorum": 2,
        "prompt": None,
    }


def test_explain_says_in_words_what_a_judge_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "explain", "tone.yaml", "a.tone.polite"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "an LLM judge grades it, in at most 3 votes by the rubric: No insults." in told
