"""run.json and current.json follow from the history; what contradicts it is told or fixed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.drivers.reflex.setup import resumable
from pytest_reflex.errors import StateError, UsageError
from tests.drivers.reflex.stage import Script, Stage, history_of

GOOD = "alpha beta gamma\n"


@pytest.fixture
def left(tmp_path: Path) -> Stage:
    """A run that was left after its first critique."""
    stage = Stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        for event in history_of(loop):
            if event.kind == "critique_done":
                break
    return stage


def lose_last_event(stage: Stage) -> None:
    path = stage.root / "words/history.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def test_w5_a_history_that_lost_events_is_told_and_nothing_is_paid_again(left: Stage) -> None:
    lose_last_event(left)
    with pytest.raises(StateError, match=r"ends with event 5, but run.json knows of event 6"):
        left.resume(again := Script()).__enter__()
    assert again.asked() == []


def test_w5_without_its_run_json_it_goes_on_from_what_is_left(left: Stage) -> None:
    lose_last_event(left)
    (left.root / "words/run.json").unlink()
    with left.resume(again := Script(produce=GOOD, refine=GOOD)) as loop:
        list(history_of(loop))
    assert again.asked()[0] == "CRITIQUE"


def test_b109_a_torn_last_event_is_no_lost_one(left: Stage) -> None:
    path = left.root / "words/history.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    for _ in range(2):
        with left.resume(Script(produce=GOOD)) as loop:
            assert loop.state.last_seq == 5


def test_w6_a_run_killed_after_its_last_event_leaves_no_pointer(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with stage.begin(Script(produce=GOOD)) as loop:
        for event in history_of(loop):
            names = ("current.json", "words/run.json", "words/artifact.md")
            if event.kind != "stopped":
                before = {
                    name: (stage.root / name).read_bytes()
                    for name in names
                    if (stage.root / name).exists()
                }
    for name, data in before.items():  # as they were when the last event was written
        (stage.root / name).write_bytes(data)
    with pytest.raises(UsageError, match="'words' has ended"):
        resumable(stage.root, "words")
    assert stage.run_json()["status"] == "completed"
    assert not (stage.root / "current.json").exists()


def test_f15_who_comes_when_another_process_has_ended_the_run_is_told(left: Stage) -> None:
    late = resumable(left.root, "words").folder
    with left.resume(Script(produce=GOOD, refine=GOOD)) as loop:
        list(history_of(loop))
    with pytest.raises(UsageError, match="'words' has ended"):
        left.resume(Script(), late.name).__enter__()


def test_w6_a_pointer_to_a_run_that_is_gone_is_replaced(left: Stage) -> None:
    current = left.root / "current.json"
    current.write_text(json.dumps({"task_alias": "gone", "active_run_id": "gone-1"}))
    with left.resume(Script()):
        assert json.loads(current.read_text())["task_alias"] == "words"


def test_a_pointer_to_another_run_that_goes_on_stays(left: Stage) -> None:
    with left.begin(Script(produce="x\n"), alias="other") as loop:
        next(history_of(loop))
    with left.resume(Script()):
        pointer = json.loads((left.root / "current.json").read_text())
    assert pointer["task_alias"] == "other"


POINTERS: dict[str, Callable[[Path], object]] = {
    "a named pipe": os.mkfifo,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "nested too deep": lambda path: path.write_text("[" * 200_000),
    "names of the wrong type": lambda path: path.write_text('{"task_alias": ["words"]}'),
    "a name outside": lambda path: path.write_text('{"task_alias": "../../etc"}'),
    "half a surrogate pair": lambda path: path.write_text('{"task_alias": "\\ud800"}'),
}


@pytest.mark.parametrize("make", POINTERS.values(), ids=POINTERS.keys())
def test_a_pointer_that_cannot_be_used_counts_as_none(
    make: Callable[[Path], object], left: Stage
) -> None:
    (left.root / "current.json").unlink()
    make(left.root / "current.json")
    assert find_run(left.root, None).alias == "words"
    with left.resume(Script(produce=GOOD, refine=GOOD)) as loop:
        list(history_of(loop))
    assert left.run_json()["status"] == "completed"


def test_a_reason_that_is_no_text_is_kept_escaped(left: Stage) -> None:
    current = left.root / "current.json"
    pointer = {**json.loads(current.read_text()), "stop_requested": "\ud800"}
    current.write_text(json.dumps(pointer))
    with left.resume(Script()) as loop:
        list(history_of(loop))
    assert left.run_json()["stop"]["detail"] == "\ud800"


def test_f06_a_state_of_a_newer_version_is_refused_and_stays(left: Stage) -> None:
    path = left.root / "words/run.json"
    newer = json.dumps({**left.run_json(), "schema_version": 7})
    path.write_text(newer)
    with pytest.raises(StateError, match=r"newer version wrote .*run.json \(schema 7, this one"):
        left.resume(again := Script()).__enter__()
    assert again.asked() == []
    assert path.read_text() == newer


def test_f01_a_run_killed_before_its_first_event_is_no_loop(left: Stage) -> None:
    (left.root / "begun").mkdir()
    (left.root / "begun/history.jsonl").touch()
    (left.root / "current.json").unlink()
    assert find_run(left.root, None).alias == "words"
    with pytest.raises(UsageError, match="loop 'begun' never began"):
        find_run(left.root, "begun")


def test_f15_a_run_that_another_process_removed_is_told(left: Stage) -> None:
    folder = resumable(left.root, "words").folder
    shutil.rmtree(folder)
    with pytest.raises(UsageError, match="loop 'words' was removed at this moment"):
        left.resume(Script()).__enter__()


def test_f01_what_a_killed_writer_left_is_removed_when_the_run_is_taken_up(left: Stage) -> None:
    leftover = left.root / "words/.run.json.0123456789ab.tmp"
    leftover.write_text("{")
    with left.resume(Script()):
        assert not leftover.exists()


def test_f02_an_artifact_one_event_behind_is_brought_to_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with stage.begin(Script(produce="x\n", refine=GOOD)) as loop:
        for event in history_of(loop):
            if event.kind == "refinement_done":
                break
    (stage.root / "words/artifact.md").write_text("x\n")  # as it was when the event was written
    with stage.resume(Script(produce=GOOD)) as loop:
        assert stage.artifact() == GOOD
        assert "artifact_created" not in [event.kind for event in history_of(loop) if event.seq < 9]
