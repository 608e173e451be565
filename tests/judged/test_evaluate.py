"""Judged rules through the doors of `evaluate`: the command, the Python interface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pytest_reflex
from pytest_reflex.cli.main import main
from pytest_reflex.errors import UsageError
from tests.judged.jurors import configured

TONE = """\
name: tone
rules:
  - id: a.tone.polite
    description: The text is polite
    severity: fail
    check: {type: judged, rubric: No insults., votes: 3}
  - {id: a.tone.kind, description: The text is kind, severity: warn, check: It reads kind.}
  - {id: a.tone.text, description: There is text, severity: warn, check: {type: content, search: .}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tone.yaml").write_text(TONE)
    (tmp_path / "a.md").write_text("A polite text.\n")
    return tmp_path


EVALUATE = ["evaluate", "a.md", "--criteria", "tone.yaml"]


def test_votes_are_told_beside_the_score(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configured(project, "polite")
    assert main([*EVALUATE, "--judge", "jury", "--verbose"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "JUDGED 2 of 3 rules by an agent (jury), 3 votes" in told
    assert "judged: 2 of 3 pass, 2 needed, 2 asked: I looked for it" in told
    assert "vote 2: pass (jury): I looked for it" in told


def test_what_fails_the_judge_fails_the_gate(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(project, "fail")
    assert main([*EVALUATE, "--judge", "jury"]) == 1
    assert "a.tone.polite: judged: 0 of 3 pass" in capsys.readouterr().out


def test_nobody_judges_unless_somebody_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(project, "counts")
    assert main(EVALUATE) == 1
    assert "--judge" in capsys.readouterr().out
    assert not (project / "asked").exists()


def test_the_configuration_may_name_the_judge(project: Path) -> None:
    configured(project, "pass")
    file = project / "pytest-reflex.toml"
    file.write_text('judge = "jury"\n' + file.read_text())
    assert main(EVALUATE) == 0


REFUSED = {
    "the offline agent": ("offline", "agent 'offline' cannot be an LLM judge"),
    "a name that is not there": ("jurry", "no agent named 'jurry' (did you mean jury?)"),
}


@pytest.mark.parametrize(("name", "told"), REFUSED.values(), ids=REFUSED)
def test_who_cannot_judge_is_refused(
    name: str, told: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(project, "pass")
    assert main([*EVALUATE, "--judge", name]) == 4
    assert told in capsys.readouterr().err


def test_json_has_each_vote(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configured(project, "turns")
    main([*EVALUATE, "--judge", "jury", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["evaluations"]
    (ballot,) = found["rule_results"][0]["checks"][0]["ballots"]
    assert found["judged"] == 2
    assert (ballot["votes"], ballot["quorum"]) == (3, 2)
    assert {vote["agent"] for vote in ballot["cast"]} == {"jury"}
    assert ballot["cast"][0]["cost"]["usd"] is None


def test_in_python_the_argument_alone_names_the_judge(project: Path) -> None:
    configured(project, "pass")
    file = project / "pytest-reflex.toml"
    file.write_text('judge = "jury"\n' + file.read_text())
    assert pytest_reflex.evaluate("a.md", "tone.yaml").judged == 0
    found = pytest_reflex.evaluate("a.md", "tone.yaml", judge="jury")
    assert found.passed
    assert found.judged == 2
    with pytest.raises(UsageError, match="agent 'offline' cannot be an LLM judge"):
        pytest_reflex.evaluate("a.md", "tone.yaml", judge="offline")


def test_the_doctor_says_who_judges_and_who_cannot(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(project, "pass")
    file = project / "pytest-reflex.toml"
    agents = file.read_text()
    file.write_text('judge = "jury"\n' + agents)
    main(["doctor", "--json"])
    rows = json.loads(capsys.readouterr().out)["agents"]
    assert [row["steps"] for row in rows if row["name"] == "jury"] == [["judge"]]
    file.write_text('judge = "offline"\n' + agents)
    assert main(["doctor"]) == 4
    assert "judge: agent 'offline' answers only the steps of a loop" in capsys.readouterr().out
