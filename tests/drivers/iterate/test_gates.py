"""Quality gates: commands and criteria after an iteration, and what is a pass of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.gates import Gates
from pytest_reflex.drivers.iterate.model import GateResult, IterationGate
from pytest_reflex.errors import CriteriaError
from pytest_reflex.host import open_host
from tests.process.zoo import gone_within, marked

CRITERIA = """\
name: words
version: 1
phases: {A: {threshold: 0.5}, B: {threshold: 0.9}}
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
"""


def gates(project: Path, *given: IterationGate) -> Gates:
    return Gates(given, project=project, registry=open_host().registry)


def tried(project: Path, **fields: Any) -> GateResult:
    """Return what one gate comes to, called `it`."""
    (result,) = gates(project, IterationGate(name="it", **fields)).run(1)
    return result


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "good.md").write_text("alpha beta\n")
    (tmp_path / "weak.md").write_text("alpha\n")
    (tmp_path / "bad.md").write_text("nothing\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "outcome", "summary"),
    [
        ("exit 0", "pass", "exit status 0"),
        ("exit 3", "fail", "exit status 3"),
        (("sh", "-c", "exit 1"), "fail", "exit status 1"),
        ("no-such-program", "error", "exit status 127: a command was not found"),
        (("./no-such-program",), "error", "it was not found"),
        ("kill -9 $$", "error", "it was ended by SIGKILL"),
        ("sh -c 'kill -9 $$'; exit $?", "error", "exit status 137"),
    ],
)
def test_a_command_passes_by_exit_status_0_alone(
    project: Path, command: Any, outcome: str, summary: str
) -> None:
    result = tried(project, command=command)
    assert (result.outcome, result.passed) == (outcome, outcome == "pass")
    assert summary in result.summary


def test_a_command_runs_in_the_project_and_knows_the_round(project: Path) -> None:
    command = 'test "$PWD" = "$1" && test "$PYTEST_REFLEX_ITERATION" = 7'
    gate = IterationGate(name="it", command=("sh", "-c", command, "sh", str(project)))
    assert gates(project, gate).run(7)[0].passed


def test_b106_the_last_lines_of_a_command_that_ran_too_long_are_kept(project: Path) -> None:
    result = tried(project, command="echo step1; sleep 60", timeout=2)
    assert result.outcome == "error"
    assert "it ran longer than 2 s and was stopped" in result.summary
    assert result.output == "step1"


def test_b099_what_a_command_left_behind_is_gone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with marked() as (environment, living):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert tried(project, command="sleep 60 & exit 0").passed
        assert gone_within(60, living)


def test_the_last_line_of_a_command_that_failed_says_why(project: Path) -> None:
    result = tried(project, command="echo running; echo '2 tests fail'; echo; exit 1")
    assert (result.summary, result.output) == (
        "exit status 1: 2 tests fail", "running\n2 tests fail",
    )  # fmt: skip


def test_a_flood_of_output_is_cut_to_its_end(project: Path) -> None:
    result = tried(project, command="yes | head -c 3000000; echo last; exit 1")
    assert (result.outcome, result.output.endswith("y\nlast")) == ("fail", True)
    assert len(result.output) < 500


def test_foreign_output_is_made_visible(project: Path) -> None:
    result = tried(project, command="printf 'a\\033[2Jb\\377'; exit 1")
    assert result.output == "a\\x1b[2Jb\\xff"


@pytest.mark.parametrize(
    ("fields", "outcome", "summary"),
    [
        ({"artifacts": ("good.md",)}, "pass", "score 1.000, needs 0.9"),
        ({"artifacts": ("weak.md",)}, "fail", "weak.md: score 0.666 is below 0.9"),
        ({"artifacts": ("bad.md",)}, "fail", "failed rules: a.x.alpha"),
        ({"artifacts": ("weak.md",), "phase": "A"}, "pass", "score 1.000, needs 0.5"),
        ({"artifacts": ("weak.md",), "threshold": "0.6"}, "pass", "score 0.666, needs 0.6"),
        ({"artifacts": ("*.md",)}, "fail", "bad.md: failed rules: a.x.alpha"),
        ({"artifacts": ("[gw]*.md",), "threshold": "1/2"}, "error", "not a number"),
        ({"artifacts": ("none/*.md",)}, "error", "'none/*.md' matches no artifact in"),
    ],
)
def test_criteria_are_a_gate_that_the_score_decides(
    project: Path, fields: dict[str, Any], outcome: str, summary: str
) -> None:
    if outcome == "error" and "threshold" in fields:
        with pytest.raises(CriteriaError, match=summary):
            tried(project, criteria="words.yaml", **fields)
        return
    result = tried(project, criteria="words.yaml", **fields)
    assert (result.outcome, summary in result.summary) == (outcome, True)


def test_criteria_over_several_artifacts_tell_the_weakest(project: Path) -> None:
    result = tried(project, criteria="words.yaml", artifacts=("[gw]*.md",), threshold="0.5")
    assert result.summary == "all 2 artifacts, weak.md with score 0.666, needs 0.5"
    assert "ARTIFACT    good.md" in result.output


def test_a_stock_template_is_a_gate_by_its_name(project: Path) -> None:
    assert tried(project, criteria="base", artifacts=("good.md",)).passed


def test_a_suite_is_a_gate_with_its_own_artifacts(project: Path) -> None:
    suite = "criteria: words.yaml\nartifacts: ['*d.md']\nphase: B\n"
    (project / "docs.reflex.yaml").write_text(suite)
    assert tried(project, criteria="docs.reflex.yaml").summary.startswith("bad.md: failed rules: ")
    (project / "bad.md").unlink()
    assert tried(project, criteria="docs.reflex.yaml").passed


def test_an_artifact_that_a_round_made_is_found(project: Path) -> None:
    both = gates(project, IterationGate(name="it", criteria="words.yaml", artifacts=("new.md",)))
    assert both.run(1)[0].outcome == "error"
    (project / "new.md").write_text("alpha beta\n")
    assert both.run(2)[0].passed


def test_a_check_that_could_not_be_judged_is_no_pass(project: Path) -> None:
    text = CRITERIA.replace("{type: content, search: alpha}", "{type: executable, command: nope}")
    (project / "words.yaml").write_text(text)
    assert not tried(project, criteria="words.yaml", artifacts=("good.md",)).passed


def test_criteria_of_which_nothing_is_measured_are_no_pass(project: Path) -> None:
    text = "name: p\nversion: 1\nrules:\n  - {id: a.x.y, description: nice, severity: fail}\n"
    (project / "prose.yaml").write_text(text)
    result = tried(project, criteria="prose.yaml", artifacts=("good.md",))
    assert (result.outcome, result.summary) == ("error", "nothing was measured")


def test_criteria_that_were_changed_in_a_round_judge_nothing_any_more(project: Path) -> None:
    gate = gates(project, IterationGate(name="it", criteria="words.yaml", artifacts=("bad.md",)))
    (project / "words.yaml").write_text(CRITERIA.replace("alpha}", "nothing}"))
    (result,) = gate.run(1)
    assert result.outcome == "fail"
    assert result.summary == "modified during the run: words.yaml"


def test_all_gates_run_in_their_order_and_are_told_one_by_one(project: Path) -> None:
    names: list[str] = []
    both = gates(
        project,
        IterationGate(name="first", command="exit 1"),
        IterationGate(name="second", command="exit 0"),
        IterationGate(name="third", command="exit 1", required=False),
    )
    results = both.run(1, on_result=lambda result: names.append(result.gate.name))
    assert names == ["first", "second", "third"]
    assert [result.passed for result in results] == [False, True, False]


def test_a_run_that_is_stopped_tries_no_further_gate(project: Path) -> None:
    cancel = Event()
    cancel.set()
    (result,) = gates(project, IterationGate(name="it", command="touch ran")).run(1, cancel=cancel)
    assert result.summary == "it was not tried: the run was stopped"
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "it needs a command, criteria, or limits to what an iteration changes"),
        (
            {"command": "true", "criteria": "base"},
            "it needs a command, criteria, or limits to what an iteration changes",
        ),
        ({"command": ""}, "its command is empty"),
        ({"criteria": "base"}, "its criteria have nothing to check"),
        ({"criteria": "nope.yaml", "artifacts": ("a",)}, "nope.yaml"),
        ({"criteria": "base", "artifacts": ("a",), "phase": "C"}, "there is no phase 'C'"),
        ({"criteria": "base", "artifacts": ("a",), "threshold": "x"}, "threshold 'x'"),
        ({"criteria": "open.yaml", "artifacts": ("a",), "threshold": "0"}, "threshold"),
        ({"criteria": "pattern.yaml", "artifacts": ("a",)}, "pattern"),
    ],
)
def test_a_gate_that_cannot_open_is_refused_before_the_first_round(
    project: Path, fields: dict[str, Any], message: str
) -> None:
    rule = "{id: a.x.y, description: d, severity: warn, check: {type: content, search: '%s'}}"
    for name, search in (("open", "x"), ("pattern", "(")):
        text = f"name: {name}\nversion: 1\nrules:\n  - {rule % search}\n"
        (project / f"{name}.yaml").write_text(text)
    with pytest.raises(CriteriaError) as refused:
        gates(
            project,
            IterationGate(name="sound", command="true"),
            IterationGate(name="docs", **fields),
        )
    assert message in str(refused.value)
    assert "quality gate 'docs': " in str(refused.value)


JURY = 'judge = "jury"\n'
JUDGE = """\
import json, re, sys
prompt = sys.stdin.read()
case = re.search(r"Case number: (\\w+)", prompt)[1]
verdict = "pass" if "alpha beta" in prompt.split(f"BEGIN {case} -----")[1] else "fail"
print(json.dumps({"case": case, "reasons": ["line 1"], "verdict": verdict}))
"""


@pytest.mark.parametrize(
    ("judge", "artifact", "status"), [(JURY, "good", 0), (JURY, "bad", 6), ("", "good", 6)]
)
def test_a_rule_for_a_judge_is_asked_of_the_one_that_is_configured(
    project: Path, monkeypatch: pytest.MonkeyPatch, judge: str, artifact: str, status: int
) -> None:
    monkeypatch.chdir(project)
    with_judge(project, judge, artifact)
    assert main(["iterate", "run", "build", "-n", "1", "--ai-cmd", "echo done"]) == status


@pytest.mark.long
@pytest.mark.parametrize(("judge", "artifact", "status"), [("", "good", 0), ("", "bad", 6)])
def test_a_judge_can_be_named_for_one_run_and_is_kept_for_its_resume(
    project: Path, monkeypatch: pytest.MonkeyPatch, judge: str, artifact: str, status: int
) -> None:
    monkeypatch.chdir(project)
    with_judge(project, judge, artifact)
    command = ["iterate", "run", "build", "-n", "2", "--ai-cmd", "echo done", "--judge", "jury"]
    assert main([*command, "--budget", "calls=1"]) == 8
    assert main(["iterate", "resume", "build", "--budget", "calls=+9"]) == status


def test_a_judge_that_there_is_not_is_refused_before_the_first_iteration(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    command = ["iterate", "run", "build", "-n", "1", "--ai-cmd", "touch ran"]
    assert main([*command, "--judge", "nobody-such"]) == 4
    assert "no agent named 'nobody-such'" in capsys.readouterr().err
    assert not (project / "ran").exists()


@pytest.mark.long
@pytest.mark.parametrize(("calls", "iterations"), [(2, 1), (3, 2), (4, 2)])
def test_what_a_judge_of_a_gate_costs_counts_towards_the_budget(
    project: Path, monkeypatch: pytest.MonkeyPatch, calls: int, iterations: int
) -> None:
    monkeypatch.chdir(project)
    with_judge(project, JURY, "good")
    writes = "sh -c 'echo more >> good.md; echo done'"  # of the same text no vote is bought again
    command = ["iterate", "run", "build", "-n", "5", "--ai-cmd", writes]
    assert main([*command, "--budget", f"calls={calls}"]) == 8
    state = json.loads((project / ".rooda" / "state" / "build.json").read_text())
    assert (state["iteration"], state["spend"]["calls"]) == (iterations, 2 * iterations)


def with_judge(project: Path, judge: str, artifact: str) -> None:
    """Write a gate whose rule is judged, and who judges."""
    (project / "judge.py").write_text(JUDGE)
    check = "{type: judged, rubric: 'Pass: it says both. Fail: it does not.'}"
    rule = f"{{id: a.x.y, description: says both, severity: fail, check: {check}}}"
    (project / "tone.yaml").write_text(f"name: tone\nrules:\n  - {rule}\n")
    (project / "pytest-reflex.toml").write_text(
        f'{judge}[agents.jury]\ncommand = ["{sys.executable}", "judge.py"]\n'
        f'[iterate.gates.tone]\ncriteria = "tone.yaml"\nartifacts = ["{artifact}.md"]\n'
    )


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("nosuchtool", "-q"), "there is no program 'nosuchtool'"),
        (("",), "its command is empty"),
        (("  ", "x"), "its command is empty"),
        ("", "its command is empty"),
        (" \n", "its command is empty"),
    ],
)
def test_a_command_that_cannot_start_is_refused_before_the_first_round(
    project: Path, command: str | tuple[str, ...], why: str
) -> None:
    with pytest.raises(CriteriaError, match=f"quality gate 'it': {why}"):
        gates(project, IterationGate(name="it", command=command))


def test_a_program_of_the_project_may_be_made_by_a_round(project: Path) -> None:
    one = gates(project, IterationGate(name="it", command=("./made",)))
    (project / "made").write_text("#!/bin/sh\nexit 0\n")
    (project / "made").chmod(0o755)
    assert one.run(1)[0].passed


def test_b099_a_gate_that_leaves_children_passes_and_is_told(project: Path) -> None:
    found = tried(project, command="sleep 69 & exit 0")
    assert (found.outcome, found.left_children) == ("pass", True)
    assert found.summary.startswith("exit status 0; left children: ")
