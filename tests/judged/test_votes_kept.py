"""Votes are durable when they are given: an interruption costs what was under way, no more."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.judged import CachedJudge
from pytest_reflex.drivers.reflex.artifacts import stable_events
from pytest_reflex.drivers.reflex.evaluate_step import Listener
from pytest_reflex.model.events import Event
from pytest_reflex.model.judged import CastVote, Ruling
from pytest_reflex.reports.runs import event_line
from tests.judged.jurors import case, configured, judge
from tests.slim import slim_python

pytestmark = [pytest.mark.long, pytest.mark.variants]

TONE = """\
name: tone
rules:
  - {id: a.tone.polite, description: It is polite, severity: fail, check: {type: judged, votes: 5}}
"""
# The third answer is one that ends whoever asked for it.
ENDS = """\
import os, signal
if counted() == 3:
    while not os.path.exists("pid"):
        time.sleep(0.01)
    os.kill(int(open("pid").read()), signal.{signal})
    time.sleep(60)
print(json.dumps({{"answer": json.dumps(
    {{"case": mark, "reasons": ["I looked"], "verdict": "pass"}}), "usd": 0.25}}))
"""
TABLE = {"answer": '"json:answer"', "cost": '"json:usd"'}


def loop(folder: Path, *words: str) -> int:
    """Run a command of the loop, whose number stands in `pid`; return its exit status."""
    argv = [slim_python(), "-m", "pytest_reflex", "loop", *words, "--quiet"]
    with subprocess.Popen(argv, cwd=folder, stdout=-3, stderr=-3) as process:
        (folder / "pid.new").write_text(str(process.pid))
        (folder / "pid.new").rename(folder / "pid")
        return process.wait(120)


def history(folder: Path) -> list[dict[str, Any]]:
    path = folder / ".ai-factory/evolution/tone/history.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def votes_of(folder: Path) -> list[tuple[int, str]]:
    rows = [row["payload"] for row in history(folder) if row["event"] == "vote_cast"]
    return [(row["number"], row["verdict"]) for row in rows]


def begun(folder: Path, body: str, *more: str, top: str = "") -> int:
    (folder / "tone.yaml").write_text(TONE)
    (folder / "draft.md").write_text("A polite text.\n")
    configured(folder, body, **TABLE)
    settings = folder / "pytest-reflex.toml"
    settings.write_text(top + settings.read_text())
    new = ["new", "Be polite", "--criteria", "tone.yaml", "--input", "draft.md", "--alias", "tone"]
    return loop(folder, *new, "--judge", "jury", "--yes", *more)


@pytest.mark.parametrize("evaluator", ["core", "pytest"])
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_votes_before_an_interruption_are_paid_and_asked_once(
    tmp_path: Path, evaluator: str, name: str
) -> None:
    assert begun(tmp_path, ENDS.format(signal=name), "--evaluator", evaluator) != 0
    assert votes_of(tmp_path)[:2] == [(1, "pass"), (2, "pass")]
    assert loop(tmp_path, "resume", "tone") == 0
    run = json.loads((tmp_path / ".ai-factory/evolution/tone/run.json").read_text())
    # Two before, one that was under way, and the third again.
    assert len((tmp_path / "asked").read_text()) == 4
    assert (run["spend"]["calls"], run["spend"]["unknown_cost_calls"]) == (4, 1)
    assert "calls_under_way" not in run
    assert (run["spend"]["usd"], run["stop"]["passed"]) == (0.75, True)
    assert [cast for cast in votes_of(tmp_path) if cast[1] == "pass"] == [
        (number, "pass") for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("evaluator", ["core", "pytest"])
def test_a_budget_knows_the_votes_before_an_interruption(tmp_path: Path, evaluator: str) -> None:
    begun(tmp_path, ENDS.format(signal="SIGKILL"), "--evaluator", evaluator, "--budget", "calls=2")
    loop(tmp_path, "resume", "tone")
    run = json.loads((tmp_path / ".ai-factory/evolution/tone/run.json").read_text())
    assert (run["spend"]["calls"], len((tmp_path / "asked").read_text())) == (2, 2)
    assert run["stop"]["reason"] == "budget_exceeded"


def test_what_is_known_is_not_asked_and_another_text_is(tmp_path: Path) -> None:
    heard: list[CastVote] = []
    jury = CachedJudge(judge(tmp_path, "pass"), (), heard.append)
    vote = jury.vote(case())
    again: list[CastVote] = []
    known = CachedJudge(judge(tmp_path, "fail"), heard, again.append)
    assert (known.vote(case()), again) == (vote, [])
    assert known.vote(case()).ruling is Ruling.FAIL  # each is given once
    for other in (case("Another text.\n"), case(number=2), case(rubric="Be brief.")):
        assert known.vote(other).ruling is Ruling.FAIL
    assert [cast.number for cast in again] == [1, 1, 2, 1]


def test_a_void_vote_is_told_and_asked_again(tmp_path: Path) -> None:
    heard: list[CastVote] = []
    CachedJudge(judge(tmp_path, "crash"), (), heard.append).vote(case())
    assert [cast.vote.ruling for cast in heard] == [Ruling.VOID]
    assert CachedJudge(judge(tmp_path, "pass"), heard, print).vote(case()).ruling is Ruling.PASS


def test_a_vote_on_the_wire_comes_back_as_it_was(tmp_path: Path) -> None:
    heard: list[CastVote] = []
    CachedJudge(judge(tmp_path, "pass"), (), heard.append).vote(case())
    assert CastVote.from_json(json.loads(json.dumps(heard[0].to_json()))) == heard[0]


def test_what_kept_a_vote_from_being_durable_is_raised_at_the_end(tmp_path: Path) -> None:
    def full(done: object) -> None:
        raise OSError("the disk is full")

    listener = Listener(full)
    CachedJudge(judge(tmp_path, "pass"), (), listener).vote(case())
    with pytest.raises(OSError, match="the disk is full"):
        listener.end()


def test_equal_runs_have_votes_in_the_order_of_their_rules(tmp_path: Path) -> None:
    body = ENDS.format(signal="SIGKILL").replace("== 3", "== 0")
    begun(tmp_path, body, "--evaluator", "core")
    events = [Event.from_json(row) for row in history(tmp_path)]
    at = next(i for i, event in enumerate(events) if event.kind == "vote_cast")
    turned = [*events[:at], events[at + 1], events[at], *events[at + 2 :]]
    assert stable_events(turned, tmp_path) == stable_events(events, tmp_path)


def test_votes_are_told_to_listeners_and_shown_as_events(tmp_path: Path) -> None:
    listener = "def pytest_reflex_record(event):\n    print(event.seq, file=open('told', 'a'))\n"
    (tmp_path / "listener.py").write_text(listener)
    body = ENDS.format(signal="SIGKILL").replace("== 3", "== 0")
    begun(tmp_path, body, "--evaluator", "pytest", top='plugins = ["listener"]\n')
    rows = history(tmp_path)
    assert (tmp_path / "told").read_text().split() == [str(row["seq"]) for row in rows]
    vote = next(Event.from_json(row) for row in rows if row["event"] == "vote_cast")
    assert event_line(vote).endswith("a.tone.polite, vote 1: pass (jury)")
