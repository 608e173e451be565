"""What PREPARE is asked again, and what a bad answer of it costs: a rule, and never a whole run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.offline import OfflineAgent
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.agents.router import AgentRouter
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import Reply, StepRequest
from tests.drivers.reflex.stage import Script, Stage, history_of

pytestmark = pytest.mark.variants

CRITERIA = """\
name: moods
phases: {A: {threshold: 0.5}}
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: a.x.mood, description: is merry, severity: SEVERITY, check: The mood is merry}
  - {id: a.x.tone, description: is friendly, severity: warn, check: The tone is friendly}
"""
TEXT = "# Moods\n\nalpha, merry and friendly\n"
MOOD = {"rule_id": "a.x.mood", "type": "content", "search": "merry"}
TONE = {"rule_id": "a.x.tone", "type": "content", "search": "friendly"}


def checks(*given: Any) -> str:
    return json.dumps({"checks": given})


def play(folder: Path, *answers: Any, severity: str = "warn", **lines: Any) -> tuple[Script, Stage]:
    stage = Stage(folder, CRITERIA.replace("SEVERITY", severity))
    script = Script(produce=TEXT, refine=TEXT, prepare=list(answers), **lines)
    stage.play(script, {"loop.max_iterations": 1})
    return script, stage


def outcomes(stage: Stage) -> dict[str, str]:
    rows = stage.run_json()["evaluation"]["rule_results"]
    return {row["id"]: row["outcome"] for row in rows}


def asked(script: Script) -> list[StepRequest]:
    return [request for request in script.requests if request.step is Step.PREPARE]


LACKING = {
    "one of two": (checks(MOOD), "a.x.tone"),
    "the other": (checks(TONE), "a.x.mood"),
    "none": (checks(), "a.x.mood, a.x.tone"),
    "none, in a fence": (f"Sure:\n```json\n{checks()}\n```\n", "a.x.mood, a.x.tone"),
}


@pytest.mark.parametrize(("answer", "named"), LACKING.values(), ids=LACKING)
def test_a_rule_without_a_check_is_asked_for_once_more_by_its_name(
    tmp_path: Path, answer: str, named: str
) -> None:
    script, stage = play(tmp_path, answer, checks(MOOD, TONE))
    first, second = asked(script)
    assert first.refusal == ""
    prompt = prompt_for(second)
    assert f"Reason: it gives no check for {named}; every rule needs one or more" in prompt
    assert json.dumps(answer) in prompt
    assert set(outcomes(stage).values()) == {"pass"}


@pytest.mark.parametrize("severity", ["warn", "info", "fail"])
@pytest.mark.parametrize("answer", [checks(), checks(TONE), f"Here: {checks(TONE)}"])
def test_a_rule_that_gets_no_check_twice_is_not_measured(
    tmp_path: Path, severity: str, answer: str
) -> None:
    script, stage = play(tmp_path, answer, severity=severity)
    assert len(asked(script)) == 2
    assert outcomes(stage)["a.x.mood"] == "not_measured"
    assert stage.run_json()["stop"]["reason"] != "phase_error"
    assert stage.run_json()["stop"]["passed"] is (severity != "fail")


BAD: dict[str, Any] = {
    "prose": "The mood is fine, no checks are needed.",
    "another rule": checks({**MOOD, "rule_id": "b.y.z"}),
    "a broken pattern": checks({**MOOD, "search": "("}),
    "a wrong type": checks({**MOOD, "type": "regex"}),
    "a wrong key": checks({**MOOD, "pattern": "merry"}),
    "counts that contradict": checks({**MOOD, "min_count": 3, "max_count": 1}),
    "no object": "[]",
    "a refusal": "I need permission to read the artifact.",
    "nothing": "",
    "a failed tool": Reply(text="", agent="script", error="it left with exit status 1"),
    "a fault of a hook": ValueError("oh"),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_answer_for_warn_rules_ends_no_run(tmp_path: Path, bad: Any) -> None:
    script, stage = play(tmp_path, bad)
    assert len(asked(script)) == 2
    assert outcomes(stage) == {
        "a.x.alpha": "pass", "a.x.mood": "not_measured", "a.x.tone": "not_measured",
    }  # fmt: skip
    assert stage.run_json()["stop"]["reason"] in ("threshold_reached", "iteration_limit")
    (prepared,) = prepared_events(stage)
    assert set(prepared["without_checks"]) == {"a.x.mood", "a.x.tone"}


def prepared_events(stage: Stage) -> list[dict[str, Any]]:
    lines = (stage.root / "words/history.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    return [event["payload"] for event in events if event["event"] == "checks_prepared"]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_answer_for_a_fail_rule_ends_the_run_after_one_retry(
    tmp_path: Path, bad: Any
) -> None:
    script, stage = play(tmp_path, bad, severity="fail")
    assert len(asked(script)) == 2
    assert stage.run_json()["stop"]["reason"] == "phase_error"


@pytest.mark.parametrize(
    "bad",
    [
        {**TONE, "search": "("},
        {**TONE, "type": "regex"},
        {"rule_id": "a.x.unknown", "type": "content", "search": "x"},
    ],
)
def test_a_bad_check_of_a_warn_rule_costs_no_other_rule(tmp_path: Path, bad: Any) -> None:
    _, stage = play(tmp_path, checks(MOOD, bad), severity="fail")
    assert outcomes(stage) == {
        "a.x.alpha": "pass", "a.x.mood": "pass", "a.x.tone": "not_measured",
    }  # fmt: skip
    assert stage.run_json()["stop"]["passed"]


def test_a_rule_is_not_measured_by_the_good_half_of_its_checks(tmp_path: Path) -> None:
    _, stage = play(tmp_path, checks(MOOD, TONE, {**TONE, "search": "("}))
    assert outcomes(stage)["a.x.tone"] == "not_measured"


@pytest.mark.parametrize("second", [checks(TONE), "What else?", checks({**MOOD, "search": "("})])
def test_what_was_good_in_the_first_answer_is_kept(tmp_path: Path, second: str) -> None:
    _, stage = play(tmp_path, checks(MOOD), second, severity="fail")
    assert outcomes(stage)["a.x.mood"] == "pass"


def test_who_is_free_is_not_asked_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path, CRITERIA.replace("SEVERITY", "warn"))
    router = AgentRouter(dict.fromkeys(Step, OfflineAgent()))
    with stage.begin(router, {"loop.max_iterations": 1}) as loop:
        events: list[Event] = list(history_of(loop))
    assert EventKind.PHASE_ERROR not in [event.kind for event in events]
    assert "without_checks" not in prepared_events(stage)[0]


def test_prepare_is_shown_the_artifact_as_it_stood_when_the_iteration_began(
    tmp_path: Path,
) -> None:
    criteria = CRITERIA.replace("SEVERITY", "warn").replace("0.5", "1").replace("alpha}", "omega}")
    seen = {}
    for name, sequential in (("beside", False), ("after", True)):
        (tmp_path / name).mkdir()
        stage = Stage(tmp_path / name, criteria)
        script = Script(
            produce=["# First\n", "# Third\n"], refine="# Second\n", prepare=checks(MOOD, TONE)
        )
        stage.play(script, {"loop.max_iterations": 2}, sequential=sequential)
        seen[name] = [request.artifact for request in asked(script)]
    assert seen["beside"] == seen["after"] == [None, "# Second\n"]


def test_prepare_of_phase_b_is_shown_the_artifact_that_was_evaluated(tmp_path: Path) -> None:
    more = "  - {id: b.x.calm, description: is calm, severity: warn, check: It is calm}\n"
    stage = Stage(tmp_path, CRITERIA.replace("SEVERITY", "warn") + more)
    calm = {"rule_id": "b.x.calm", "type": "content", "search": "calm"}
    script = Script(
        produce=TEXT, refine=TEXT, prepare=[checks(MOOD, TONE), checks(MOOD, TONE, calm)]
    )
    stage.play(script, {"loop.max_iterations": 1})
    first, second = asked(script)
    assert (first.artifact, second.artifact) == (None, TEXT)
    assert TEXT in prompt_for(second)
