"""Loops over rules with conditions: critique, state, resuming and verifying."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.agents.prompts import prompt_parts
from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.history import read_events
from pytest_reflex.model.run import RunState
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.reports.dry_run import _conditions
from pytest_reflex.reports.iteration import block, distance
from tests.drivers.reflex.stage import Script, Stage, history_of, story

CRITERIA = """\
name: words
version: 1
phases: {A: {threshold: 0.8}, B: {threshold: 0.9}}
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - id: a.x.beta
    description: says beta beside delta
    severity: fail
    when: {search: delta}
    check: {type: content, search: beta}
  - id: b.x.gamma
    description: says gamma beside beta
    severity: warn
    weight: 5
    when: [{search: beta}, {not: {file: "*.json"}}]
    check: {type: content, search: gamma}
"""


def state_of(stage: Stage) -> RunState:
    path = stage.root / "words" / "history.jsonl"
    return read_events(path, map(json.loads, path.read_text("utf-8").splitlines()))[1]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, CRITERIA)


def test_what_does_not_apply_is_no_finding_and_out_of_the_way(stage: Stage) -> None:
    script = Script(produce="delta\n", refine="alpha\n")
    events = stage.play(script, {"loop.produce": "first"})
    (critique,) = [one for one in script.requests if one.step.value == "CRITIQUE"]
    assert critique.evaluation is not None
    assert [row.rule.id for row in critique.evaluation.findings] == ["a.x.alpha", "a.x.beta"]
    assert stage.run_json()["stop"]["passed"] is True
    last = stage.run_json()["evaluation"]
    rows = {row["id"]: row["outcome"] for row in last["rule_results"]}
    assert rows == {
        "a.x.alpha": "pass",
        "a.x.beta": "not_applicable",
        "b.x.gamma": "not_applicable",
    }
    assert (last["score_exact"], last["not_applicable"]) == ("1/1", 2)
    flips = [one.payload["flips"] for one in events if one.payload.get("flips")]
    assert flips[0] == {"fixed": ["a.x.alpha"], "broken": [], "still_failing": []}


def test_a_loop_in_which_no_rule_applies_does_not_pass(tmp_path: Path) -> None:
    text = CRITERIA.replace("severity: fail, check", "severity: fail, when: {search: x}, check")
    stage = Stage(tmp_path, text)
    stage.play(Script(produce="nothing\n", refine="nothing yet\n"), {"loop.max_iterations": 2})
    found = stage.run_json()
    assert (found["stop"]["passed"], found["evaluation"]["passed"]) == (False, False)
    assert found["stop"]["reason"] in ("iteration_limit", "stagnation")
    assert found["evaluation"]["unsound"] == "no rule that can fail the gate is applicable"
    state = state_of(stage)
    assert state.evaluation is not None
    told = [*block(state, state.evaluation, "artifact.md"), *distance(state.evaluation)]
    lines = ["".join(text for text, _ in line) for line in told]
    assert "Unsound: no rule that can fail the gate is applicable" in lines
    assert lines[-1] == "  unsound: no rule that can fail the gate is applicable"


def test_a_run_is_resumed_and_verified_with_its_conditions(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(produce="delta\n", refine="alpha\n")
    with stage.begin(script, {"loop.produce": "first"}) as loop:
        for event in history_of(loop):
            if event.kind.value == "evaluation_done":
                break
    state = state_of(stage)
    assert [len(rule.when) for rule in state.criteria.rules] == [0, 1, 2]
    assert state.evaluation is not None
    with stage.resume(script) as loop:
        assert story(list(history_of(loop)))[-1] == "stopped"
    assert stage.run_json()["stop"]["reason"] == "threshold_reached"
    state = state_of(stage)
    assert [row.rule.id for row in state.evaluation.not_applicable] == ["a.x.beta", "b.x.gamma"]  # type: ignore[union-attr]
    monkeypatch.chdir(stage.project)
    assert main(["loop", "verify", "words"]) == 0
    assert "The recorded verdict holds: passed" in capsys.readouterr().out


def _prompt(request: StepRequest) -> str:
    return "\n\n".join(part.text for part in prompt_parts(request))


def test_prompts_say_when_a_rule_counts(stage: Stage) -> None:
    script = Script(produce="delta\n", refine=["beta\n", "alpha\n"])
    stage.play(script, {"loop.produce": "first"})
    plan, _, later = [_prompt(one) for one in script.requests if one.step.value == "PLAN"]
    assert "  Only when: search delta\n" in plan
    assert "These do not apply to it as it is (see `Only when`), and so do not count:\n- " in later
    critique = [_prompt(one) for one in script.requests if one.step.value == "CRITIQUE"][1]
    assert '"rule_id": "a.x.beta"' not in critique


def test_the_block_of_an_iteration_names_them(stage: Stage) -> None:
    stage.play(Script(produce="alpha\n"))
    state = state_of(stage)
    assert state.evaluation is not None
    lines = ["".join(text for text, _ in line) for line in block(state, state.evaluation, "a.md")]
    assert "Not applicable: a.x.beta, b.x.gamma" in lines
    assert "Failed: none" in lines
    told = ["".join(text for text, _ in line) for line in distance(state.evaluation)]
    assert "  rules passed: 1/1" in told


def test_a_dry_run_says_it(stage: Stage) -> None:
    stage.play(Script(produce="alpha\n"))
    rules = state_of(stage).criteria.rules
    assert _conditions(rules) == [
        "a.x.beta: only when search delta",
        "b.x.gamma: only when search beta; and not file *.json",
    ]
