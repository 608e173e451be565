"""A run is stopped, or told something, by a process that does not drive it."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.reflex import stop_request
from pytest_reflex.drivers.reflex.run_status import RunOverview, find_run
from pytest_reflex.drivers.reflex.statefile import read_pointer
from pytest_reflex.drivers.reflex.survey import find_running
from pytest_reflex.errors import UsageError
from tests.drivers.reflex.stage import Script, Stage, history_of, story
from tests.drivers.reflex.test_kill import LONG, Project, runs, wait_for

pytestmark = pytest.mark.variants


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def pointer(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((stage.root / "current.json").read_text("utf-8"))
    return found


def run_of(stage: Stage, alias: str = "words") -> RunOverview:
    return find_run(stage.root, alias)


def leave(stage: Stage, alias: str = "words", events: int = 6) -> None:
    """Begin a run and leave it after some events."""
    with stage.begin(Script(produce="alpha\n", refine="x\n"), alias=alias) as loop:
        for event in history_of(loop):
            if event.seq == events:
                break


def stop(stage: Stage, alias: str = "words", *, now: bool = False) -> stop_request.StopResponse:
    run = run_of(stage, alias)
    return stop_request.stop(run, "enough", now=now, wait=0, project=stage.project)


def test_s11_a_run_that_nobody_drives_is_stopped_at_once(stage: Stage) -> None:
    leave(stage, events=7)  # refined to something worse, and not yet evaluated
    answer = stop(stage)
    assert answer.done
    assert stage.run_json()["stop"]["detail"] == "enough"
    assert stage.run_json()["stop"]["restored_from"] == {"iteration": 1, "phase": "A"}
    assert stage.artifact() == "alpha\n"
    assert not (stage.root / "current.json").exists()


def stop_judging(stage: Stage, **lines: str) -> stop_request.StopResponse:
    hooks = stage.host(Script(**lines)).hooks
    run = run_of(stage)
    return stop_request.stop(
        run, "enough", now=False, wait=0, project=stage.project, hooks=lambda: hooks
    )


def test_what_was_refined_and_not_judged_is_judged_before_the_stop(stage: Stage) -> None:
    with stage.begin(Script(produce="alpha\n", refine="alpha beta\n")) as loop:
        next(event for event in history_of(loop) if event.kind == "refinement_done")
    stop_judging(stage)
    run = stage.run_json()
    assert (stage.artifact(), run["last_score"]) == ("alpha beta\n", 1.0)
    assert "restored_from" not in run["stop"]
    assert not run["stop"]["passed"]  # phase B was not judged


def test_what_is_judged_before_the_stop_and_passes_has_passed(stage: Stage) -> None:
    with stage.begin(Script(produce="alpha beta\n", refine="alpha beta gamma\n")) as loop:
        next(event for event in history_of(loop) if event.kind == "refinement_done")
    stop_judging(stage)
    run = stage.run_json()
    assert (run["phase"], run["last_score"]) == ("B", 1.0)
    assert run["stop"]["passed"]


@pytest.mark.parametrize(
    ("last", "again"), [("evaluation_done", [False]), ("refinement_done", [False, False])]
)
def test_a_pass_that_was_found_and_holds_is_told_once_and_so_is_what_is_new(
    stage: Stage, last: str, again: list[bool]
) -> None:
    produced = "alpha beta\n" if last == "evaluation_done" else "alpha\n"
    with stage.begin(Script(produce=produced, refine="alpha beta\n")) as loop:
        next(event for event in history_of(loop) if event.kind == last)
    assert stop_judging(stage).done
    lines = (stage.root / "words/history.jsonl").read_text("utf-8").splitlines()
    events = [event for event in map(json.loads, lines) if event["event"] == "evaluation_done"]
    assert [bool(event["payload"].get("again")) for event in events] == again


def test_what_could_not_be_judged_before_the_stop_is_told(stage: Stage) -> None:
    leave(stage, events=7)

    def no_hooks() -> None:
        raise UsageError("the judge is away")

    stop_request.stop(
        run_of(stage), "enough", now=False, wait=0, project=stage.project, hooks=no_hooks
    )
    detail = stage.run_json()["stop"]["detail"]
    assert detail == "enough (the last artifact was not evaluated: the judge is away)"


def test_where_the_rules_were_changed_nothing_is_judged_before_the_stop(stage: Stage) -> None:
    leave(stage, events=7)
    stage.criteria.write_text("rules: []\n")
    stop_judging(stage)
    detail = stage.run_json()["stop"]["detail"]
    assert detail.startswith("enough (the last artifact was not evaluated: criteria.yaml")


def test_a_change_by_hand_is_kept_before_the_best_is_restored(stage: Stage) -> None:
    leave(stage)
    (stage.root / "words/artifact.md").write_text("by hand\n")
    stop(stage)
    history = (stage.root / "words/history.jsonl").read_text("utf-8")
    assert '"+","by hand\\n"' in history
    assert stage.artifact() == "alpha\n"


def test_a_driven_run_stops_before_its_next_step(stage: Stage) -> None:
    with stage.begin(script := Script(produce="x\n")) as loop:
        events = history_of(loop)
        next(events), next(events)
        assert not stop(stage).done
        assert pointer(stage)["stop_requested"] == "enough"
        rest = story(list(events))
    assert rest[-1:] == ["stopped"]
    assert script.asked() == ["PLAN"]
    assert stage.run_json()["stop"]["reason"] == "user_stop"
    assert not (stage.root / "current.json").exists()


def test_a_run_that_current_json_does_not_name_is_stopped_too(stage: Stage) -> None:
    with stage.begin(Script(produce="x\n"), alias="older") as loop:
        events = history_of(loop)
        next(events)
        leave(stage, alias="newer", events=1)
        stop(stage, "older")
        older = loop.state.run_id
        assert pointer(stage)["task_alias"] == "newer"
        assert "stop_requested" not in pointer(stage)
        assert pointer(stage)["requests"] == {older: {"stop_requested": "enough"}}
        assert story(list(events)) == ["stopped"]
    assert "requests" not in pointer(stage)


def test_a_request_survives_what_the_driver_writes_into_the_pointer(stage: Stage) -> None:
    with stage.begin(Script(produce="x\n"), alias="words") as loop:
        next(events := history_of(loop))
        stop_request.give_feedback(run_of(stage), "be brief", wait=0)
        leave(stage, alias="newer", events=1)  # takes the pointer over
        asked = read_pointer(stage.root).requests_of(loop.state.run_id)
        assert list(asked.feedback.values()) == ["be brief"]
        events.close()


def test_a_request_that_another_program_wrote_over_is_made_again(stage: Stage) -> None:
    with stage.begin(Script(produce="x\n")) as loop:
        next(events := history_of(loop))
        stop(stage)
        named = {k: v for k, v in pointer(stage).items() if k != "stop_requested"}
        (stage.root / "current.json").write_text(json.dumps(named))
        stop(stage)
        assert story(list(events)) == ["stopped"]


def test_a_request_that_was_seen_counts_when_it_is_taken_back(stage: Stage) -> None:
    with stage.begin(Script(produce=["x\n"])) as loop:
        next(events := history_of(loop))
        stop(stage, now=True)
        assert next(events).kind == "stopped"
        assert loop.cancel.is_set()


def test_the_pointer_goes_to_a_run_that_goes_on(stage: Stage) -> None:
    leave(stage, alias="other", events=1)
    stage.play(Script(produce="alpha beta gamma\n"))
    assert pointer(stage)["task_alias"] == "other"
    assert find_running(stage.root).alias == "other"


def test_one_that_is_driven_is_named_before_one_that_is_interrupted(stage: Stage) -> None:
    with stage.begin(Script(produce="x\n"), alias="driven") as loop:
        next(history_of(loop))
        leave(stage, alias="left", events=1)
        stage.play(Script(produce="alpha beta gamma\n"))
        assert pointer(stage)["task_alias"] == "driven"


def test_where_none_runs_stop_has_nothing_to_do(stage: Stage) -> None:
    with pytest.raises(UsageError, match=r"no loop is running.*loop list"):
        find_running(stage.root)


@pytest.mark.long
def test_f15_of_many_that_ask_at_once_each_is_heard(stage: Stage) -> None:
    with stage.begin(Script(produce="x\n")) as loop, ThreadPoolExecutor(8) as pool:
        events = history_of(loop)
        next(events)
        run = run_of(stage)
        said = [f"number {n}" for n in range(16)]
        asking = [pool.submit(stop_request.give_feedback, run, text, wait=0) for text in said]
        while not all(answer.done() for answer in asking):
            loop.files.adopt_feedback(loop.files.requests().feedback)
        loop.files.adopt_feedback(loop.files.requests().feedback)
    given = [e.payload["text"] for e in loop.files.latest_events() if e.kind == "feedback_given"]
    assert sorted(given) == sorted(said)


ODD: dict[str, Any] = {
    "no object": [],
    "feedback is not a list": {"feedback": "x"},
    "rows of another shape": {"feedback": [1, {"id": 2, "text": "x"}, {"id": "a"}]},
    "now is not a boolean": {"stop_now": "yes"},
}


@pytest.mark.parametrize("wire", ODD.values(), ids=ODD.keys())
def test_requests_of_another_shape_count_as_none(wire: object) -> None:
    assert Requests.from_json(wire) == Requests()


@pytest.mark.long
@pytest.mark.parametrize("step", ["PRODUCE", "CRITIQUE"])
def test_stop_now_ends_the_agent_and_is_no_failure(step: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    (project.folder / f"hang-{step}").touch()
    process = project.start(project.new())
    wait_for(lambda: (project.folder / "hanging").exists() and project.hanging() > 0)
    done = project.run(project.command("stop", "too slow", "--now", "--json"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stop"]["detail"] == "too slow"
    assert process.wait(LONG) == 2
    wait_for(lambda: not runs(project.hanging()))
    assert project.state()["stop"]["reason"] == "user_stop"
    assert project.state()["spend"]["calls"] == len(project.calls())


@pytest.mark.long
def test_a_driver_that_is_killed_leaves_the_stop_to_who_asked(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    (project.folder / "hang-PLAN").touch()
    process = project.start(project.new())
    wait_for(lambda: (project.folder / "hanging").exists() and project.hanging() > 0)
    asking = project.start(project.command("stop", "--wait", "60"))
    current = project.folder / ".ai-factory/evolution/current.json"
    wait_for(lambda: "stop_requested" in current.read_text())
    process.kill()
    process.wait()
    assert asking.wait(LONG) == 0
    assert project.state()["stop"]["reason"] == "user_stop"


def test_f15_feedback_taken_up_just_before_the_end_counts_as_heard(stage: Stage) -> None:
    script = Script(produce="alpha beta gamma\n")
    with ThreadPoolExecutor(1) as pool:
        with stage.begin(script) as loop:
            events = history_of(loop)
            next(events)
            told = pool.submit(stop_request.give_feedback, run_of(stage), "louder", wait=30)
            wait_for(lambda: read_pointer(stage.root).requests_of(loop.state.run_id) != Requests())
            kinds = story(list(events))
        assert told.result().done
    assert kinds.count("feedback_given") == 1
    assert kinds[-1] == "stopped"


def test_what_could_not_be_judged_before_a_stop_says_why(stage: Stage) -> None:
    leave(stage, events=7)

    class Broken(Script):
        def pytest_reflex_evaluate(self, target: object) -> None:
            raise RuntimeError("no disk")

    hooks = stage.host(Broken()).hooks
    answer = stop_request.stop(
        run_of(stage), "enough", now=False, wait=0, project=stage.project, hooks=lambda: hooks
    )
    why = "hook pytest_reflex_evaluate raised RuntimeError: no disk"
    assert answer.state.stop.detail == f"enough (the last artifact was not evaluated: {why})"
    assert answer.state.errors["EVALUATE"] == (why,)


def test_what_was_judged_before_a_stop_adds_nothing_to_its_reason(stage: Stage) -> None:
    leave(stage, events=7)
    assert stop_judging(stage).state.stop.detail == "enough"


def test_feedback_that_stands_in_the_pointer_of_a_dead_driver_is_recorded_once(
    stage: Stage,
) -> None:
    leave(stage)
    run = run_of(stage)
    with stage.resume(Script()):  # its driver is alive, and does not look
        handed = stop_request.give_feedback(run, "louder", wait=0)
        stop_request.give_feedback(run, "softer", wait=0)
    assert handed.done is False
    told = stop_request.give_feedback(run_of(stage), "at last", wait=0)
    assert (told.done, told.state.feedback) == (True, ("louder", "softer", "at last"))


def test_feedback_is_not_heard_because_other_feedback_was(stage: Stage) -> None:
    leave(stage)
    assert stop_request.give_feedback(run_of(stage), "louder", wait=0).done
    run = run_of(stage)
    with stage.resume(Script()):  # its driver is alive, and does not look
        assert stop_request.give_feedback(run, "softer", wait=0).done is False


def test_feedback_that_the_driver_took_up_before_it_ended_counts_as_heard(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = stage.begin(Script(produce="alpha beta gamma\n"))
    events = history_of(driven.__enter__())
    next(events)
    run, pause = run_of(stage), time.sleep
    told: list[str] = []

    def end_meanwhile(seconds: float) -> None:
        """Let the driver go on and end while it is waited for."""
        if read_pointer(stage.root).requests_of(run.state.run_id) == Requests():
            pause(seconds)
            return
        monkeypatch.undo()
        told.extend(story(list(events)))
        driven.__exit__(None, None, None)

    monkeypatch.setattr(time, "sleep", end_meanwhile)
    answer = stop_request.give_feedback(run, "louder", wait=30)
    assert answer.done
    assert (told.count("feedback_given"), told[-1]) == (1, "stopped")


def test_nothing_is_asked_of_a_run_that_has_ended(stage: Stage) -> None:
    with stage.begin(Script(produce="alpha beta gamma\n")) as loop:
        list(history_of(loop))
        assert stage.run_json("words")["status"] == "completed"
        assert stop(stage).done
        assert not (stage.root / "current.json").exists()


@pytest.mark.parametrize("other", [{}, {"run_id": "another"}])
def test_whether_a_run_has_ended_is_not_taken_from_the_run_json_of_another(
    stage: Stage, other: dict[str, str]
) -> None:
    leave(stage, alias="other", events=1)
    with stage.begin(Script(produce="alpha beta gamma\n")) as loop:
        list(history_of(loop))
        written = stage.run_json("other") | other
        (stage.root / "words/run.json").write_text(json.dumps(written))
        assert stop(stage).done
        assert loop.state.run_id not in json.dumps(pointer(stage))
