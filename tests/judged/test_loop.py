"""A judge in a loop: its verdicts, its price, its limits, recordings, and what is sealed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from tests.judged.jurors import configured, program

pytestmark = [pytest.mark.long, pytest.mark.variants]

TONE = """\
name: tone
commands: {}
rules:
  - id: a.tone.polite
    description: The text is polite
    severity: fail
    hint: thank the reader
    check: {type: judged, rubric: No insults., votes: 3}
    fix: {append: {text: "A polite line."}}
"""
PAID = """\
open("asked", "a").write("x")
verdict = "pass" if "polite" in text else "fail"
answer = json.dumps({"case": mark, "reasons": ["I looked for it"], "verdict": verdict})
print(json.dumps({"answer": answer, "usd": 0.25}))
"""
TABLE = {"answer": '"json:answer"', "cost": '"json:usd"'}
NEW = ["loop", "new", "Be polite", "--criteria", "tone.yaml", "--input", "draft.md"]
BEGIN = [*NEW, "--judge", "jury", "--alias", "tone", "--yes", "--quiet"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tone.yaml").write_text(TONE.replace("commands: {}\n", ""))
    (tmp_path / "draft.md").write_text("# Hello\n")
    configured(tmp_path, PAID, **TABLE)
    return tmp_path


Events = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def events(project: Path) -> Events:
    def read() -> list[dict[str, Any]]:
        path = project / ".ai-factory/evolution/tone/history.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    return read


def run_json(project: Path) -> Any:
    return json.loads((project / ".ai-factory/evolution/tone/run.json").read_text())


@pytest.mark.parametrize("evaluator", ["core", "pytest"])
def test_a_loop_mends_what_the_judge_finds(evaluator: str, project: Path, events: Events) -> None:
    assert main([*BEGIN, "--evaluator", evaluator]) == 0
    evaluations = [e["payload"] for e in events() if e["event"] == "evaluation_done"]
    assert [one["evaluation"]["passed"] for one in evaluations] == [False, True]
    votes = [e["payload"]["cost"] for e in events() if e["event"] == "vote_cast"]
    assert [(one["calls"], one["usd"]) for one in votes] == [(1, 0.25)] * 4
    assert not any("cost" in one for one in evaluations)


def test_who_confirms_sees_the_judge_and_who_reads_the_result_too(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([word for word in BEGIN if word != "--quiet"])
    found = capsys.readouterr()
    assert "LLM judge: jury, up to 3 votes in each evaluation" in found.err
    _, _, ended = (found.err + found.out).partition("Final summary")
    assert found.err.count("Judged: 1 of 1 rules by an agent (jury), 2 votes") >= 2
    assert "Judged: 1 of 1 rules by an agent (jury), 2 votes" in ended


def test_votes_count_into_what_the_run_spent(project: Path) -> None:
    main(BEGIN)
    spend = run_json(project)["spend"]
    assert (spend["calls"], spend["usd"], spend["unknown_cost_calls"]) == (4, 1.0, 0)
    assert len((project / "asked").read_text()) == 4


def test_a_budget_of_calls_counts_votes(project: Path) -> None:
    assert main([*BEGIN, "--budget", "calls=2"]) != 0
    stop = run_json(project)["stop"]
    assert (stop["reason"], stop["detail"]) == ("budget_exceeded", "calls: 2 of 2 used")


def test_a_budget_that_is_used_up_asks_nobody(project: Path) -> None:
    main([*BEGIN, "--budget", "calls=1", "--max-iterations", "1"])
    assert (project / "asked").read_text() == "x"
    told = json.dumps(run_json(project)["evaluation"])
    assert "it was not asked: the budget is used up (calls)" in told
    assert run_json(project)["spend"]["calls"] == 1


def test_the_judge_is_that_of_the_run_when_it_is_extended(project: Path, events: Events) -> None:
    main([*BEGIN, "--max-iterations", "1"])
    assert events()[0]["payload"]["setup"]["judge"] == "jury"
    asked = len((project / "asked").read_text())
    main(["loop", "extend", "tone", "--max-iterations", "+1", "--yes", "--quiet"])
    assert len((project / "asked").read_text()) > asked


def test_a_rate_limit_of_the_judge_leaves_a_run_to_resume(
    project: Path, events: Events, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = """\
import os
if not os.path.exists("open"):
    print(json.dumps({"status": 429}))
    sys.exit(1)
"""
    body = limited + PAID
    configured(project, body, **TABLE, tries="1", limit='{"json:status" = 429}')
    assert main(BEGIN) not in (0, 1)
    assert "judge jury" in capsys.readouterr().err
    last = events()[-1]
    assert (last["event"], last["payload"]["limited"]) == ("phase_error", True)
    (project / "open").touch()
    assert main(["loop", "resume", "tone", "--quiet"]) == 0


@pytest.mark.parametrize("evaluator", ["core", "pytest"])
def test_a_recorded_judge_is_replayed_without_being_asked(
    evaluator: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*BEGIN, "--record", "calls.jsonl", "--evaluator", evaluator]) == 0
    first = run_json(project)
    asked = (project / "asked").read_text()
    again = [*NEW, "--alias", "tone", "--yes", "--quiet", "--replay", "../calls.jsonl"]
    other = project / "other"
    other.mkdir()
    for name in ("tone.yaml", "draft.md"):
        (other / name).write_text((project / name).read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(other)
        assert main([*again, "--evaluator", evaluator]) == 0
    replayed = json.loads((other / ".ai-factory/evolution/tone/run.json").read_text())
    assert (project / "asked").read_text() == asked
    assert replayed["spend"]["calls"] == first["spend"]["calls"] == 4
    assert replayed["evaluation"]["score_exact"] == first["evaluation"]["score_exact"]
    assert "not used" not in capsys.readouterr().err


def test_a_recording_has_each_question_to_the_judge(project: Path) -> None:
    main([*BEGIN, "--record", "calls.jsonl"])
    lines = [json.loads(line) for line in (project / "calls.jsonl").read_text().splitlines()]
    votes = [line for line in lines if line.get("step") == "EVALUATE"]
    assert [(one["iteration"], one["try"]) for one in votes] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert "Case number" in votes[0]["prompt"]


def test_who_rewrites_the_judge_ends_the_loop(project: Path) -> None:
    rewritten = f"open({str(project / 'judge.py')!r}, 'w').write('print(1)')\nverdict ="
    configured(project, PAID.replace("verdict =", rewritten), **TABLE)
    assert main(BEGIN) == 9
    stop = run_json(project)["stop"]
    assert (stop["reason"], stop["passed"]) == ("phase_error", False)
    assert "modified during EVALUATE: judge.py was changed" in stop["detail"]


def test_a_rule_that_prepare_gave_no_check_is_judged(project: Path, events: Events) -> None:
    (project / "tone.yaml").write_text(
        "name: tone\nrules:\n  - {id: a.tone.polite, description: It is polite, severity: fail,"
        " check: The text thanks the reader.}\n"
    )
    (project / "draft.md").write_text("A polite text.\n")
    assert main(BEGIN) == 0
    assert run_json(project)["evaluation"]["judged"] == 1


def test_a_judge_hears_nothing_of_plan_or_critique(project: Path) -> None:
    configured(project, 'open("prompts", "a").write(prompt)\n' + PAID, **TABLE)
    main(BEGIN)
    told = (project / "prompts").read_text()
    assert "Check the result against" not in told
    assert "thank the reader" not in told
    assert program(project, "pass")
