"""What a real client said once is replayed here: the same loop in two folders, without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.agents.recording import read_recording
from tests.real.clients import bare
from tests.real.play import CRITERIA, TASK, play

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
ADVICE = "the prompts have changed: `make real-claude KEEP=FILE` records it anew"


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_protocol_is_replayed_twice_with_equal_event_logs(
    recording: Path, tmp_path: Path
) -> None:
    one, two = (
        play(tmp_path / name / "project", bare(tmp_path / name), "--replay", str(recording))
        for name in ("one", "two")
    )
    assert (one.status, two.status) == (0, 0), f"{ADVICE}\n{one.told}"
    assert one.log == two.log
    assert one.artifact == two.artifact
    assert one.run["stop"]["reason"] == "threshold_reached"


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_what_was_read_from_the_client_is_counted(recording: Path, tmp_path: Path) -> None:
    calls = read_recording(recording).calls
    played = play(tmp_path / "project", bare(tmp_path), "--replay", str(recording))
    spend = played.run["spend"]
    assert spend["calls"] == len(calls) > 5
    assert spend["tokens"] == sum(call.tokens or 0 for call in calls) > 1000
    assert spend["usd"] == pytest.approx(sum(call.usd or 0 for call in calls))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_kept_recording_is_of_no_machine(recording: Path) -> None:
    text = recording.read_text("utf-8")
    assert not [word for word in ("/tmp", "/home", "/root", "/Users", "sk-") if word in text]
    assert json.loads(text.splitlines()[0])["project"] == "/project"
    assert TASK in text
    assert CRITERIA.is_file()
