"""A loop whose tool runs into a rate limit, and one whose tools do not say what they cost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.decide import Action, decide
from pytest_reflex.model.run import Limits, Spend, cost_of
from pytest_reflex.model.steps import Reply
from pytest_reflex.model.stop import StopReason
from pytest_reflex.reports.run_lines import not_held, spend_text, unknown_of
from tests.drivers.reflex.histories import History
from tests.drivers.reflex.stage import PLAN, Script, Stage

pytestmark = pytest.mark.long

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
CONFIGURATION = """\
agent = "tool"
[loop]
evaluator = "core"
may_change = ["calls.txt", "refused.txt"]
[agents.tool]
command = [PYTHON, "tool.py"]
answer = "json:result"
failure = "json:is_error"
limit = {"json:status" = 429}
tries = 2
wait = 0.01
"""
TOOL = """\
import json, os, pathlib, sys
sys.stdin.read()
step = os.environ["PYTEST_REFLEX_STEP"]
calls = pathlib.Path("calls.txt")
calls.write_text(calls.read_text() + step + "\\n" if calls.exists() else step + "\\n")
plan = json.dumps({"plan": ["a", "b", "c"]})
refused = pathlib.Path("refused.txt")
if step in refused.read_text().split():
    left = refused.read_text().split()
    left.remove(step)
    refused.write_text(" ".join(left))
    print(json.dumps({"is_error": True, "result": "slow down", "status": 429}))
else:
    print(json.dumps({"result": {"PLAN": plan, "PRODUCE": "alpha"}[step]}))
