"""``evaluate``, ``critique`` and ``refine`` by themselves, and handed from one to the next."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems

CRITERIA = """\
name: words
rules:
  - id: a.x.alpha
    description: says alpha
    severity: fail
    check: {type: content, search: alpha}
    fix: {append: {text: alpha}}
  - {id: a.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
  - {id: b.x.long, description: is long, severity: info, check: {type: content, search: long}}
"""
# What it answers lies in files; each call takes the first line of answers-STEP away.
AGENT = """\
import os, pathlib, sys
step = os.environ["PYTEST_REFLEX_STEP"]
pathlib.Path(f"asked-{step}").write_text(sys.stdin.read())
path = pathlib.Path(f"answers-{step}")
first, _, rest = path.read_text().partition("\\n")
path.write_text(rest or first)
print(first.replace("|", "\\n"))
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "draft.md").write_text("# Words\n")
    (tmp_path / "agent.py").write_text(AGENT)
    robot = f'[agents.robot]\ncommand = ["{sys.executable}", "agent.py"]\n'
    (tmp_path / "pytest-reflex.toml").write_text(f'[loop]\ntemplate = "words.yaml"\n{robot}')
    return tmp_path


def answers(project: Path, step: str, *lines: str) -> None:
    (project / f"answers-{step}").write_text("\n".join(lines))


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command that exits with 0 and return its JSON document."""

    def run(*argv: str, stdin: str = "", status: int = 0) -> Any:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        assert main([*argv, "--json"]) == status, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


def test_three_commands_make_a_round(project: Path, ask: Any) -> None:
    report = ask("evaluate", "draft.md", status=1)
    critique = ask("critique", "draft.md", "--evaluation", "-", stdin=json.dumps(report))
    refined = ask("refine", "draft.md", "--issues", "-", "--in-place", stdin=json.dumps(critique))
    assert [issue["rule_id"] for issue in critique["issues"]] == ["a.x.alpha", "a.x.beta"]
    assert (refined["by"], refined["fixed"]) == ("fixes", ["a.x.alpha"])
    assert (project / "draft.md").read_text() == refined["artifact"] == "# Words\nalpha\n"
    assert not problems("critique", critique)
    assert not problems("refinement", refined)


def test_issues_of_no_artifact_are_told(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"issues": [ISSUE]})))
    assert main(["refine", "draft.md", "--issues", "-"]) == 0
    out, err = capsys.readouterr()
    assert out == "# Words\nalpha\n"
    assert "it has no artifact_sha256 and cannot be compared with draft.md" in err


def test_without_an_evaluation_a_critique_makes_its_own(ask: Any) -> None:
    found = ask("critique", "draft.md")
    assert (len(found["issues"]), found["phase"], found["agent"]) == (2, "B", "offline")


def test_refine_alone_is_a_whole_round(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refine", "draft.md"]) == 0
    out, err = capsys.readouterr()
    assert out == "# Words\nalpha\n"
    assert "REFINED     modified Words (by fixes)\nFIXED       a.x.alpha\n" in err
    assert (project / "draft.md").read_text() == "# Words\n"


def test_what_passed_is_nobodys_work(ask: Any, project: Path) -> None:
    (project / "draft.md").write_text("alpha beta\n")
    assert ask("critique", "draft.md", "--agent", "robot")["issues"] == []
    refined = ask("refine", "draft.md", "--agent", "robot")
    assert (refined["by"], refined["artifact"]) == ("nobody", "alpha beta\n")


def test_the_agent_gets_what_fixes_do_not_mend(ask: Any, project: Path) -> None:
    answers(project, "REFINE", "# Words|alpha|beta")
    refined = ask("refine", "draft.md", "--agent", "refine=robot")
    assert (refined["by"], refined["agent"], refined["cost"]["calls"]) == ("both", "robot", 1)
    asked = (project / "asked-REFINE").read_text()
    assert "# Words\nalpha\n" in asked
    assert '"rule_id": "a.x.alpha"' not in asked


BAD = '{"issues": [{"rule_id": "a.x.other"}]}'


def test_an_answer_that_breaks_the_contract_is_asked_for_once_more(ask: Any, project: Path) -> None:
    issue = {"rule_id": "a.x.beta", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
    answers(project, "CRITIQUE", BAD, json.dumps({"issues": [issue]}))
    found = ask("critique", "draft.md", "--agent", "robot")
    assert (found["issues"], found["cost"]["calls"]) == ([issue], 2)
    assert "Your last answer was refused" in (project / "asked-CRITIQUE").read_text()


def test_a_second_bad_answer_is_a_phase_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(project, "CRITIQUE", BAD)
    assert main(["critique", "draft.md", "--agent", "robot"]) == 9
    told = capsys.readouterr().err
    assert "CRITIQUE failed twice, by agent robot: " in told
    assert "/issues/0" in told


def test_issues_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["critique", "draft.md"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ISSUE       a.x.alpha: ")
    assert "\n            effect: Rule a.x.alpha passes\n" in out


def test_a_file_that_was_changed_meanwhile_is_left_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "agent.py").write_text("open('draft.md', 'a').write('mine')\nprint('x')\n")
    assert main(["refine", "draft.md", "--in-place", "--agent", "refine=robot"]) == 4
    assert "draft.md was changed while it was refined" in capsys.readouterr().err
    assert (project / "draft.md").read_text() == "# Words\nmine"


def test_the_result_goes_where_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refine", "draft.md", "--output", "new.md"]) == 0
    out, err = capsys.readouterr()
    assert (out, (project / "new.md").read_text()) == ("", "# Words\nalpha\n")
    assert "WRITTEN TO  new.md" in err


STALE = {"evaluations": [{"artifact_sha256": "0" * 64}]}
ISSUE = {"rule_id": "a.x.alpha", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
REFUSED = {
    "a stale evaluation": ("critique --evaluation -", json.dumps(STALE), "it is of 00000000, but"),
    "no evaluation": ("critique --evaluation -", '{"a": 1}', "no evaluation is in it"),
    "an empty evaluation": ("critique --evaluation -", "", "standard input: it is empty"),
    "no JSON": ("critique --evaluation -", "{", "--evaluation standard input: "),
    "an evaluation that is not there": (
        "critique --evaluation gone.json",
        "",
        "gone.json: No such",
    ),
    "stale issues": (
        "refine --issues -",
        json.dumps({"issues": [ISSUE], "artifact_sha256": "f" * 64}),
        "they are of ffffffff, but draft.md is",
    ),
    "issues that are none": ("refine --issues -", '{"issues": [{}]}', "'rule_id' is a required"),
    "an issue for no rule": (
        "refine --issues -",
        json.dumps({"issues": [{**ISSUE, "rule_id": "a.x.gone"}]}),
        "words has no rule 'a.x.gone'",
    ),
    "a key twice": (
        "refine --issues -",
        '{"issues": [], "issues": []}',
        "--issues standard input: the JSON cannot be used: the key 'issues' is there twice",
    ),
    "an evaluation with a key twice": (
        "critique --evaluation -",
        '{"evaluation": {"a": 1, "a": 2}}',
        "the key 'a' is there twice",
    ),
    "a number that is none": ("refine --issues -", '{"issues": NaN}', "NaN is not a JSON number"),
    "a nest": ("refine --issues -", '{"issues": ' + "[" * 200_000, "the JSON is nested too deep"),
    "two places": ("refine --in-place --output x", "", "cannot be combined"),
    "a place that is none": ("refine --output /dev/null", "", "no result can be written to"),
    "two criteria": ("critique --criteria a --template b", "", "cannot be combined"),
    "an agent nobody knows": ("critique --agent robo", "", "did you mean robot?"),
    "a folder": ("critique folder", "", "is a folder"),
    "a picture": ("refine picture", "", "what is not text can be checked, by"),
    "an empty file": ("refine empty", "", "empty is empty"),
}


@pytest.mark.parametrize(("line", "stdin", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_done_is_refused(
    line: str,
    stdin: str,
    message: str,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (project / "folder").mkdir()
    (project / "picture").write_bytes(b"\x89PNG\0")
    (project / "empty").write_text("\n")
    verb, *flags = line.split()
    named = flags and flags[-1] in ("folder", "picture", "empty")
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    assert main([verb, *flags] if named else [verb, "draft.md", *flags]) == 4
    assert message in capsys.readouterr().err
    assert (project / "draft.md").read_text() == "# Words\n"


def test_an_evaluation_under_other_criteria_is_refused(
    ask: Any, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ask("evaluate", "draft.md", "--template", "words.yaml", status=1)
    (project / "report.json").write_text(json.dumps(report))
    (project / "other.yaml").write_text(CRITERIA.replace("a.x.beta", "a.x.gamma"))
    argv = ["critique", "draft.md", "--criteria", "other.yaml", "--evaluation", "report.json"]
    assert main(argv) == 4
    assert "words has no rule 'a.x.beta'" in capsys.readouterr().err


def test_schemas_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert re.search(r"^plan +What PLAN answers", capsys.readouterr().out, re.MULTILINE)
    assert main(["schema", "critique"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Critique"
    assert main(["schema", "critic"]) == 4
    assert "did you mean critique?" in capsys.readouterr().err
