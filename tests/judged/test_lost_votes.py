"""Votes that a judge was asked for when a run was killed are paid: told once, whoever drives."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.judged import CachedJudge
from pytest_reflex.checks.registry import Registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.cli.main import main
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.drivers.common.measure import Attempt
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.drivers.iterate.state import is_driven
from pytest_reflex.drivers.reflex.lost_calls import (
    PendingCall,
    find_lost_calls,
    record_lost_calls,
)
from pytest_reflex.drivers.reflex.statefile import CALLS
from pytest_reflex.host import open_host
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.run import Spend
from pytest_reflex.model.targets import Target
from pytest_reflex.session.fork import evaluate_by_pytest
from tests.drivers.iterate.project import Project
from tests.drivers.reflex.histories import History
from tests.faults.driven import wait_until
from tests.judged.jurors import HEAD, case, judge
from tests.judged.test_votes_kept import ENDS, TONE, begun, history, loop
from tests.slim import slim_python

pytestmark = pytest.mark.variants

VOTES = """\
name: tone
rules:
  - {id: a.tone.polite, description: It is polite, severity: fail, check: {type: judged, votes: 3}}
  - {id: a.tone.brief, description: It is brief, severity: fail, check: {type: judged}}
"""
EVALUATORS: dict[str, Callable[[Target, Registry], object]] = {
    "core": evaluate,
    "fork": evaluate_by_pytest,
}


@pytest.fixture(params=EVALUATORS)
def evaluator(request: pytest.FixtureRequest) -> Callable[[Target, Registry], object]:
    return EVALUATORS[request.param]


def target(folder: Path, registry: Registry, **more: Any) -> Target:
    (folder / "tone.yaml").write_text(VOTES)
    (folder / "draft.md").write_text("A polite text.\n")
    criteria = load_criteria(str(folder / "tone.yaml"), registry=registry)
    return Target(
        criteria=criteria, level=Level.A, artifact=folder / "draft.md", root=folder, **more
    )


def registry_of(folder: Path, body: str) -> Registry:
    registry = open_host((), folder).registry
    registry.judge = judge(folder, body)
    return registry


@pytest.mark.parametrize(("body", "calls"), [("pass", 1), ("malformed", 2), ("crash", 1)])
def test_each_call_for_a_vote_is_told_before_the_vote_is(
    tmp_path: Path, evaluator: Callable[..., object], body: str, calls: int
) -> None:
    told: list[str | CastVote] = []
    registry = registry_of(tmp_path, body)
    evaluator(target(tmp_path, registry, asked=told.append, heard=told.append), registry)
    casts = [one for one in told if isinstance(one, CastVote)]
    assert casts
    for cast in casts:
        at = told.index(cast)
        assert [one for one in told if one == cast.question] == [cast.question] * calls
        assert cast.question in told[:at]
        assert (cast.vote.cost or {})["calls"] == calls


def test_a_vote_that_is_known_is_not_asked_for(tmp_path: Path) -> None:
    heard: list[CastVote] = []
    CachedJudge(judge(tmp_path, "pass"), (), heard.append).vote(case())
    asked: list[str] = []
    CachedJudge(judge(tmp_path, "pass"), heard, print, asked=asked.append).vote(case())
    assert asked == []


QUESTION = "0" * 64
OTHER = "1" * 64


def vote(question: str) -> dict[str, Any]:
    wire = {"rule_id": "a.x.one", "number": 1, "question": question, "verdict": "pass"}
    return {**wire, "agent": "jury", "reasons": ["x"], "cost": None}


def test_a_vote_tells_of_its_own_calls_alone() -> None:
    played = History().planned().produced().prepared()
    after = played.events[-1].seq
    calls = [PendingCall(Step.EVALUATE, after, one) for one in (QUESTION, QUESTION, OTHER)]
    run = {"run_id": played.events[0].run_id, CALLS: [call.to_json() for call in calls]}
    assert find_lost_calls(run, played.events) == calls
    played.add(EventKind.VOTE_CAST, vote(QUESTION), Step.EVALUATE)
    assert find_lost_calls(run, played.events) == calls[2:]
    ((done, text),) = record_lost_calls(calls[:2])
    assert text == "EVALUATE was under way when the run was killed; its 2 calls count as paid"
    spend = Spend().plus(done.payload["cost"])
    assert (spend.calls, spend.unknown, spend.unknown_tokens) == (2, 2, 2)


@pytest.mark.long
@pytest.mark.parametrize("evaluator", ["core", "pytest"])
def test_each_kill_in_a_vote_is_one_call_and_status_shows_it(
    tmp_path: Path, evaluator: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    body = ENDS.format(signal="SIGKILL").replace("== 3", "in (2, 3)")
    assert begun(tmp_path, body, "--evaluator", evaluator) == -signal.SIGKILL
    monkeypatch.chdir(tmp_path)

    def spend() -> tuple[int, int]:
        capsys.readouterr()
        wait_until(lambda: main(["loop", "status", "--json"]) == 0)
        found = json.loads(capsys.readouterr().out)["spend"]
        return found["calls"], found["unknown_cost_calls"]

    wait_until(lambda: spend() == (2, 1), 20)
    (tmp_path / "pid").unlink()
    assert loop(tmp_path, "resume", "tone") == -signal.SIGKILL
    wait_until(lambda: spend() == (3, 2), 20)
    assert loop(tmp_path, "resume", "tone") == 0
    assert spend() == (5, 2)
    lost = [row["payload"] for row in history(tmp_path) if row["payload"].get("interrupted")]
    assert [(one["step"], one["cost"]["calls"]) for one in lost] == [("EVALUATE", 1)] * 2


def test_a_session_that_takes_too_long_has_paid_for_its_votes(tmp_path: Path) -> None:
    asked: list[str] = []
    heard: list[CastVote] = []
    registry = registry_of(tmp_path, "hang")
    place = target(tmp_path, registry, asked=asked.append, heard=heard.append)
    evaluate_by_pytest(place, registry, seconds=2)
    assert len(asked) >= 1
    assert {cast.question for cast in heard} <= set(asked)


JUDGE_OF_GATE = """\
import os, signal
if counted() == {at}:
    os.kill(int(open("driver").read()), signal.SIGKILL)
    time.sleep(60)
