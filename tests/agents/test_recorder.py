"""A run is recorded: each call a durable line in a file of its own."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.agents.recorder import Recorder, secret_values
from pytest_reflex.agents.recording import read_recording, sha256
from pytest_reflex.errors import LockedError, StateError, UsageError
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import Reply
from tests.agents.making import answer, request, rule, tool

RUN = "task-20260101-000000"
LIMITED = Reply(
    text="x", agent="tool", error="limit", seconds=1.5, usd=0.25, tokens=7,
    details={"exit": 3, "limited": True, "argv": ["tool", "/home/me"], "stderr": "/home/me"},
)  # fmt: skip


def started(alias: str = "task", run_id: str = RUN) -> Event:
    return Event(
        kind=EventKind.RUN_STARTED, run_id=run_id, iteration=1, level=Level.A, step=Step.PLAN,
        seq=1, ts="2026-01-01T00:00:00Z", payload={"task_alias": alias},
    )  # fmt: skip


def record(folder: Path, *replies: Reply, template: str = "r.jsonl", **hidden: str) -> Path:
    with Recorder(template=template, project=folder, hidden=hidden) as recorder:
        recorder.pytest_reflex_record(started())
        for reply in replies:
            recorder.pytest_reflex_answered(request(Step.PLAN, rule("a.x.y")), reply)
        return recorder.path("task", RUN)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_the_first_line_says_whose_recording_it_is(tmp_path: Path) -> None:
    (first,) = lines(record(tmp_path))
    assert (first["recording"], first["run_id"], first["project"]) == (1, RUN, str(tmp_path))


def test_a_call_is_recorded_whole_but_for_the_machine(tmp_path: Path) -> None:
    _, call = lines(record(tmp_path, LIMITED))
    prompt = prompt_for(request(Step.PLAN, rule("a.x.y")))
    assert (call["prompt"], call["prompt_sha256"]) == (prompt, sha256(prompt))
    place = [call[name] for name in ("call", "step", "iteration", "phase", "try")]
    assert place == [1, "PLAN", 1, "B", 1]
    came = [call[name] for name in ("agent", "answer", "error", "seconds", "usd", "tokens")]
    assert came == ["tool", "x", "limit", 1.5, 0.25, 7]
    assert call["details"] == {"exit": 3, "limited": True}


def test_what_is_read_is_what_was_answered(tmp_path: Path) -> None:
    odd = Reply(text="\x00 \u2028 \ud800 é\r\n", agent="tool", usd=None, tokens=None)
    first, second = read_recording(record(tmp_path, LIMITED, odd)).calls
    assert first.reply() == Reply(
        text="x", agent="tool", error="limit", seconds=1.5, usd=0.25, tokens=7,
        details={"exit": 3, "limited": True},
    )  # fmt: skip
    assert second.reply() == odd
    assert str(second) == "call 2 (PLAN, iteration 1, phase B, try 2)"


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    assert stat.S_IMODE(record(tmp_path).stat().st_mode) == 0o600


def test_a_call_is_on_disk_before_it_is_used(tmp_path: Path) -> None:
    with Recorder(template="r.jsonl", project=tmp_path) as recorder:
        recorder.pytest_reflex_record(started())
        recorder.pytest_reflex_answered(request(Step.PLAN), LIMITED)
        assert len(lines(tmp_path / "r.jsonl")) == 2


@pytest.mark.parametrize("there", ["file", "link"])
def test_what_is_there_is_never_written_over(there: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("mine") if there == "file" else path.symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"r\.jsonl is there already"):
        Recorder.prepare("r.jsonl", tmp_path)
    with pytest.raises(UsageError, match=r"r\.jsonl is there already"):
        record(tmp_path)


def test_a_name_may_hold_the_run_and_new_folders(tmp_path: Path) -> None:
    assert Recorder.prepare("runs/{run_id}.jsonl", tmp_path)
    assert record(tmp_path, template="runs/{alias}/{run_id}.jsonl").is_file()
    assert (tmp_path / "runs/task" / f"{RUN}.jsonl").is_file()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(StateError, match="runs/x could not be made"):
        record(tmp_path, template="runs/x/r.jsonl")


def again(folder: Path, run_id: str = RUN) -> Recorder:
    recorder = Recorder(template="r.jsonl", project=folder)
    assert not recorder.go_on("task", run_id)
    return recorder


def test_a_resumed_run_goes_on_with_its_recording(tmp_path: Path) -> None:
    path = record(tmp_path, LIMITED)
    with again(tmp_path) as recorder:
        recorder.pytest_reflex_answered(request(Step.PLAN, rule("a.x.y")), LIMITED)
    assert [(line["call"], line["try"]) for line in lines(path)[1:]] == [(1, 1), (2, 2)]


def test_an_unfinished_line_is_written_on_after(tmp_path: Path) -> None:
    path = record(tmp_path, LIMITED)
    path.write_bytes(path.read_bytes() + b'{"call": 2, "st')
    assert len(read_recording(path).calls) == 1
    with again(tmp_path) as recorder:
        recorder.pytest_reflex_answered(request(Step.CRITIQUE), LIMITED)
    assert [call.step for call in read_recording(path).calls] == ["PLAN", "CRITIQUE"]


def test_a_recording_that_is_gone_is_told(tmp_path: Path) -> None:
    recorder = Recorder(template="r.jsonl", project=tmp_path)
    assert "r.jsonl is gone" in recorder.go_on("task", RUN)
    recorder.pytest_reflex_answered(request(Step.PLAN), LIMITED)
    assert not (tmp_path / "r.jsonl").exists()


def test_the_recording_of_another_run_is_not_written_to(tmp_path: Path) -> None:
    before = record(tmp_path, LIMITED).read_bytes()
    with pytest.raises(UsageError, match=f"recording of another run, {RUN}"):
        again(tmp_path, "task-20270101-000000")
    assert (tmp_path / "r.jsonl").read_bytes() == before


def test_two_processes_cannot_record_into_one_file(tmp_path: Path) -> None:
    record(tmp_path)
    with again(tmp_path), pytest.raises(LockedError):
        again(tmp_path)


def test_b120_secrets_of_tools_are_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-planted-0123456789")
    agent = tool(tmp_path, "import os; print(os.environ['MY_API_KEY'])", env=["MY_API_KEY"])
    with Recorder(template="r.jsonl", project=tmp_path) as recorder:
        recorder.watch([agent])
        recorder.pytest_reflex_record(started())
        asked = request(Step.PRODUCE, draft="the key is sk-planted-0123456789")
        recorder.pytest_reflex_answered(asked, answer(agent))
    text = (tmp_path / "r.jsonl").read_text()
    assert "sk-planted" not in text
    assert "the key is $MY_API_KEY" in text
    assert read_recording(tmp_path / "r.jsonl").header.hidden == ("MY_API_KEY",)
    assert secret_values([agent]) == {"sk-planted-0123456789": "$MY_API_KEY"}
