"""What a step is told holds nothing of the clock and nothing of the machine."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.agents.prompts import prompt_for
from tests.drivers.reflex.stage import Script, Stage


def test_a_plan_is_told_events_without_the_clock_and_the_machine(tmp_path: Path) -> None:
    stage, script = Stage(tmp_path), Script(produce="alpha beta gamma\n")
    stage.play(script, draft=stage.criteria)
    first = script.requests[0]
    assert [event["event"] for event in first.history] == ["run_started"]
    assert "ts" not in first.history[0]
    assert str(tmp_path) not in prompt_for(first)


def test_the_same_loop_in_another_folder_asks_the_same(tmp_path: Path) -> None:
    asked = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        stage, script = Stage(tmp_path / name), Script(produce="x\n", refine="alpha beta gamma\n")
        stage.play(script, sequential=True)
        asked.append([prompt_for(r).replace(r.run_id, "RUN") for r in script.requests])
    assert asked[0] == asked[1]
