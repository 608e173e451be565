"""What may stand in artifact.md: a person's text is judged, the rest gives way or is refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.drivers.reflex.catalog import status_text
from pytest_reflex.drivers.reflex.history import digest
from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.stage import Script, Stage, critique_all, history_of

GOOD = "alpha beta gamma\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def left(stage: Stage) -> Path:
    """The artifact.md of a run that was left after its first critique."""
    with stage.begin(Script(produce="x\n")) as loop:
        for event in history_of(loop):
            if event.kind == "critique_done":
                break
    return stage.root / "words/artifact.md"


OTHERS: dict[str, Callable[[Path], object]] = {
    "a named pipe": os.mkfifo,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a file of another's": lambda path: path.symlink_to("/etc/passwd"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
def test_t05_what_is_no_file_gives_way_to_the_recorded_artifact(
    make: Callable[[Path], object], stage: Stage, left: Path
) -> None:
    left.unlink()
    make(left)
    with stage.resume(Script(produce=GOOD, refine=GOOD)) as loop:
        assert (left.is_symlink(), left.read_text()) == (False, "x\n")
        assert "hand" not in {event.payload.get("by") for event in history_of(loop)}


def test_t05_an_agent_that_puts_a_pipe_there_blocks_nothing(stage: Stage) -> None:
    def swap(request: StepRequest) -> str:
        os.unlink(request.artifact_path)
        os.mkfifo(request.artifact_path)
        return critique_all(request)

    stage.play(Script(produce=["x\n", GOOD], critique=swap, refine=GOOD))
    assert stage.run_json()["stop"]["passed"]


def test_a_folder_in_its_place_is_told(stage: Stage, left: Path) -> None:
    left.unlink()
    left.mkdir()
    with pytest.raises(StateError, match=r"artifact.md could not be written: .*move it away"):
        stage.resume(Script()).__enter__()


UNREADABLE = {
    "no utf-8": (b"\xff\xfe", "not UTF-8 text: byte 0xff at offset 0; it was changed by hand"),
    "nul": (b"alpha\0", "a NUL byte at offset 5; it was changed by hand"),
    "too large": (b"a\n" * 25_000_001, "too large: 50,000,002 bytes"),
}


@pytest.mark.parametrize(("data", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_b062_a_change_that_is_no_text_is_refused(
    data: bytes, message: str, stage: Stage, left: Path
) -> None:
    left.write_bytes(data)
    with pytest.raises(UsageError) as raised, stage.resume(Script()) as loop:
        list(history_of(loop))
    assert message in str(raised.value)
    assert "remove it to have the recorded artifact restored" in str(raised.value)
    left.unlink()
    with stage.resume(Script()):
        assert left.read_text() == "x\n"


def test_status_shows_no_score_for_an_artifact_changed_by_hand(stage: Stage, left: Path) -> None:
    assert "Score: 0.000 of 0.8" in status_text(find_run(stage.root, "words"))
    left.write_text("alpha\n")
    assert "Score: none (artifact stale)" in status_text(find_run(stage.root, "words"))


def test_t19_an_artifact_that_is_changed_for_ever_ends_the_run(stage: Stage) -> None:
    def meddle(request: StepRequest) -> str:
        with open(request.artifact_path, "a") as file:
            file.write("x\n")
        return critique_all(request)

    script = Script(produce="x\n", critique=meddle)
    stage.play(script, {"loop.blocker_stagnation": 0})
    stop = stage.run_json()["stop"]
    assert stop["reason"] == "stagnation"
    assert stop["detail"] == "artifact.md was changed from outside 5 times in one iteration"
    assert script.asked().count("CRITIQUE") == 5


GROWS = """\
name: grows
rules:
  - id: a.x.grows
    description: writes into what it judges
    severity: fail
    check: {type: executable, command: 'echo x >> "$PYTEST_REFLEX_ARTIFACT"'}
"""


@pytest.mark.long
def test_f31_a_check_that_always_changes_the_artifact_ends_the_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, GROWS)
    stage.play(Script(produce="x\n"))
    run = stage.run_json()
    assert "changed from outside" in run["stop"]["detail"]
    assert run["evaluation"]["rule_results"][0]["outcome"] == "error"


def lose_last_event(stage: Stage, kind: str) -> None:
    """Cut the last line of a history, which a crash of the machine has torn."""
    history = stage.root / "words/history.jsonl"
    *lines, last = history.read_bytes().splitlines(keepends=True)
    assert f'"event":"{kind}"'.encode() in last.replace(b" ", b"")
    history.write_bytes(b"".join(lines) + last[:40])


@pytest.mark.parametrize("text", ["# Words\n\nalpha, and more to come\n", GOOD])
def test_f08_an_artifact_whose_event_was_lost_is_taken_up(stage: Stage, text: str) -> None:
    with stage.begin(Script(produce=text)) as loop:
        for event in history_of(loop):
            if event.kind == "artifact_created":
                break
    lose_last_event(stage, "artifact_created")
    assert "artifact stale" in status_text(find_run(stage.root, "words"))
    script = Script(produce=GOOD, refine=GOOD)
    with stage.resume(script) as loop:
        taken, evaluated, *_ = [e for e in history_of(loop) if e.kind != "checks_prepared"]
    assert (taken.kind, taken.payload["by"]) == ("artifact_created", "hand")
    assert evaluated.payload["evaluation"]["artifact_sha256"] == digest(text)
    assert script.asked()[:1] in (["CRITIQUE"], [])
    assert stage.run_json()["stop"]["passed"]


FOUND = {
    "edited": b"alpha\nbeta\nby hand\n",
    "cut short": b"alpha\nbe",
    "of an earlier iteration": b"x\n",
    "with other line ends": b"alpha\r\nbeta\r\n",
}


def third_iteration(stage: Stage) -> Path:
    """Leave a run whose artifact went from x over alpha to alpha and beta, evaluated."""
    better = ["alpha\n", "alpha\nbeta\n"]
    with stage.begin(Script(produce=lambda r: r.artifact or "x\n", refine=[*better])) as loop:
        for event in history_of(loop):
            if event.kind == "critique_done" and event.iteration == 3:
                break
    return stage.root / "words/artifact.md"


@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND.keys())
def test_f08_what_a_person_left_there_is_judged_before_anything_else(
    found: bytes, stage: Stage
) -> None:
    third_iteration(stage).write_bytes(found)
    assert find_run(stage.root, None).state.artifact_status == "stale"
    with stage.resume(again := Script()) as loop:
        events = history_of(loop)
        assert next(events).payload["by"] == "hand"
        assert next(events).payload["evaluation"]["artifact_hash"] in loop.state.artifact_sha256
    assert again.asked() == []


def test_f08_a_missing_artifact_is_written_again(stage: Stage) -> None:
    third_iteration(stage).unlink()
    with stage.resume(Script()):
        assert stage.artifact() == "alpha\nbeta\n"


def test_f08_an_older_artifact_is_a_persons_change_and_is_judged(stage: Stage) -> None:
    script = Script(produce="x\n", refine="x\nalpha\n")
    with stage.begin(script) as loop:
        for event in history_of(loop):
            if event.kind == "iteration_advanced":
                break
    path = stage.root / "words/artifact.md"
    path.write_text("x\n")
    assert find_run(stage.root, None).state.changed["by"] == "hand"
    with stage.resume(Script(produce=GOOD, refine=GOOD)) as loop:
        first = next(iter(history_of(loop)))
        assert (first.kind, first.payload["by"]) == ("artifact_created", "hand")
