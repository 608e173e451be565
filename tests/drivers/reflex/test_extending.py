"""A run that has stopped goes on: which, under which limits, and what counts anew."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.reflex import stop_request
from pytest_reflex.drivers.reflex.decide import Action, decide
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.extend import ExtendRequest, extend_limits, reopen
from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.drivers.reflex.statefile import CALLS, run_json
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import Limits
from pytest_reflex.model.steps import Reply
from pytest_reflex.model.stop import RunStatus
from tests.drivers.reflex.histories import History
from tests.drivers.reflex.stage import PLAN, Script, Stage, history_of, story

BAD, WORSE, GOOD = "alpha\n", "x\n", "alpha beta gamma\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def extend(
    stage: Stage, script: Script, iterations: str | None = None, budget: tuple[str, ...] = ()
) -> AbstractContextManager[ReflexLoop]:
    more = ExtendRequest(max_iterations=iterations, budget=budget)
    return reopen(
        stage.root / "words",
        more,
        confirmed_by="test",
        project=stage.project,
        hooks=stage.host(script).hooks,
    )


def test_after_its_iteration_limit_it_goes_on_with_a_critique(stage: Stage) -> None:
    stage.play(Script(produce=WORSE, refine=WORSE), {"loop.max_iterations": 1})
    with extend(stage, script := Script(produce=GOOD, refine=GOOD), "+2") as loop:
        events = list(history_of(loop))
    assert story(events)[:2] == ["run_extended", "critique_done"]
    assert events[0].payload["limits"]["max_iterations"] == 3
    assert events[0].payload["confirmation"]["by"] == "test"
    assert script.asked()[:2] == ["CRITIQUE", "REFINE"]
    assert stage.run_json()["status"] == "completed"


def test_a_restored_artifact_is_evaluated_again_at_no_cost(stage: Stage) -> None:
    stage.play(Script(produce=[BAD, WORSE], refine=WORSE), {"loop.max_iterations": 2})
    assert stage.artifact() == BAD
    with extend(stage, script := Script(produce=GOOD, refine=GOOD), "+1") as loop:
        events = list(history_of(loop))
    assert story(events)[:3] == ["run_extended", "evaluation_done", "critique_done"]
    assert events[1].iteration == 2
    assert script.requests[0].artifact == BAD


def test_after_stagnation_it_does_not_stop_at_once(stage: Stage) -> None:
    stage.play(Script(produce=WORSE, refine=WORSE), {"loop.max_iterations": 9})
    assert stage.run_json()["stop"]["reason"] == "stagnation"
    with extend(stage, Script(produce=WORSE, refine=WORSE)) as loop:
        events = list(history_of(loop))
    assert story(events).count("evaluation_done") == 3  # blocked three times, anew
    assert stage.run_json()["stop"]["reason"] == "stagnation"


PAID = Reply(text=PLAN, agent="paid", usd=1.0)


def test_after_its_budget_it_needs_a_larger_one(stage: Stage) -> None:
    stage.play(Script(plan=PAID, produce=WORSE), {"loop.budget": {"usd": 1}})
    with pytest.raises(UsageError, match=r"'words' is used up \(usd: 1 of 1 used\).*usd=\+N"):
        extend(stage, Script()).__enter__()
    with extend(stage, Script(produce=GOOD), budget=("usd=+2",)) as loop:
        assert loop.state.limits.budget == {"usd": 3}
        assert story(list(history_of(loop)))[-1] == "stopped"


def test_after_a_step_that_failed_twice_it_is_tried_again(stage: Stage) -> None:
    stage.play(Script(plan="no plan", produce=GOOD))
    assert stage.run_json()["stop"]["reason"] == "phase_error"
    with extend(stage, script := Script(produce=GOOD)) as loop:
        list(history_of(loop))
    assert script.asked()[0] == "PLAN"
    assert stage.run_json()["status"] == "completed"


def test_one_that_was_stopped_before_anything_was_made_begins_there(stage: Stage) -> None:
    with stage.begin(Script(produce=GOOD)) as loop:
        next(history_of(loop))
    run = find_run(stage.root, "words")
    stop_request.stop(run, "", now=False, wait=0, project=stage.project)
    with extend(stage, script := Script(produce=GOOD)) as loop:
        list(history_of(loop))
    assert script.asked()[0] == "PLAN"


def test_a_pointer_names_it_again_while_it_runs(stage: Stage) -> None:
    stage.play(Script(produce=WORSE, refine=WORSE), {"loop.max_iterations": 1})
    with extend(stage, Script(), "+1"):
        assert (stage.root / "current.json").exists()


def stopped(reason: str, iteration: int = 1, **limits: Any) -> History:
    history = History(limits=Limits(**limits))
    history.iteration = iteration
    history.round("a.x.must")
    kind = EventKind.FAILED if reason in ("tampered", "phase_error") else EventKind.STOPPED
    return history.add(kind, {"reason": reason, "passed": False, "detail": "why"})


REFUSED = {
    "completed": ("threshold_reached", ExtendRequest(max_iterations="+1"), "has completed"),
    "completed below": ("no_major_issues", ExtendRequest(max_iterations="+1"), "(no_major_issues)"),
    "tampered": ("tampered", ExtendRequest(max_iterations="+1"), "ended as tampered: why"),
    "limit": ("iteration_limit", ExtendRequest(), "all 1 iterations of 'courses' are used up"),
    "limit in all": (
        "iteration_limit",
        ExtendRequest(max_iterations="1"),
        "--max-iterations +2 allows two",
    ),
    "no number": (
        "stagnation",
        ExtendRequest(max_iterations="+x"),
        "--max-iterations '+x': expected",
    ),
    "none": ("stagnation", ExtendRequest(max_iterations="+0"), "--max-iterations '+0': expected"),
    "another script": ("stagnation", ExtendRequest(max_iterations="٣"), "expected +N"),
    "no such budget": ("stagnation", ExtendRequest(budget=("euro=+1",)), "euro"),
    "no such limit": ("stagnation", ExtendRequest(budget=("usd=+1",)), "no limit to add to"),
}


@pytest.mark.parametrize(("reason", "more", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_go_on_is_refused_with_the_reason(
    reason: str, more: ExtendRequest, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        extend_limits(stopped(reason, max_iterations=1).state, more)
    assert said in str(refused.value)


def test_a_run_that_goes_on_is_to_be_resumed() -> None:
    with pytest.raises(UsageError, match=r"'courses' has not ended.*loop resume courses"):
        extend_limits(History().round("a.x.must").state, ExtendRequest(max_iterations="+1"))


@pytest.mark.parametrize(("text", "total"), [("+2", 6), ("9", 9), (None, 4)])
def test_iterations_are_added_or_given_in_all(text: str | None, total: int) -> None:
    state = stopped("user_stop").state
    assert extend_limits(state, ExtendRequest(max_iterations=text)).max_iterations == total


def test_what_counts_towards_a_stop_begins_anew() -> None:
    history = stopped("stagnation")
    history.add(EventKind.RUN_EXTENDED, {"limits": Limits().to_json()})
    state = history.state
    assert (state.status, state.stop.reason) == (RunStatus.RUNNING, None)
    assert (state.recent, len(state.marks), state.stagnation_count) == ((), 1, 0)
    assert decide(state).step is Step.CRITIQUE
    assert decide(state).act is Action.STEP


def test_w9_what_is_written_is_what_the_history_gives(stage: Stage) -> None:
    stage.play(Script(produce=[BAD, WORSE], refine=WORSE), {"loop.max_iterations": 2})
    stop_request.give_feedback(find_run(stage.root, "words"), "be brief", wait=0)
    with extend(stage, Script(produce=WORSE, refine=WORSE), "+1") as loop:
        for _ in history_of(loop):
            written = stage.run_json()
            written.pop(CALLS, None)  # of the step that runs beside
            assert written == run_json(find_run(stage.root, "words").state)
    assert stage.run_json()["feedback"] == {"waiting": [], "heeded": []}
