"""Changes outside the critique in whole loops: told, taken back, or not looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.reports.iteration import block
from pytest_reflex.reports.lines import plain
from tests.drivers.reflex.stage import Script, Stage, history_of, issues

CRITERIA = """\
name: manual
rules:
  - {id: a.x.run, description: Usage says run, severity: fail,
     check: {type: content, search: "run", section: Usage}}
"""
BAD = "# Tool\n\nIntro.\n\n## Usage\n\nx\n\n## Limits\n\nMany.\n"
GOOD = BAD.replace("x\n", "run\n")
GREEDY = GOOD.replace("Many.", "None at all.").replace("Intro.\n\n", "") + "\n## Praise\n\n!\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, CRITERIA)


def _same(request: StepRequest) -> str:
    return request.artifact or ""


def _play(stage: Stage, refine: str, produce: Any = None, guard: str | None = None) -> list[Event]:
    script = Script(produce=[BAD, produce or _same], refine=refine)
    return stage.play(script, {"loop.guard": guard, "loop.max_iterations": 2})


def _found(events: list[Event], kind: EventKind) -> dict[str, Any]:
    keys = ("scope", "outside", "reverted", "unguarded")
    payload = [e.payload for e in events if e.kind is kind][-1]
    return {key: payload[key] for key in keys if key in payload}


def test_a_refine_that_keeps_to_the_critique_has_nothing_outside(stage: Stage) -> None:
    events = _play(stage, GOOD)
    expected = {"scope": {"named": ["Usage"]}, "outside": []}
    assert _found(events, EventKind.REFINEMENT_DONE) == expected


def test_what_lies_outside_is_recorded_and_kept(stage: Stage) -> None:
    events = _play(stage, GREEDY)
    assert _found(events, EventKind.REFINEMENT_DONE)["outside"] == ["Praise", "Tool", "Limits"]
    assert stage.artifact() == GREEDY


def test_strict_takes_it_back_to_the_byte(stage: Stage) -> None:
    events = _play(stage, GREEDY, guard="strict")
    assert _found(events, EventKind.REFINEMENT_DONE)["reverted"] == ["Praise", "Tool", "Limits"]
    assert stage.artifact() == GOOD


def test_a_later_produce_is_held_to_the_last_critique_too(stage: Stage) -> None:
    events = _play(stage, GOOD, produce=GREEDY, guard="strict")
    assert _found(events, EventKind.ARTIFACT_CREATED)["reverted"] == ["Praise", "Tool", "Limits"]
    assert stage.artifact() == GOOD


def test_the_first_produce_is_free(stage: Stage) -> None:
    events = stage.play(Script(produce=GOOD))
    assert _found(events, EventKind.ARTIFACT_CREATED) == {}


def test_off_looks_at_nothing(stage: Stage) -> None:
    assert _found(_play(stage, GREEDY, guard="off"), EventKind.REFINEMENT_DONE) == {}


def test_the_guard_of_a_run_is_recorded(stage: Stage) -> None:
    _play(stage, GOOD, guard="strict")
    assert stage.run_json()["setup"]["guard"] == "strict"


def test_an_issue_that_names_nothing_opens_the_text(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path, CRITERIA.replace("Usage says", "It says").replace(", section: Usage", "")
    )
    events = _play(stage, GREEDY, guard="strict")
    expected = {"scope": {"whole": ["a.x.run"]}, "outside": []}
    assert _found(events, EventKind.REFINEMENT_DONE) == expected


def test_strict_says_where_it_cannot_guard(tmp_path: Path) -> None:
    stage = Stage(tmp_path, CRITERIA.replace(", section: Usage", ""))
    script = Script(produce=["x\n", _same], refine="run\n")
    events = stage.play(script, {"loop.guard": "strict"})
    found = _found(events, EventKind.REFINEMENT_DONE)
    assert found["unguarded"] == "its parts have no distinct names"
    assert stage.artifact() == "run\n"


BLOCKS = {
    "report": "Outside: Praise, Tool, Limits (changed although the critique did not name it)",
    "strict": "Reverted: Praise, Tool, Limits (the critique did not name it)",
}


@pytest.mark.parametrize("guard", BLOCKS)
def test_the_block_of_the_next_evaluation_tells_it(stage: Stage, guard: str) -> None:
    script = Script(produce=[BAD, _same], refine=GREEDY)
    with stage.begin(script, {"loop.guard": guard}) as loop:
        kinds = [(event.kind, loop.state) for event in history_of(loop)]
    state = [state for kind, state in kinds if kind is EventKind.EVALUATION_DONE][-1]
    assert state.evaluation
    lines = plain(block(state, state.evaluation, "a")).splitlines()
    assert lines[6:] == ["Artifact: a", "Changes: fixed a.x.run", BLOCKS[guard]]


def test_flips_are_in_the_event(stage: Stage) -> None:
    events = _play(stage, GOOD)
    judged = [e.payload.get("flips") for e in events if e.kind is EventKind.EVALUATION_DONE]
    assert judged == [None, {"fixed": ["a.x.run"], "broken": [], "still_failing": []}]


def test_a_fix_is_never_outside(tmp_path: Path) -> None:
    fix = "    fix: {insert_section: {heading: '## Licence', text: MIT}}\n"
    criteria = (
        "name: m\nrules:\n  - id: a.x.mit\n    description: It is free\n    severity: fail\n"
        f"    check: {{type: content, search: MIT}}\n{fix}"
    )
    script = Script(produce=[BAD, _same], critique=issues("a.x.mit"))
    events = Stage(tmp_path, criteria).play(script)
    assert _found(events, EventKind.REFINEMENT_DONE)["outside"] == []