print(json.dumps({{"answer": json.dumps(
    {{"case": mark, "reasons": ["I looked"], "verdict": "pass"}}), "usd": 0.25}}))
"""


@pytest.mark.long
@pytest.mark.parametrize(("at", "known"), [(1, 1), (2, 2)])
def test_a_vote_for_a_gate_of_iterate_counts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    at: int, known: int,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judge.py").write_text(HEAD + JUDGE_OF_GATE.format(at=at))
    (tmp_path / "tone.yaml").write_text(TONE)
    (tmp_path / "draft.md").write_text("A polite text.\n")
    command = json.dumps([slim_python(), "-I", "-S", "judge.py"])
    jury = f"[agents.jury]\ncommand = {command}\nanswer = 'json:answer'\ncost = 'json:usd'\n"
    gate = "[iterate.gates.tone]\ncriteria = 'tone.yaml'\nartifacts = ['draft.md']\n"
    project = Project(tmp_path, "ok", more=jury + gate)
    (tmp_path / "agent.sh").write_text("cat > /dev/null; echo $PPID > driver; echo did it\n")
    process = project.start("run", "build", "-n", "1", "--judge", "jury")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: not is_driven(Path(".rooda"), "build"))
    assert main(["iterate", "status", "build", "--json"]) == 0
    spend = json.loads(capsys.readouterr().out)["spend"]
    # The tool names no price; votes before the one that was under way have theirs.
    assert (spend["calls"], spend["unknown_cost_calls"]) == (1 + at, 2)
    assert (spend["usd"] or 0) == 0.25 * (known - 1)


@pytest.mark.parametrize("body", ["pass", "malformed", "crash"])
def test_the_calls_of_a_measure_by_criteria_cost_what_it_says(tmp_path: Path, body: str) -> None:
    saved: list[Any] = []
    registry = registry_of(tmp_path, body)
    target(tmp_path, registry)
    measure = CriteriaMeasure("tone.yaml", ["draft.md"], project=tmp_path, registry=registry)
    calls = CallsUnderWay(saved.append)
    found = measure(Attempt(calls=calls))
    taken = calls.take()
    assert found.cost is not None
    assert taken is not None
    assert {key: taken[key] for key in ("calls", "usd", "unknown")} == {
        key: found.cost[key] for key in ("calls", "usd", "unknown")
    }
    assert len(saved) >= 2 * found.cost["calls"] - 1
