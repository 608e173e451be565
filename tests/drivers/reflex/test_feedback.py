"""A person's critique joins the next CRITIQUE and the REFINE after it, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.drivers.reflex import stop_request
from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.errors import UsageError
from pytest_reflex.model.events import Event
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.stage import Script, Stage, history_of, story

BAD, GOOD = "x\n", "alpha beta gamma\n"
SAID = "Shorter, please.\nAnd no adverbs."


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def tell(stage: Stage, text: str = SAID) -> stop_request.StopResponse:
    return stop_request.give_feedback(find_run(stage.root, "words"), text, wait=0)


def leave_after(stage: Stage, kind: str, script: Script | None = None) -> None:
    with stage.begin(script or Script(produce=BAD, refine=BAD)) as loop:
        for event in history_of(loop):
            if event.kind == kind:
                return


def finish(stage: Stage, script: Script) -> list[Event]:
    with stage.resume(script) as loop:
        return list(history_of(loop))


def heard(script: Script) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for request in script.requests:
        found.setdefault(request.step.value, []).append(request.feedback)
    return found


def test_it_is_given_to_one_critique_and_one_refine(stage: Stage) -> None:
    leave_after(stage, "evaluation_done")
    assert tell(stage).done
    events = finish(stage, script := Script(produce=BAD, refine=[BAD, GOOD]))
    found = heard(script)
    assert found["CRITIQUE"] == [(SAID,), ()]
    assert found["REFINE"] == [(SAID,), ()]
    assert [e.payload.get("feedback") for e in events if e.kind == "critique_done"] == [
        [SAID],
        None,
    ]


def test_a_driver_takes_it_up_before_its_next_step(stage: Stage) -> None:
    with stage.begin(script := Script(produce=BAD, refine=GOOD)) as loop:
        events = history_of(loop)
        next(events)
        assert not tell(stage).done
        kinds = story(list(events))
    assert kinds[0] == "feedback_given"
    assert heard(script)["CRITIQUE"][0] == (SAID,)


def test_it_is_taken_up_once_where_the_driver_is_killed_in_between(stage: Stage) -> None:
    leave_after(stage, "run_started")
    current = stage.root / "current.json"
    with stage.resume(Script(produce=BAD)) as loop:
        tell(stage)
        asked = current.read_bytes()
        next(history_of(loop))  # durable, and taken off current.json
    current.write_bytes(asked)
    events = finish(stage, Script(produce=BAD, refine=GOOD))
    assert "feedback_given" not in story(events)


def test_what_comes_after_a_critique_waits_for_the_next(stage: Stage) -> None:
    leave_after(stage, "critique_done")
    tell(stage)
    finish(stage, script := Script(produce=BAD, refine=[BAD, GOOD]))
    assert heard(script) == {
        "REFINE": [(), (SAID,)], "PLAN": [(), ()], "PRODUCE": [(), ()], "CRITIQUE": [(SAID,)],
    }  # fmt: skip


def test_a_critique_that_a_change_by_hand_overtook_gives_it_back(stage: Stage) -> None:
    leave_after(stage, "evaluation_done")
    tell(stage)
    with stage.resume(Script(produce=BAD)) as loop:
        assert next(history_of(loop)).kind == "critique_done"
    (stage.root / "words/artifact.md").write_text("y\n")
    finish(stage, script := Script(produce=BAD, refine=GOOD))
    assert heard(script)["CRITIQUE"] == [(SAID,)]


FIXABLE = """\
name: fixable
rules:
  - id: a.x.alpha
    description: says alpha
    severity: fail
    check: {type: content, search: alpha}
    fix: {append: {text: alpha}}
"""


def test_the_agent_is_asked_though_fixes_mend_every_rule(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIXABLE)
    leave_after(stage, "evaluation_done", Script(produce=BAD))
    tell(stage)
    finish(stage, script := Script(produce="alpha\n", refine="alpha, briefly\n"))
    assert heard(script)["REFINE"] == [(SAID,)]
    assert script.requests[-3].artifact == "x\nalpha\n"


@pytest.mark.parametrize("step", ["CRITIQUE", "REFINE"])
def test_prompts_show_it_as_a_section_of_its_own(step: str, stage: Stage) -> None:
    leave_after(stage, "evaluation_done")
    tell(stage)
    finish(stage, script := Script(produce=BAD, refine=GOOD))
    request: StepRequest = next(r for r in script.requests if r.step == step)
    title = "## What the person who runs this loop says of the artifact"
    assert f"{title}\n\n{SAID}\n" in prompt_for(request)


def test_a_run_that_stopped_keeps_it_for_its_extension(stage: Stage) -> None:
    stage.play(Script(produce=BAD, refine=BAD), {"loop.max_iterations": 1})
    assert tell(stage).done
    wire: dict[str, Any] = stage.run_json()
    assert (wire["status"], wire["feedback"]["waiting"]) == ("stopped", [SAID])


def test_a_run_that_completed_cannot_use_it(stage: Stage) -> None:
    stage.play(Script(produce=GOOD))
    with pytest.raises(UsageError, match=r"'words' has ended \(threshold_reached\)"):
        tell(stage)
