"""Cases from the field: what agents print, and what a loop makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.model.enums import Step
from tests.agents.making import request, rule, tool
from tests.drivers.reflex.stage import PLAN, Script, Stage, critique_all

GOOD = "alpha beta gamma\n"
STATUS = "not yet\n---LOOP_STATUS---\nEXIT_SIGNAL: true\n---END---\n"
BRACES = json.dumps({"plan": ["check if (user) {", "two", "three"]})
STEADY = """\
name: steady
phases: {A: {threshold: 0.95}}
rules:
  - {id: a.x.most, description: d, severity: warn, weight: 40, check: {type: content, search: one}}
  - {id: a.x.next, description: d, severity: warn, weight: 1, check: {type: content, search: two}}
  - {id: a.x.rest, description: d, severity: warn, weight: 9, check: {type: content, search: six}}
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_b022_a_gain_of_exactly_two_hundredths_is_no_stagnation(tmp_path: Path) -> None:
    stage = Stage(tmp_path, STEADY)
    script = Script(produce=lambda r: r.artifact or "one\n", refine="one two\n")
    stage.play(script, {"loop.max_iterations": 6})
    scores = [line["payload"] for line in history(stage) if line["event"] == "evaluation_done"]
    exact = [payload["evaluation"]["score_exact"] for payload in scores]
    assert exact == ["4/5", "41/50", "41/50", "41/50"]
    assert stage.run_json()["stop"]["reason"] == "stagnation"


def test_b065_answers_in_a_fence_drive_a_loop(stage: Stage) -> None:
    script = Script(
        plan=f"```json\n{PLAN}\n```",
        produce=["```markdown\nnothing\n```", lambda r: r.artifact or ""],
        critique=lambda r: f"```\n{critique_all(r)}\n```",
        refine=f"```\n{GOOD}```\n",
    )
    stage.play(script)
    assert stage.run_json()["stop"] == {"passed": True, "reason": "threshold_reached"}
    assert stage.artifact() == GOOD


def test_b067_a_brace_in_a_string_does_not_hide_the_object(stage: Stage) -> None:
    stage.play(Script(plan=f"Here it is:\n{BRACES}\nAs you asked.", produce=GOOD))
    assert stage.run_json()["plan"][0] == "check if (user) {"


def test_b070_a_status_block_in_a_json_field_is_decoded(tmp_path: Path) -> None:
    program = f"import json; print(json.dumps({{'result': {STATUS!r}}}))"
    reply = tool(tmp_path, program, answer="json:result").respond(
        request(Step.REFINE, rule("a.x.y"), artifact="x")
    )
    assert (reply.text, reply.error) == (STATUS, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [(STATUS, "iteration_limit"), (GOOD + STATUS, "threshold_reached")],
    ids=["rules fail", "rules pass"],
)
def test_b070_a_signal_ends_a_loop_only_where_the_checks_agree(
    stage: Stage, text: str, reason: str
) -> None:
    stage.play(Script(produce=text, refine=text), {"loop.max_iterations": 2})
    assert stage.run_json()["stop"]["reason"] == reason


def test_b072_eight_valid_answers_are_eight_iterations(stage: Stage) -> None:
    texts = [f"draft {number}\n" for number in range(20)]
    script = Script(produce=texts[0::2], refine=texts[1::2])
    stage.play(script, {"loop.max_iterations": 8, "loop.blocker_stagnation": 0})
    run = stage.run_json()
    assert (run["iteration"], run["stop"]["reason"]) == (8, "iteration_limit")


def history(stage: Stage) -> list[dict[str, dict[str, dict[str, str]]]]:
    """Return the events of the run on the stage, as they are on the disk."""
    lines = (stage.root / "words/history.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]