"""
NEW = ["loop", "new", "say", "--criteria", "words.yaml", "--alias", "say-it", "--yes"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    python = json.dumps(sys.executable)
    (tmp_path / "pytest-reflex.toml").write_text(CONFIGURATION.replace("PYTHON", python))
    (tmp_path / "tool.py").write_text(TOOL)
    return tmp_path


def spend(project: Path) -> dict[str, float | None]:
    run = project / ".ai-factory/evolution/say-it/run.json"
    found: dict[str, float | None] = json.loads(run.read_text())["spend"]
    return found


def test_a_limit_is_waited_for_and_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "refused.txt").write_text("PRODUCE")
    assert main(NEW) == 0
    assert "slow down; waiting 0.01 s, then try 2 of 2" in " ".join(capsys.readouterr().err.split())
    assert (project / "calls.txt").read_text().split() == ["PLAN", "PRODUCE", "PRODUCE"]
    assert spend(project)["calls"] == 3


def test_a_limit_that_stays_leaves_a_run_to_resume(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "refused.txt").write_text("PRODUCE PRODUCE")
    assert main(NEW) == 9
    told = capsys.readouterr().err
    assert "PRODUCE: the tool ran into a limit: slow down (2 tries" in told
    assert "(go on later: pytest-reflex loop resume say-it)" in told
    assert "nothing usable" not in told
    assert main(["loop", "resume"]) == 0
    assert (project / "calls.txt").read_text().split().count("PLAN") == 1
    assert spend(project)["calls"] == 4


def test_a_limit_is_no_try_that_failed(project: Path) -> None:
    for _ in range(3):
        (project / "refused.txt").write_text("PLAN PLAN")
        command = ["loop", "resume"] if (project / ".ai-factory").exists() else NEW
        assert main(command) == 9
    (project / "refused.txt").write_text("")
    assert main(["loop", "resume"]) == 0


def test_no_wait_is_longer_than_the_budget_in_seconds(project: Path) -> None:
    (project / "refused.txt").write_text("PLAN PLAN")
    settings = project / "pytest-reflex.toml"
    settings.write_text(settings.read_text().replace("wait = 0.01", "wait = 600"))
    assert main([*NEW, "--budget", "seconds=500"]) == 9
    assert (project / "calls.txt").read_text().split() == ["PLAN"]


def test_a_limit_in_a_step_by_itself_is_told_and_not_asked_again(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "refused.txt").write_text("REFINE REFINE")
    (project / "a.md").write_text("beta\n")
    settings = project / "pytest-reflex.toml"
    settings.write_text(settings.read_text() + "[loop.agents]\ncritique = 'offline'\n")
    assert main(["refine", "a.md", "--criteria", "words.yaml"]) == 9
    told = capsys.readouterr().err
    assert "waiting 0.01 s" in told
    assert "REFINE: the tool ran into a limit: slow down (2 tries) (nothing was written" in told
    assert (project / "calls.txt").read_text().split() == ["REFINE", "REFINE"]


@contextmanager
def waiting(project: Path) -> Iterator[subprocess.Popen[str]]:
    """A loop in a process of its own that has begun to wait for ten minutes."""
    (project / "refused.txt").write_text("PLAN PLAN")
    settings = project / "pytest-reflex.toml"
    settings.write_text(settings.read_text().replace("wait = 0.01", "wait = 600"))
    command = [sys.executable, "-m", "pytest_reflex", *NEW]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert any("waiting 600 s" in line for line in process.stderr)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_a_wait_at_once(project: Path) -> None:
    with waiting(project) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 130
    (project / "refused.txt").write_text("")
    assert main(["loop", "resume"]) == 0


def test_stop_now_ends_a_wait(project: Path) -> None:
    with waiting(project) as process:
        assert main(["loop", "stop", "--now"]) == 0
        process.communicate(timeout=60)
        assert process.returncode == 2


def test_a_budget_that_cannot_be_held_is_told_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "refused.txt").write_text("")
    assert main([*NEW, "--budget", "usd=5", "--budget", "calls=9"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    sentence = (
        "cost unknown: the budget in usd cannot be held; calls, max_iterations, wall_time can"
    )
    assert told.count(sentence) == 1
    assert spend(project)["usd"] is None
    assert spend(project)["tokens"] is None


REFUSED = {"seconds": 2.0, "waited": 30.0, "usd": None, "tokens": None}


def test_refused_tries_are_calls_and_their_price_stays_unknown() -> None:
    reply = Reply(
        text="", agent="t", seconds=1.0, usd=0.5, tokens=7, details={"refused": [REFUSED, REFUSED]}
    )
    cost = cost_of(reply)
    unknown = {"usd": 2, "tokens": 2}
    assert cost == {"calls": 3, "seconds": 65.0, "usd": 0.5, "tokens": 7, "unknown": unknown}
    expected = Spend(calls=3, seconds=65.0, usd=0.5, tokens=7, unknown=2, unknown_tokens=2)
    assert Spend().plus(cost) == expected


SPENDS = {
    "free": (Spend(), "no paid calls"),
    "known": (Spend(calls=1, usd=0.5, tokens=7), "1 call, 0.0 s, $0.5000, 7 tokens"),
    "unknown": (Spend(calls=2, unknown=2, unknown_tokens=2), "2 calls, 0.0 s, unknown cost"),
    "in part": (
        Spend(calls=3, usd=0.5, tokens=7, unknown=1, unknown_tokens=2),
        "3 calls, 0.0 s, $0.5000 (unknown for 1 call), 7 tokens (unknown for 2 calls)",
    ),
}


@pytest.mark.parametrize(("spent", "text"), SPENDS.values(), ids=SPENDS.keys())
def test_a_spend_says_what_is_unknown(spent: Spend, text: str) -> None:
    assert spend_text(spent) == text


def test_only_limits_that_are_set_can_be_lost() -> None:
    spent = Spend(calls=1, unknown=1, unknown_tokens=1)
    assert not_held({"calls": 3}, unknown_of(spent), ["max_iterations"]) == ""
    assert not_held({"usd": 3}, unknown_of(Spend(calls=1)), ["max_iterations"]) == ""
    both = not_held({"usd": 3, "tokens": 5}, unknown_of(spent), ["max_iterations"])
    assert both == (
        "cost and tokens unknown: the budget in usd and tokens cannot be held; max_iterations can"
    )


PROSE = """\
name: prose
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: "It says alpha"}
"""
CHECKS = json.dumps({"checks": [{"rule_id": "a.x.alpha", "type": "content", "search": "alpha"}]})


def paid(text: str) -> Reply:
    return Reply(text=text, agent="script", usd=0.25, tokens=10)


@pytest.mark.parametrize(
    ("calls", "asked"), [(2, ["PLAN", "PRODUCE"]), (3, ["PLAN", "PREPARE", "PRODUCE"])]
)
def test_produce_beside_prepare_keeps_to_the_calls_that_are_left(
    project: Path, calls: int, asked: list[str]
) -> None:
    script = Script(plan=paid(PLAN), produce=paid("alpha"), prepare=paid(CHECKS))
    stage = Stage(project, PROSE)
    stage.play(script, {"loop.budget": {"calls": calls}})
    assert sorted(script.asked()) == sorted(asked)
    spent = stage.run_json()["spend"]
    assert (spent["calls"], spent["usd"], spent["tokens"]) == (calls, calls * 0.25, calls * 10)


def test_t19_a_sitting_has_an_end_whatever_the_budget() -> None:
    state = History(limits=Limits(wall_time=100)).planned().state
    assert decide(state, elapsed=99.9).act is Action.STEP
    stop = decide(state, elapsed=100.0)
    assert stop.reason is StopReason.BUDGET_EXCEEDED
    assert stop.detail == "wall time: 100 s of 100 s since start or resume"


def test_t19_without_a_cap_that_is_said(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    assert decide(History(limits=Limits(wall_time=0)).state, elapsed=1e9).act is Action.STEP
    (project / "pytest-reflex.toml").write_text("[loop]\nwall_time = 0\n")
    main(NEW[:-1])
    assert "Wall time: NO CAP\n" in capsys.readouterr().err
