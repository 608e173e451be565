"""What a real client said once is replayed here: the same loop in two folders, without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.agents.recording import read_recording
from tests.real.clients import bare
from tests.real.play import CRITERIA, TASK, Played, play

pytestmark = pytest.mark.long

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
ADVICE = "the prompts have changed: raise VERSION, or record anew by `make real-claude KEEP=FILE`"


@pytest.fixture(scope="module", params=RECORDINGS, ids=lambda path: path.stem)
def recording(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture(scope="module")
def replays(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Played]:
    """The same recording, played in two folders in which no client is on the path."""
    homes = (tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two"))
    one, two = (play(h / "project", bare(h), "--replay", str(recording)) for h in homes)
    assert (one.status, two.status) == (0, 0), f"{ADVICE}\n{one.told}"
    return one, two


def test_a_recorded_protocol_is_replayed_twice_with_equal_event_logs(
    replays: tuple[Played, Played],
) -> None:
    one, two = replays
    assert one.log == two.log
    assert one.artifact == two.artifact
    assert one.run["stop"]["reason"] == "threshold_reached"


def test_what_was_read_from_the_client_is_counted(
    recording: Path, replays: tuple[Played, Played]
) -> None:
    calls, spend = read_recording(recording).calls, replays[0].run["spend"]
    assert spend["calls"] == len(calls) > 5
    assert spend["tokens"] == sum(call.tokens or 0 for call in calls) > 1000
    assert spend["usd"] == pytest.approx(sum(call.usd or 0 for call in calls))


def test_a_kept_recording_is_of_no_machine(recording: Path) -> None:
    text = recording.read_text("utf-8")
    assert not [word for word in ("/tmp", "/home", "/root", "/Users", "sk-") if word in text]
    assert json.loads(text.splitlines()[0])["project"] == "/project"
    assert TASK in text
    assert CRITERIA.is_file()
